import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { figureAgentsMax } from "../limits.ts";
import {
  type AlikeApprovals,
  addFigures,
  askedOf,
  countFigures,
  daysOfTwoMonths,
  lastDays,
  noFigures,
  sharesOf,
  topAgents,
} from "./figures.ts";
import { addTimes, bucketStarts, noTimes, percentiles, type Times, toTimes } from "./times.ts";

const eightDaysMs = 8 * 86_400_000;

/** As PostgreSQL finds it in the list. */
function bucketOf(ms: number): number {
  return Math.max(0, bucketStarts.filter((start) => start <= ms).length - 1);
}

function timesOf(all: readonly number[]): Times {
  return toTimes(all.map((ms) => [bucketOf(ms), 1]));
}

/** Nearest rank. */
function exactly(all: readonly number[], share: number): number {
  const sorted = [...all].sort((left, right) => left - right);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] as number;
}

/** Milliseconds and days alike, not mostly days. */
const someMs = fc
  .double({ min: 0, max: Math.log(eightDaysMs), noNaN: true })
  .map((exponent) => Math.floor(Math.exp(exponent)));
const pairs = fc.array(
  fc.tuple(fc.nat(bucketStarts.length - 1), fc.integer({ min: 1, max: 1_000_000 })),
);

test("no bucket is wider than 5 %, and together they reach from 1 ms to 8 days", () => {
  assert.equal(bucketStarts[0], 1);
  bucketStarts.forEach((start, index) => {
    const next = bucketStarts[index + 1] ?? eightDaysMs;
    assert.ok(next === start + 1 || (next > start && next <= start * 1.05), `${start} to ${next}`);
  });
});

test("percentiles of a histogram are within 2.5 % of the exact ones", () => {
  fc.assert(
    fc.property(
      fc.array(someMs, { minLength: 1, maxLength: 300 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (all, share) => {
        const [told] = percentiles([timesOf(all)], [share]);
        const exact = exactly(all, share);
        // Half a millisecond more, because the answer is a whole number.
        assert.ok(
          Math.abs((told as number) - exact) <= exact * 0.025 + 0.5,
          `${told}, not ${exact}`,
        );
      },
    ),
  );
});

test("times of several days have the percentiles that they have together", () => {
  fc.assert(
    fc.property(fc.array(fc.array(someMs)), (days) => {
      const together = timesOf(days.flat());
      assert.deepEqual(
        percentiles(days.map(timesOf), [0.5, 0.9]),
        percentiles([together], [0.5, 0.9]),
      );
      assert.equal(days.map(timesOf).reduce(addTimes, noTimes), together);
    }),
  );
});

test("times lose no count on the way through their text, in whatever order they came", () => {
  fc.assert(
    fc.property(pairs, pairs, (left, right) => {
      const sum = addTimes(toTimes(left), toTimes(right));
      assert.equal(sum, toTimes([...right, ...left]));
      assert.equal(addTimes(sum, noTimes), sum);
    }),
  );
});

test("where nobody decided there is no median", () => {
  assert.deepEqual(percentiles([], [0.5, 0.9]), [null, null]);
  assert.equal(sharesOf([noFigures.total]).medianMs, null);
  assert.equal(sharesOf([]).p90Ms, null);
});

test("a decision within a millisecond counts as one of a millisecond", () => {
  assert.deepEqual(percentiles([timesOf([0, 0, 0])], [0.5]), [1]);
});

function group(part: Partial<AlikeApprovals>): AlikeApprovals {
  return { agent: "bot", status: "PENDING", isEdited: false, bucket: null, count: 1, ...part };
}

test("shares add up to what was asked, and edited ones are among the approved", () => {
  const { total } = countFigures([
    group({ count: 2 }),
    group({ status: "APPROVED", bucket: bucketOf(10), count: 3 }),
    group({ status: "APPROVED", isEdited: true, bucket: bucketOf(20), count: 4 }),
    group({ status: "REJECTED", bucket: bucketOf(30), count: 5 }),
    group({ status: "EXPIRED", count: 6 }),
    group({ status: "CANCELLED", count: 7, agent: null }),
  ]);
  assert.deepEqual(sharesOf([total]), {
    asked: 27,
    pending: 2,
    approved: 7,
    edited: 4,
    rejected: 5,
    expired: 6,
    cancelled: 7,
    medianMs: 20,
    p90Ms: 30,
  });
  assert.equal(sharesOf([total, total]).asked, 54);
});

test("agents beyond the most asking are in the total and are no agents", () => {
  const many = Array.from({ length: figureAgentsMax + 50 }, (_, index) =>
    group({ agent: `bot ${index}`, status: "EXPIRED", count: index + 1 }),
  );
  const sum = addFigures(
    countFigures(many.slice(0, figureAgentsMax)),
    countFigures([...many.slice(figureAgentsMax), group({ agent: null, count: 9 })]),
  );
  assert.equal(sum.agents.size, figureAgentsMax);
  assert.ok(!sum.agents.has("bot 0"));
  assert.ok(sum.agents.has(`bot ${figureAgentsMax + 49}`));
  const asked = many.reduce((count, each) => count + each.count, 9);
  assert.equal(askedOf(sum.total), asked);
});

test("the agents that asked most over all days come first, equals by name", () => {
  const first = countFigures([group({ agent: "b", count: 3 }), group({ agent: "c", count: 5 })]);
  const second = countFigures([group({ agent: "b", count: 4 }), group({ agent: "a", count: 5 })]);
  const top = topAgents([first, second], 2);
  assert.deepEqual(
    top.map(({ agent, tallies }) => [agent, sharesOf(tallies).asked]),
    [
      ["b", 7],
      ["a", 5],
    ],
  );
});

test("the last days end with today in UTC, across months and leap days", () => {
  assert.deepEqual(lastDays(new Date("2028-03-01T00:00:00.000Z"), 3), [
    "2028-02-28",
    "2028-02-29",
    "2028-03-01",
  ]);
});

test("two months of days begin with the first of the last month and end today", () => {
  const days = daysOfTwoMonths(new Date("2027-01-02T23:59:59.999Z"));
  assert.equal(days[0], "2026-12-01");
  assert.equal(days.at(-1), "2027-01-02");
  assert.equal(days.length, 33);
});
