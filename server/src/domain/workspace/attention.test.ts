import assert from "node:assert/strict";
import { test } from "node:test";
import { byUrgency, quotaNear, type Trouble, troubleOf } from "./attention.ts";

const [monday, tuesday] = [new Date("2026-11-16T09:00:00Z"), new Date("2026-11-17T09:00:00Z")];
const works = { failingSince: null, disabledAt: null, lastMissedAt: null };

test("an endpoint that works and missed nothing needs nobody", () => {
  assert.equal(troubleOf(works), null);
});

test("an endpoint's trouble is the gravest of its signs, since that began", () => {
  const missed = { ...works, lastMissedAt: tuesday };
  assert.deepEqual(troubleOf(missed), { trouble: "missed", since: tuesday });
  const failing = { ...missed, failingSince: monday };
  assert.deepEqual(troubleOf(failing), { trouble: "failing", since: monday });
  const disabled = { ...missed, disabledAt: monday };
  assert.deepEqual(troubleOf(disabled), { trouble: "disabled", since: monday });
});

test("what fails now comes first, and of those what has failed for longest", () => {
  const troubles: Trouble[] = [
    { trouble: "missed", since: monday },
    { trouble: "disabled", since: monday },
    { trouble: "failing", since: tuesday },
    { trouble: "failing", since: monday },
  ];
  assert.deepEqual(troubles.toSorted(byUrgency), [
    { trouble: "failing", since: monday },
    { trouble: "failing", since: tuesday },
    { trouble: "disabled", since: monday },
    { trouble: "missed", since: monday },
  ]);
});

test("the quota is told from nine tenths on, and as used up when nothing is left", () => {
  const hobby = { included: 100, hasOverage: false, cap: null };
  assert.equal(quotaNear({ ...hobby, used: 89 }), null);
  assert.deepEqual(quotaNear({ ...hobby, used: 90 }), { used: 90, limit: 100, isUsedUp: false });
  assert.deepEqual(quotaNear({ ...hobby, used: 100 }), { used: 100, limit: 100, isUsedUp: true });
});

test("with overage the cap is the limit, a smaller cap wins, and no limit is never used up", () => {
  const pro = { included: 2_000, hasOverage: true, cap: 20_000 };
  assert.equal(quotaNear({ ...pro, used: 2_500 }), null);
  assert.equal(quotaNear({ ...pro, used: 20_000 })?.isUsedUp, true);
  assert.equal(quotaNear({ included: 100, hasOverage: false, cap: 10, used: 10 })?.limit, 10);
  assert.equal(quotaNear({ included: null, hasOverage: false, cap: null, used: 1e9 }), null);
  assert.equal(quotaNear({ included: null, hasOverage: false, cap: 0, used: 0 })?.isUsedUp, true);
});
