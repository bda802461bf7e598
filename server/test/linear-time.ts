// Claims about the time that work takes, as a ratio between two runs of it within one test.

import assert from "node:assert/strict";

/** How much longer the input is in the second run. Work that grows with its square takes eight times as long per character. */
const growth = 8;
const slackFactor = 3;
const roundsMin = 5;
const roundsMax = 20;
/** So far below its limit a ratio is clear at once. */
const clearFactor = 2;
/** A ratio counts if so many more runs of the first don't make it quicker: its code may only just be compiled. */
const confirmations = 6;

/**
 * Work takes time by the length of its input alone: a character of an input of this size takes as long as one of an
 * input an eighth of it. `inputOf` is called with both sizes.
 */
export function assertLinear<Input extends string | readonly string[]>(
  size: number,
  inputOf: (size: number) => Input,
  work: (input: Input) => unknown,
  what = "",
): void {
  const [short, long] = [inputOf(size / growth), inputOf(size)];
  const times = Math.round(lengthOf(long) / lengthOf(short));
  assert.ok(times >= growth / 2, `the inputs must differ: ${what}`);
  // As many characters in both, so that other programs on the machine slow both down or neither.
  const manyShort = () => {
    for (let each = 0; each < times; each += 1) work(short);
  };
  assertRatio(slackFactor, manyShort, () => work(long), what);
}

/** The second takes at most so many times as long as the first. */
export function assertRatio(
  max: number,
  first: () => unknown,
  second: () => unknown,
  what = "",
): void {
  const best = { first: Infinity, second: Infinity };
  // Both once without a clock: what is not yet compiled is slow whatever its length, and would hide slow work.
  second();
  first();
  // In turns, and the best of each: any run may be interrupted.
  for (let round = 1; round <= roundsMax; round += 1) {
    best.second = Math.min(best.second, durationMs(second));
    best.first = Math.min(best.first, durationMs(first));
    const enough = round < roundsMin ? max / clearFactor : max;
    for (let times = 0; best.second <= enough * best.first; times += 1) {
      if (times === confirmations) return;
      best.first = Math.min(best.first, durationMs(first));
    }
  }
  const ratio = (best.second / best.first).toFixed(1);
  assert.fail(`took ${ratio} times as long, ${max} at most are right: ${what}`);
}

function durationMs(work: () => unknown): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

function lengthOf(input: string | readonly string[]): number {
  return typeof input === "string" ? input.length : input.join("").length;
}
