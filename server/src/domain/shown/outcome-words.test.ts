import assert from "node:assert/strict";
import { test } from "node:test";
import { heldByRestore, interrupted, isSuccess, mailOutcomes, webhookOutcomes } from "./attempt.ts";
import { type DestinationKind, destinationWords } from "./destination.ts";
import { outcomeSentence } from "./outcome-words.ts";

const kinds = Object.keys(destinationWords) as DestinationKind[];

test("every way in which a delivery can end has a sentence of its own", () => {
  for (const kind of kinds) {
    const outcomes = [...destinationWords[kind].outcomes, interrupted, heldByRestore];
    const sentences = outcomes.map((outcome) =>
      outcomeSentence(kind, { outcome, httpStatus: null }),
    );
    assert.equal(new Set(sentences).size, outcomes.length);
    for (const sentence of sentences) assert.match(sentence, /^[A-Z].+\.$/);
  }
});

test("an HTTP status is named, with what it means where that is known", () => {
  const told = (httpStatus: number) =>
    outcomeSentence("endpoint", { outcome: "http_status", httpStatus });
  assert.match(told(404), /HTTP 404: nothing is at this address/);
  assert.match(told(418), /HTTP 418: your server refused/);
  assert.match(told(599), /HTTP 599: your server failed/);
  assert.equal(told(999), "Answered with HTTP 999.");
});

test("a word of a newer service is shown as it is, and no word of a stranger is looked up", () => {
  assert.match(
    outcomeSentence("endpoint", { outcome: "eaten_by_whale", httpStatus: null }),
    /eaten by whale/,
  );
  assert.match(
    outcomeSentence("mailbox", { outcome: "constructor", httpStatus: null }),
    /constructor/,
  );
});

test("only what arrived or was kept counts as success", () => {
  assert.deepEqual(
    [...webhookOutcomes, ...mailOutcomes, interrupted, heldByRestore].filter(isSuccess),
    ["delivered", "delivered", "kept"],
  );
  assert.equal(isSuccess(null), false);
});
