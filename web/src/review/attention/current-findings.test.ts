import assert from "node:assert/strict";
import { test } from "node:test";
import { nothingElse } from "../../../../server/src/domain/shown/submitted-fields.ts";
import { currentFindings } from "./current-findings.ts";

const review = {
  ...nothingElse,
  id: "req_1",
  summary: "Pay",
  agentName: "payer",
  payload: '{"to":"p\u0430ypal","n":["\u200b","\u200b"]}',
};

function totalsOf(payload: string | null, id = review.id): [string, number][] {
  return currentFindings({ ...review, id }, payload).map(({ kind, total }) => [kind, total]);
}

test("after an edit the warnings are those of the payload as edited", () => {
  const atFirst: [string, number][] = [
    ["hidden", 2],
    ["lookAlike", 1],
  ];
  assert.deepEqual(totalsOf(review.payload), atFirst);
  assert.deepEqual(totalsOf('{"to":"paypal","n":[]}'), []);
  assert.deepEqual(totalsOf('{"to":"1O0"}'), [["number", 1]]);
  assert.deepEqual(totalsOf(review.payload), atFirst);
});

test("they are found once for each payload, and never taken for those of another request", () => {
  const first = currentFindings(review, review.payload);
  assert.equal(currentFindings({ ...review }, review.payload), first);
  const other = { ...review, id: "req_2", summary: "1O0" };
  assert.deepEqual(
    currentFindings(other, null).map(({ kind }) => kind),
    ["number"],
  );
});
