import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldSentence, isAtField } from "./field-sentence.ts";

test("a sentence beside a field is a whole one, without the name of the contract", () => {
  assert.equal(fieldSentence("expiryMinutes: must be at least 5"), "Must be at least 5.");
  assert.equal(fieldSentence("members.2: is no address"), "Is no address.");
  assert.equal(fieldSentence("Too many: wait a minute."), "Too many: wait a minute.");
});

test("an address stays as it was typed", () => {
  assert.equal(fieldSentence("email: ann@example.com is in"), "ann@example.com is in.");
  assert.equal(fieldSentence("url: http://10.0.0.1 is private"), "http://10.0.0.1 is private.");
});

test("a flaw in one item of a list is told at the list", () => {
  assert.ok(isAtField("members.2", "members"));
  assert.ok(isAtField("name", "name"));
  assert.ok(!isAtField("names", "name"));
  assert.ok(!isAtField(null, "name"));
});
