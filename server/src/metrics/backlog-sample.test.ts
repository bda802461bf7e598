import assert from "node:assert/strict";
import { test } from "node:test";
import type { Backlog } from "../storage/deliveries/backlog.ts";
import { BacklogSample } from "./backlog-sample.ts";

const nothing: Backlog = {
  pending: 0,
  overdueSeconds: 0,
  dueSeconds: { webhook: 0, mail: 0, callback: 0, message: 0 },
  logLagSeconds: 0,
  clockAheadSeconds: 0,
};

test("however many scrape, the database is asked once in ten seconds", async () => {
  let [asked, nowMs] = [0, 0];
  const sample = new BacklogSample(
    async () => {
      asked += 1;
      return { ...nothing, pending: asked };
    },
    () => nowMs,
  );
  const pendingOf = async () => (await sample.show()).backlog?.pending;
  assert.deepEqual(await Promise.all([pendingOf(), pendingOf(), pendingOf()]), [1, 1, 1]);
  nowMs = 10_000;
  assert.equal(await pendingOf(), 1);
  nowMs = 10_001;
  assert.equal(await pendingOf(), 2);
});

test("while the database is away the last figures are shown for a minute, and then none", async () => {
  let [isAway, nowMs] = [true, 0];
  const read = async () => (isAway ? Promise.reject(new Error("away")) : nothing);
  const sample = new BacklogSample(read, () => nowMs);
  assert.deepEqual(await sample.show(), { backlog: null, isAnswered: false });
  isAway = false;
  assert.deepEqual(await sample.show(), { backlog: nothing, isAnswered: true });
  isAway = true;
  nowMs = 60_000;
  assert.deepEqual(await sample.show(), { backlog: nothing, isAnswered: false });
  nowMs = 60_001;
  assert.deepEqual(await sample.show(), { backlog: null, isAnswered: false });
});

test("a scrape doesn't wait for a database that never answers, and asks it once at a time", async () => {
  let asked = 0;
  const sample = new BacklogSample(() => {
    asked += 1;
    return new Promise(() => {});
  });
  assert.deepEqual(await sample.show(), { backlog: null, isAnswered: false });
  assert.deepEqual(await sample.show(), { backlog: null, isAnswered: false });
  assert.equal(asked, 1);
});
