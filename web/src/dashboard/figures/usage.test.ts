import assert from "node:assert/strict";
import { test } from "node:test";
import type { Usage } from "../../../../server/src/wire/dashboard-contract.ts";
import { usageBar, usageSentence } from "./usage.ts";

const hobby: Usage = {
  plan: "hobby",
  month: "2026-11",
  used: 120,
  included: 500,
  hasOverage: false,
  cap: null,
  days: [],
};

test("the number of requests left is said with the day it is renewed", () => {
  assert.equal(usageSentence(hobby), "380 left until 1 December (UTC).");
  assert.deepEqual(usageBar(hobby), {
    of: 500,
    parts: [{ name: "Used", value: 120, tone: "neutral" }],
  });
});

test("a plan without overage stops at what is included", () => {
  assert.match(usageSentence({ ...hobby, used: 500 }), /refused until 1 December/);
});

test("overage is a part of its own, and the cap is what stops it", () => {
  const team = { ...hobby, hasOverage: true, cap: 1_000, used: 700 };
  assert.deepEqual(
    usageBar(team).parts.map(({ value }) => value),
    [500, 200],
  );
  assert.equal(usageBar(team).of, 1_000);
  assert.match(usageSentence(team), /count as overage\. 300 more/);
  assert.match(usageSentence({ ...team, used: 1_000 }), /refused/);
  assert.equal(usageSentence({ ...team, used: 100 }), "400 left until 1 December (UTC).");
});

test("a cap beneath what is included is what is left to", () => {
  assert.equal(usageSentence({ ...hobby, cap: 200 }), "80 left until 1 December (UTC).");
});

test("without limits there is no bar to fill", () => {
  const free = { ...hobby, included: null };
  assert.equal(usageBar(free).of, null);
  assert.equal(usageSentence(free), "This plan has no limit.");
  assert.equal(usageSentence({ ...free, cap: 300 }), "180 left until 1 December (UTC).");
});
