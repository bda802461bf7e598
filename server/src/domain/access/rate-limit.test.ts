import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decideRate, type RateLimit } from "./rate-limit.ts";

function play(limit: RateLimit, timesMs: number[]): boolean[] {
  let fullAtMs = 0;
  return timesMs.map((nowMs) => {
    const decision = decideRate(limit, fullAtMs, nowMs);
    fullAtMs = decision.fullAtMs;
    return decision.allowed;
  });
}

const count = (allowed: boolean[]) => allowed.filter(Boolean).length;

test("a burst allows exactly as many calls at once as it says", () => {
  assert.equal(count(play({ perSecond: 100, burst: 200 }, Array(500).fill(1000))), 200);
  assert.equal(count(play({ perSecond: 3, burst: 6 }, Array(50).fill(0))), 6);
});

test("after a burst calls come back at the rate, one by one", () => {
  const limit = { perSecond: 10, burst: 5 };
  const times = [...Array(5).fill(0), 50, 100, 101, 200, 1000, 1000, 1000, 1000, 1000, 1000];
  assert.deepEqual(play(limit, times), [
    true,
    true,
    true,
    true,
    true,
    false,
    true,
    false,
    true,
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
});

test("a refusal says when to come back, and coming back then is allowed", () => {
  const limit = { perSecond: 7, burst: 3 };
  let fullAtMs = 0;
  for (let n = 0; n < 3; n += 1) fullAtMs = decideRate(limit, fullAtMs, 500).fullAtMs;
  const refused = decideRate(limit, fullAtMs, 500);
  assert.equal(refused.allowed, false);
  assert.equal(refused.remaining, 0);
  assert.ok(decideRate(limit, refused.fullAtMs, 500 + refused.retryAfterMs).allowed);
});

test("over any stretch of time no more calls pass than the burst and the rate allow", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 300 }),
      (perSecond, gaps) => {
        let nowMs = 0;
        const times = gaps.map((gap) => {
          nowMs += gap;
          return nowMs;
        });
        const allowed = count(play({ perSecond, burst: 2 * perSecond }, times));
        const spanSeconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
        assert.ok(allowed <= 2 * perSecond + spanSeconds * perSecond + 1);
      },
    ),
  );
});
