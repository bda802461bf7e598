import assert from "node:assert/strict";
import { test } from "node:test";
import { SlackPace } from "./slack-pace.ts";

test("calls of one kind keep their distance, and those of another don't wait for them", () => {
  let now = 0;
  const pace = new SlackPace(() => now);
  const rule = { everyMs: 1_000, burst: 1 };
  const take = (kind: string) => pace.take(kind, rule);
  assert.deepEqual(take("a"), { kind: "turn", waitMs: 0 });
  assert.deepEqual(take("a"), { kind: "turn", waitMs: 1_000 });
  assert.deepEqual(take("b"), { kind: "turn", waitMs: 0 });
  assert.deepEqual(take("a"), { kind: "turn", waitMs: 2_000 });
  // Its turn is left to others, and it asks again once that comes near.
  assert.deepEqual(take("a"), { kind: "later", ms: 1_000 });
  assert.deepEqual(take("a"), { kind: "later", ms: 1_000 });
  now = 1_000;
  assert.deepEqual(take("a"), { kind: "turn", waitMs: 2_000 });
  now = 60_000;
  assert.deepEqual(take("a"), { kind: "turn", waitMs: 0 });
});

test("a burst of updates is within 50 a minute", () => {
  let now = 0;
  const pace = new SlackPace(() => now);
  const sentAt: number[] = [];
  while (now < 180_000) {
    const turn = pace.take("update", { everyMs: 1_500, burst: 10 });
    if (turn.kind === "turn") sentAt.push(now + turn.waitMs);
    else now += turn.ms;
  }
  const within = (from: number) => sentAt.filter((at) => at >= from && at < from + 60_000).length;
  assert.ok(Math.max(...sentAt.map(within)) <= 50, String(Math.max(...sentAt.map(within))));
  assert.ok(sentAt.length > 120);
});

test("what Slack asks to wait for is waited for", () => {
  let now = 0;
  const pace = new SlackPace(() => now);
  const rule = { everyMs: 1_000, burst: 10 };
  pace.take("a", rule);
  pace.pause("a", rule, 30_000);
  const turn = pace.take("a", rule);
  assert.deepEqual(turn, { kind: "later", ms: 28_000 });
  now = 28_000;
  assert.deepEqual(pace.take("a", rule), { kind: "turn", waitMs: 2_000 });
});
