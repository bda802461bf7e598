import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { crashDelaysSeconds, crashesInRowMax, mailRetryDelaysMs } from "../limits.ts";
import { mailOutcomes, webhookOutcomes } from "../shown/attempt.ts";
import { isCrashedTooOften, nextStep } from "./delivery.ts";

const delaysMs = [30_000, 300_000];
const failed = { outcome: "http_status", retryAfterSeconds: null, delaysMs, chance: 0.5 } as const;

test("2xx and a kept mail deliver, whatever the number of the attempt", () => {
  for (const outcome of ["delivered", "kept"] as const) {
    assert.deepEqual(nextStep({ ...failed, outcome, numberInRound: 3 }), { state: "delivered" });
  }
});

test("three attempts: at once, about 30 seconds later, about 5 minutes later", () => {
  assert.deepEqual(nextStep({ ...failed, numberInRound: 1 }), { state: "due", delayMs: 30_000 });
  assert.deepEqual(nextStep({ ...failed, numberInRound: 2 }), { state: "due", delayMs: 300_000 });
  assert.deepEqual(nextStep({ ...failed, numberInRound: 3 }), { state: "failed" });
  assert.deepEqual(nextStep({ ...failed, numberInRound: 4 }), { state: "failed" });
});

test("a wait differs from the set one by 20 % at most", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (chance) => {
      const next = nextStep({ ...failed, numberInRound: 1, chance });
      assert.ok(next.state === "due" && next.delayMs >= 24_000 && next.delayMs <= 36_000);
    }),
  );
});

test("Retry-After is honoured between a second and an hour, but gives no further attempt", () => {
  for (const [asked, waited] of [
    [0, 1],
    [-5, 1],
    [120, 120],
    [90_000, 3_600],
  ] as const) {
    const next = nextStep({ ...failed, numberInRound: 1, retryAfterSeconds: asked });
    assert.deepEqual(next, { state: "due", delayMs: waited * 1_000 });
  }
  const last = nextStep({ ...failed, numberInRound: 3, retryAfterSeconds: 5 });
  assert.deepEqual(last, { state: "failed" });
});

test("a refusal for good ends a mail at once; everything else is tried for an hour", () => {
  const mail = { retryAfterSeconds: null, delaysMs: mailRetryDelaysMs, chance: 0.5 };
  assert.deepEqual(nextStep({ ...mail, outcome: "refused", numberInRound: 1 }), {
    state: "failed",
  });
  for (const outcome of mailOutcomes) {
    if (["delivered", "kept", "refused", "given_up"].includes(outcome)) continue;
    const { state } = nextStep({ ...mail, outcome, numberInRound: mailRetryDelaysMs.length });
    assert.equal(state, "due", outcome);
    assert.deepEqual(nextStep({ ...mail, outcome, numberInRound: mailRetryDelaysMs.length + 1 }), {
      state: "failed",
    });
  }
  const hourMs = mailRetryDelaysMs.reduce((sum, each) => sum + each, 0);
  assert.ok(hourMs >= 3_600_000 && hourMs < 3_700_000);
});

test("crashes give a delivery up after days, with waits that never shrink, and then for good", () => {
  assert.equal(isCrashedTooOften(crashesInRowMax - 1), false);
  assert.equal(isCrashedTooOften(crashesInRowMax), true);
  assert.deepEqual(nextStep({ ...failed, outcome: "given_up", numberInRound: 1 }), {
    state: "failed",
  });
  assert.deepEqual(
    crashDelaysSeconds,
    crashDelaysSeconds.toSorted((one, other) => one - other),
  );
  const longest = crashDelaysSeconds.at(-1) ?? 0;
  const days = (crashesInRowMax * longest) / 86_400;
  assert.ok(days > 5 && days < 6, `${days} days`);
});

test("every outcome of a webhook leads somewhere", () => {
  for (const outcome of webhookOutcomes) {
    const { state } = nextStep({ ...failed, outcome, numberInRound: 3 });
    assert.equal(state, outcome === "delivered" ? "delivered" : "failed", outcome);
  }
});
