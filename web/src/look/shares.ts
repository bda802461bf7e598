// Parts of a whole in percent. They are read together, so they must add up to 100, and an existing part must not read
// as nothing.

/** Whole percent by the largest remainder: the rest after rounding down goes to the parts that lost most. */
export function percentagesOf(values: readonly number[]): number[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  if (total === 0) return values.map(() => 0);
  const exact = values.map((value) => (value / total) * 100);
  const whole = exact.map(Math.floor);
  const left = 100 - whole.reduce((sum, value) => sum + value, 0);
  const lostMost = exact
    .map((value, at) => ({ at, lost: value - Math.floor(value) }))
    .sort((a, b) => b.lost - a.lost || a.at - b.at)
    .slice(0, left)
    .map(({ at }) => at);
  return whole.map((value, at) => (lostMost.includes(at) ? value + 1 : value));
}

/** A share in words: "<1%" is not nothing, and ">99%" is not all. */
export function describeShare(percent: number, value: number, total: number): string {
  if (percent === 0 && value > 0) return "<1%";
  if (percent === 100 && value < total) return ">99%";
  return `${percent}%`;
}

/** The numbers stand in English sentences, so they are grouped the English way. */
export function describeCount(count: number): string {
  return String(count).replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}
