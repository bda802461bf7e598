// How long things took, as histograms: days are counted once and then added up, and the percentiles of days cannot be
// added.

const longestMs = 8 * 86_400_000;

/**
 * Where each bucket of times begins, in whole milliseconds: one for each of the first, then each 5 % wider than the one
 * before, up to 8 days, which is longer than anything may be pending. Kept figures name buckets by their place in this
 * list, so a change of it must empty daily_figures in the same release.
 */
export const bucketStarts: readonly number[] = makeBucketStarts();

function makeBucketStarts(): number[] {
  const starts: number[] = [];
  for (let start = 1; start < longestMs; start = Math.max(start + 1, Math.floor(start * 1.05))) {
    starts.push(start);
  }
  return starts;
}

/** How many times fell into each bucket, as sparse text: the gap to the bucket before, and the count unless it is 1. */
export type Times = string & { readonly times: unique symbol };

export const noTimes = "" as Times;

/** From pairs of bucket and count, in any order; a bucket may come more than once. */
export function toTimes(pairs: Iterable<readonly [bucket: number, count: number]>): Times {
  const counts = new Array<number>(bucketStarts.length).fill(0);
  for (const [bucket, count] of pairs) counts[bucket] = (counts[bucket] ?? 0) + count;
  return encode(counts);
}

export function addTimes(left: Times, right: Times): Times {
  if (left === noTimes) return right;
  return right === noTimes ? left : encode(sumOf([left, right]));
}

function encode(counts: readonly number[]): Times {
  const parts: string[] = [];
  let previous = -1;
  counts.forEach((count, bucket) => {
    if (count === 0) return;
    parts.push(count === 1 ? `${bucket - previous}` : `${bucket - previous}x${count}`);
    previous = bucket;
  });
  return parts.join(" ") as Times;
}

/** Reads letter by letter, without parts in between: three months of figures hold a megabyte of these. */
function sumOf(all: readonly Times[]): number[] {
  const counts = new Array<number>(bucketStarts.length).fill(0);
  for (const text of all) {
    if (text !== noTimes) addTo(counts, text);
  }
  return counts;
}

const letterX = "x".charCodeAt(0);
const digitZero = "0".charCodeAt(0);

function addTo(counts: number[], text: Times): void {
  let bucket = -1;
  let number = 0;
  let isCount = false;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = at === text.length ? 0 : text.charCodeAt(at);
    if (letter >= digitZero && letter <= digitZero + 9) {
      number = number * 10 + letter - digitZero;
      continue;
    }
    if (!isCount) bucket += number;
    if (letter !== letterX) counts[bucket] = (counts[bucket] ?? 0) + (isCount ? number : 1);
    isCount = letter === letterX;
    number = 0;
  }
}

/**
 * The time that this share of decisions did not exceed (nearest rank), told as the middle of its bucket: it is off by
 * at most half a bucket, 2.5 %, and exact below 40 ms. Null when there is none.
 */
export function percentiles(all: readonly Times[], shares: readonly number[]): (number | null)[] {
  const counts = sumOf(all);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return shares.map((share) => {
    if (total === 0) return null;
    const rank = Math.max(1, Math.ceil(share * total));
    let seen = 0;
    return middleOf(
      counts.findIndex((count) => {
        seen += count;
        return seen >= rank;
      }),
    );
  });
}

/** How many times there are. */
export function countTimes(times: Times): number {
  return sumOf([times]).reduce((sum, count) => sum + count, 0);
}

function middleOf(bucket: number): number {
  const start = bucketStarts[bucket] as number;
  const next = bucketStarts[bucket + 1] ?? longestMs;
  return Math.round((start + next - 1) / 2);
}
