// Chance that repeats by its seed: a run is made of nothing but its seed and what the machine adds.

export type Chance = {
  /** From 0 to just below 1. */
  next(): number;
  whole(below: number): number;
  oneOf<Value>(values: readonly Value[]): Value;
  isTrue(share: number): boolean;
};

/** Mulberry32: small, and good enough to choose faults. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (below: number) => Math.floor(next() * below);
  return {
    next,
    whole,
    oneOf: (values) => {
      const value = values[whole(values.length)];
      if (value === undefined) throw new Error("chosen from nothing");
      return value;
    },
    isTrue: (share) => next() < share,
  };
}
