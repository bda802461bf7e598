import assert from "node:assert/strict";
import { test } from "node:test";
import { findColleagues } from "./colleague-search.ts";

const emails = Array.from({ length: 50 }, (_, at) => `Person${at}@example.com`);

test("colleagues are found by any part of their address, in any case, a few at a time", () => {
  assert.deepEqual(findColleagues(emails, " person4@ ", null), {
    shown: ["Person4@example.com"],
    more: 0,
  });
  const { shown, more } = findColleagues(emails, "", null);
  assert.equal(shown.length + more, 50);
  assert.ok(shown.length <= 20);
  assert.deepEqual(findColleagues(emails, "nobody", null), { shown: [], more: 0 });
});

test("a whole address that is typed can be chosen, also by a reader who is shown nobody", () => {
  assert.deepEqual(findColleagues([], " Dora@other.example ", null).shown, ["Dora@other.example"]);
  assert.deepEqual(findColleagues(emails, "person7@example.com", null).shown, [
    "Person7@example.com",
  ]);
  for (const part of ["dora", "dora@", "@other.example", "dora@other", "a b@c.d"]) {
    assert.deepEqual(findColleagues([], part, null).shown, [], part);
  }
});

test("the chosen colleague stays in sight, whatever is typed, and is never counted twice", () => {
  const chosen = "Person49@example.com";
  const all = findColleagues(emails, "", chosen);
  assert.equal(all.shown[0], chosen);
  assert.equal(all.shown.length + all.more, 50);
  assert.deepEqual(findColleagues(emails, "person1@", chosen).shown, [
    chosen,
    "Person1@example.com",
  ]);
});
