import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRatio } from "../../../test/linear-time.ts";
import { searchedJsonCharactersMax, searchPieceCharacters, searchWordsMax } from "../limits.ts";
import * as searchedTexts from "./searched-texts.ts";
import { type Term, termsOf } from "./words.ts";

type Searched = searchedTexts.Searched;

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

function finish<Result>(steps: searchedTexts.Steps<Result>, onStep = (_: number) => {}): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    onStep(step.value);
  }
}

function wordsOfApproval(searched: Searched): Set<string> {
  return finish(searchedTexts.wordsOfApproval(searched));
}

function findInJson(searched: Searched, terms: readonly Term[]) {
  return finish(searchedTexts.findInJson(searched, terms));
}

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

const ordinary = "Refund order 1042 for the customer. ";
/** Texts that somebody may send to keep the service busy. */
const poisons: Record<string, string> = {
  marks: "a\u0316\u0300",
  "half-width marks": "\uff9e\u302a",
  "marks that need an invisible sign": "\u302a\u3099\u200d",
  "marks beside a sign that is left out": `${"\u302a\u3099".repeat(15)}\ufe71`,
  "long signs": "\ufdfa",
  squares: "\u3300",
  "single letters": "a.",
  "digits in groups": "1 ",
  "a script without spaces": "東京",
};

test("no text takes much longer than an ordinary one of the same length", () => {
  const payloadOf = (text: string) => {
    const long = text.repeat(Math.ceil(searchedJsonCharactersMax / text.length));
    return JSON.stringify(long.slice(0, searchedJsonCharactersMax - 2));
  };
  const both = (payload: string) => {
    const searched = { ...nothing, payload };
    wordsOfApproval(searched);
    findInJson(searched, termsOf("zebra"));
  };
  const plain = payloadOf(ordinary);
  for (const [name, text] of Object.entries(poisons)) {
    const poisoned = payloadOf(text.repeat(5_000).slice(0, searchedJsonCharactersMax));
    assertRatio(
      25,
      () => both(plain),
      () => both(poisoned),
      name,
    );
  }
});

test("a long text is looked at in short steps", () => {
  for (const [name, text] of Object.entries({ ...poisons, ordinary })) {
    const searched = { ...nothing, payload: JSON.stringify(text.repeat(30_000)) };
    for (const steps of [
      searchedTexts.wordsOfApproval(searched),
      searchedTexts.findInJson(searched, termsOf("zebra")),
    ]) {
      const lengths: number[] = [];
      finish<unknown>(steps, (length) => lengths.push(length));
      assert.ok(Math.max(...lengths) <= searchPieceCharacters, name);
      assert.ok(lengths.length > 6, name);
    }
  }
});
