import assert from "node:assert/strict";
import { test } from "node:test";
import { searchedJsonCharactersMax, searchWordsMax } from "../limits.ts";
import { findInJson, type Searched, wordsOfApproval } from "./searched-texts.ts";
import { termsOf } from "./words.ts";

const nothing: Searched = {
  summary: "Refund",
  agentName: null,
  approverEmail: null,
  groupKey: null,
  groupName: null,
  decidedBy: null,
  edit: null,
  payload: null,
  metadata: null,
};

test("an approval is found by its values and names, never by keys", () => {
  const words = wordsOfApproval({
    ...nothing,
    agentName: "payer",
    groupName: "Night shift",
    decidedBy: "bob@example.com",
    payload:
      '{"customerName":"\\u0041nn L\\u00fcdenscheid","":"Empty","n":[-12.50,true,{"a":"deep"}]}',
    metadata: '["trace-77"]',
    edit: '"Edited"',
  });
  const expected = ["ann", "ludenscheid", "empty", "12.50", "50", "deep", "trace.77", "edited"];
  for (const word of [...expected, "refund", "payer", "night", "bob.example.com"]) {
    assert.ok(words.has(word), word);
  }
  for (const word of ["customername", "true", "n", "a"]) assert.ok(!words.has(word), word);
});

test("JSON that is cut off anywhere is read as far as it goes", () => {
  const json = '{"a":"caf\\u00e9 \\"x\\"","b":[1,{"c":"last"}]}';
  for (let end = 0; end <= json.length; end += 1) {
    wordsOfApproval({ ...nothing, payload: json.slice(0, end) });
  }
  assert.ok(wordsOfApproval({ ...nothing, payload: json }).has("last"));
});

test("a request has a bounded number of words, and its names are always among them", () => {
  const many = JSON.stringify(Array.from({ length: 10_000 }, (_, at) => `w${at}`));
  const words = wordsOfApproval({ ...nothing, decidedBy: "bob@example.com", payload: many });
  assert.equal(words.size, searchWordsMax);
  assert.ok(words.has("bob.example.com"));
  const late = `{"pad":"${"!".repeat(searchedJsonCharactersMax)}","late":"zebra"}`;
  assert.ok(!wordsOfApproval({ ...nothing, payload: late }).has("zebra"));
});

test("a match inside JSON is told with its place; one that the row shows is not", () => {
  const searched = { ...nothing, payload: '{"to":[{"name":"x"},{"odd key":"Zoë Quist"}]}' };
  assert.equal(findInJson(searched, termsOf("refund")), null);
  assert.deepEqual(findInJson(searched, termsOf("refund zoe")), {
    field: "payload",
    path: 'to[1]["odd key"]',
    text: "Zoë Quist",
  });
  const long = { ...nothing, metadata: JSON.stringify(`${"word ".repeat(100)}zebra tail`) };
  const found = findInJson(long, termsOf("zebra"));
  assert.equal(found?.field, "metadata");
  assert.match(found?.text ?? "", /^….*zebra tail$/);
  assert.ok((found?.text.length ?? 0) < 130);
});
