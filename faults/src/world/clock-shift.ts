// Loaded into a process before its program: its clock is off by CLOCK_SHIFT_MS. The steady clock, by which timers and
// durations go, is right, as on a machine whose time was set wrongly.

const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const RightDate = Date;

class ShiftedDate extends RightDate {
  constructor(...parts: []) {
    if (parts.length === 0) super(ShiftedDate.now());
    else super(...parts);
  }

  static override now(): number {
    return RightDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
