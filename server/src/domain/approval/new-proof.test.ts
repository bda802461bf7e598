import assert from "node:assert/strict";
import { test } from "node:test";
import { readAudience, readFlag } from "./new-proof.ts";

test("an audience is kept to the letter, in the order in which it was named", () => {
  const decomposed = "cafe\u0301";
  for (const audience of [
    ["ledger"],
    ["https://pay.example/refunds?x=1#y", "urn:ledger"],
    // Names are compared to the letter, as verifiers do.
    ["Ledger", "ledger", decomposed, decomposed.normalize("NFC")],
    ["a".repeat(200)],
    ["😀".repeat(200)],
  ]) {
    assert.deepEqual(readAudience(audience, "audience"), audience);
  }
  assert.equal(readAudience(null, "audience"), null);
});

const flaws: [unknown, string, RegExp][] = [
  ["ledger", "audience", /^must be an array of strings, not a string$/],
  [{}, "audience", /^must be an array of strings, not an object$/],
  [true, "audience", /^must be an array of strings, not a boolean$/],
  [[], "audience", /^must have 1 to 5 items, but has 0$/],
  [["a", "b", "c", "d", "e", "f"], "audience", /^must have 1 to 5 items, but has 6$/],
  [["a", 7], "audience[1]", /^must be a string, not a number$/],
  [["a", null], "audience[1]", /^must be a string, not null$/],
  [[["a"]], "audience[0]", /^must be a string, not an array$/],
  [[""], "audience[0]", /^must have 1 to 200 characters, but has 0$/],
  [["a".repeat(201)], "audience[0]", /^must have 1 to 200 characters, but has 201$/],
  [["a", "b", "a"], "audience[2]", /^stands there a second time$/],
  [["a", "\u0061"], "audience[1]", /^stands there a second time$/],
  [[" a"], "audience[0]", /^must not contain white space.*\(found U\+0020\)$/],
  [["a\n"], "audience[0]", /found U\+000A/],
  [["a\u0000b"], "audience[0]", /found U\+0000/],
  [["a\u00a0b"], "audience[0]", /found U\+00A0/],
  [["a\u200bb"], "audience[0]", /found U\+200B/],
  [["a\u202eb"], "audience[0]", /found U\+202E/],
  [["a\u3164"], "audience[0]", /found U\+3164/],
  [["\ufeffa"], "audience[0]", /found U\+FEFF/],
  [["a\u{e0041}"], "audience[0]", /found U\+E0041/],
  [["a\ud800"], "audience[0]", /found U\+D800/],
];

for (const [value, place, flaw] of flaws) {
  test(`the audience ${JSON.stringify(value).slice(0, 40)} is refused with what is wrong`, () => {
    const read = readAudience(value, "audience");
    assert.ok(read !== null && "flaw" in read);
    assert.equal(read.place, place);
    assert.match(read.flaw, flaw);
  });
}

test("a flag is true, false or not given, and nothing that only looks like it", () => {
  for (const value of [true, false, null]) assert.equal(readFlag(value, "requireSignature"), value);
  for (const value of [0, 1, "true", "", [], {}]) {
    const read = readFlag(value, "requireSignature");
    assert.ok(typeof read === "object" && read !== null);
    assert.match(read.flaw, /^must be true or false, not an? /);
  }
});
