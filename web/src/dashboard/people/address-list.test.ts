import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, keyOfName } from "./address-list.ts";

test("addresses are read however they were separated, each once", () => {
  assert.deepEqual(addressesOf("a@x.example, b@x.example;\nA@x.example\n\n c@x.example "), [
    "a@x.example",
    "b@x.example",
    "c@x.example",
  ]);
  assert.deepEqual(addressesOf(" \n"), []);
});

test("a key is made from a name in letters that a key may have", () => {
  assert.equal(keyOfName("Finance – Zürich (EU)"), "finance-zurich-eu");
  assert.equal(keyOfName("  "), "");
});
