// A clock that tests can move forward. It runs with the real one, or stands still if it was given a time.

export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  advance(ms: number): void;
};

export function makeClock(start?: Date): Clock {
  const fixed = start?.getTime();
  if (fixed !== undefined && Number.isNaN(fixed)) throw new TypeError("now is not a date");
  let movedMs = 0;
  return {
    now: () => Math.floor((fixed ?? Date.now()) + movedMs),
    advance: (ms) => {
      if (!(ms >= 0)) throw new RangeError("the clock moves forward only");
      movedMs += ms;
    },
  };
}
