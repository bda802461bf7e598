import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenSentence, mailWords } from "./channel-words.ts";

test("a broken connection says what happened, and a code that nobody knows stays as Slack wrote it", () => {
  assert.match(brokenSentence("token_revoked"), /revoked.*\(token_revoked\)/);
  assert.equal(brokenSentence("some_new_code"), "some_new_code");
});

test("the delay of mail is told in minutes", () => {
  assert.equal(mailWords(null), "At once");
  assert.equal(mailWords(1), "1 minute after the other channels");
  assert.equal(mailWords(10), "10 minutes after the other channels");
});
