// Axes that begin at zero and have round marks, few enough to be read.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Units in which people count time: a mark at 16.7 minutes would be round for nobody. */
const durationSteps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28].map((count) => count * day),
];

/** The most marks above zero. */
const stepsMax = 4;

/** Marks from zero to the first one that no value exceeds. Counts are whole, so their marks are. */
export function countTicks(max: number): number[] {
  const rough = Math.max(1, max / stepsMax);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  return ticksBy(Math.max(1, step ?? rough), max);
}

export function durationTicks(max: number): number[] {
  const step = durationSteps.find((each) => each * stepsMax >= max);
  return ticksBy(step ?? Math.ceil(max / stepsMax / day) * day, max);
}

function ticksBy(step: number, max: number): number[] {
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}

/**
 * Chooses which names along an axis are written, from their places and widths, so that none touches the next. The last
 * one always is: it is now.
 */
export function labelledAt(middles: readonly number[], widths: readonly number[]): number[] {
  const places: number[] = [];
  let free = Number.POSITIVE_INFINITY;
  // Evenly from the end, by the step that the widest name needs.
  const pitch = ((middles.at(-1) ?? 0) - (middles[0] ?? 0)) / Math.max(1, middles.length - 1);
  const step = pitch <= 0 ? 1 : Math.max(1, Math.ceil(Math.max(0, ...widths) / pitch));
  for (let at = middles.length - 1; at >= 0; ) {
    const [middle, half] = [middles[at] ?? 0, (widths[at] ?? 0) / 2];
    const fits = middle + half <= free;
    if (fits) {
      places.unshift(at);
      free = middle - half;
    }
    at -= fits ? step : 1;
  }
  return places;
}

/**
 * Chooses which bars have their number above them, from the numbers' places and widths: every filled bar if no number
 * touches the next, and otherwise only the highest, the last one of several.
 */
export function numberedAt(
  totals: readonly number[],
  middles: readonly number[],
  widths: readonly number[],
): number[] {
  const filled = totals.flatMap((total, at) => (total > 0 ? [at] : []));
  const hasRoom = filled.every((at, index) => {
    const next = filled[index + 1];
    if (next === undefined) return true;
    const apart = (middles[next] ?? 0) - (middles[at] ?? 0);
    return apart >= ((widths[at] ?? 0) + (widths[next] ?? 0)) / 2;
  });
  if (hasRoom) return filled;
  const highest = Math.max(0, ...totals);
  return filled.filter((at) => totals[at] === highest).slice(-1);
}
