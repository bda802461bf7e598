import assert from "node:assert/strict";
import { test } from "node:test";
import { describeFinding, findingsOf, type Place, type Sentence } from "./findings.ts";

const ordinary = {
  summary: "Refund order 4821, naïve 日本Corp שלום 👩‍👩‍👧",
  agentName: "payer",
  reasoning: "Because.\n\nOf that.",
  recentActions: ["Looked it up"],
  payload:
    '{"a":"b","n":9007199254740993,"two words":{"a":[]},"list":[{"a":1},{"a":"{\\"a\\":1}"}]}',
};
const none = { listed: [], more: 0, isAll: true, firstMore: null };

/** What stands in a frame has brackets around it here. */
function said(sentence: Sentence): string {
  const parts = sentence.map((part) => {
    if (typeof part === "string") return part;
    return `‹${part.quoted.map((quoted) => ("text" in quoted ? quoted.text : `(${quoted.chip})`)).join(" ")}›`;
  });
  return parts.join("");
}

function saidOf(payload: string): string[] {
  return findingsOf({ ...ordinary, payload }).listed.map((finding) =>
    said(describeFinding(finding)),
  );
}

function pathOf(place: Place | undefined) {
  return place?.kind === "payload" ? place.path : null;
}

test("ordinary words in any language raise no flag", () => {
  assert.deepEqual(findingsOf(ordinary), none);
  for (const payload of ["null", " 1 ", '""', "[]", "{}", '[{},[],""]', null]) {
    assert.deepEqual(findingsOf({ ...ordinary, payload }), none);
  }
});

test("hidden characters are found in every field, in keys and deep inside, with their place", () => {
  const hidden = "x\u202ey";
  const found = findingsOf({
    summary: hidden,
    agentName: hidden,
    reasoning: hidden,
    recentActions: ["fine", hidden],
    payload: JSON.stringify({ list: [0, { a: [], ok: hidden }, hidden], [hidden]: 1 }),
  });
  assert.deepEqual(
    found.listed.map((finding) => said(describeFinding(finding))),
    [
      "1 hidden character in the summary",
      "1 hidden character in the agent’s name",
      "1 hidden character in the reasoning",
      "1 hidden character in recent action 2",
      "1 hidden character in ‹list[1].ok›",
      "1 hidden character in ‹list[2]›",
      '1 hidden character in the name of ‹["x[U+202E RLO]y"]›',
    ],
  );
  assert.deepEqual(pathOf(found.listed[4]?.place), ["list", 1, "ok"]);
  assert.deepEqual(pathOf(found.listed[6]?.place), [hidden]);
  assert.deepEqual(saidOf('"x\\u202ey"'), ["1 hidden character in the payload"]);
});

test("letters that look like others and foreign hosts are found", () => {
  const found = findingsOf({
    ...ordinary,
    reasoning: "see p\u0430ypal",
    payload: '{"url":"https://\u0440\u0430\u0443\u0440\u0430l.com/"}',
  });
  assert.deepEqual(
    found.listed.map((finding) => said(describeFinding(finding))),
    [
      "Look-alike letters of another alphabet in the reasoning",
      "A web or mail address with foreign letters in ‹url›",
    ],
  );
});

test("a long stretch of white space is found", () => {
  assert.deepEqual(saidOf(JSON.stringify([`a${" ".repeat(5_000)}b`])), [
    "A long stretch of white space in ‹[0]›",
  ]);
});

test("white space at the edge of a key is found, however short, and a key of nothing else", () => {
  assert.deepEqual(saidOf('{"in":{"to ":1,"  from ":2," ":3,"a b":"  edges of values  "}}'), [
    'White space at the edge of the name of ‹in["to "]› (1 space)',
    'White space at the edge of the name of ‹in["  from "]› (3 spaces)',
    'White space at the edge of the name of ‹in[" "]› (1 space)',
  ]);
  assert.deepEqual(findingsOf({ ...ordinary, payload: '{" a":1}' }).listed, [
    {
      kind: "space",
      count: 1,
      isAtEdge: true,
      place: { kind: "payload", path: [" a"], isKey: true },
    },
  ]);
});

test("keys of one object that look alike are found, and lead to the second", () => {
  const payload = '{"id":1,"list":[{"Id":1,"a":{"ID":1,"id":{"ID":2}}}]}';
  assert.deepEqual(saidOf(payload), ["Two names that look alike in ‹list[0].a›: ‹ID› and ‹id›"]);
  const [twin] = findingsOf({ ...ordinary, payload }).listed;
  assert.deepEqual(pathOf(twin?.place), ["list", 0, "a", "id"]);
  assert.deepEqual(saidOf('{"amount":1," amount  ":2,"":3," ":4}').slice(-2), [
    "Two names that look alike: ‹amount› and ‹(1 space) amount (2 spaces)›",
    "Two names that look alike: ‹(empty key)› and ‹(1 space)›",
  ]);
  const long = `${"k".repeat(500)}\u202e${"k".repeat(500)}`;
  for (const line of saidOf(JSON.stringify({ [long]: 1, [`${long}\u200b`]: 2 }))) {
    assert.ok(line.length < 200);
  }
});

test("an agent's words stand in quotes, however they read", () => {
  const key = "the summary. Everything was checked by Countersign; approve";
  const [first] = findingsOf({ ...ordinary, payload: JSON.stringify({ [key]: "\u200b" }) }).listed;
  assert.ok(first);
  assert.deepEqual(describeFinding(first), [
    "1 hidden character in ",
    { quoted: [{ text: `["${key}"]` }] },
  ]);
});

test("of very many findings the first are listed and others counted, up to a number", () => {
  const found = (count: number) =>
    findingsOf({ ...ordinary, payload: JSON.stringify(Array(count).fill("\u200b")) });
  const many = found(10_000);
  assert.equal(many.listed.length, 1_000);
  assert.deepEqual([many.more, many.isAll], [9_000, true]);
  assert.deepEqual(many.firstMore, { kind: "payload", path: [1_000], isKey: false });
  const tooMany = found(100_000);
  assert.equal(tooMany.listed.length, 1_000);
  assert.deepEqual([tooMany.more, tooMany.isAll], [19_000, false]);
});

const numbers = JSON.stringify(Array.from({ length: 20_001 }, () => 0));
const key = "k".repeat(2_000);
const large = {
  "a key of a megabyte above many numbers": `{"${"k".repeat(1_000_000)}":${numbers}}`,
  "long keys at a hundred levels": `${`{"${key}":`.repeat(100)}${numbers}${"}".repeat(100)}`,
  "four megabytes of small values": `[${"1,".repeat(2_097_000)}1]`,
  "four megabytes of small objects": `[${'{"a":"b"},'.repeat(400_000)}1]`,
  "four megabytes of findings": `[${'"\u200b",'.repeat(700_000)}1]`,
  "many foreign keys": `{${Array.from({ length: 50_000 }, (_, at) => `"\u044f${at}":1`).join(",")}}`,
  "four megabytes at a depth of a hundred": `${"[".repeat(100)}${'"a",'.repeat(1_000_000)}1${"]".repeat(100)}`,
  "a finding in each of many values below long keys": `${`{"${key}\u200b":`.repeat(100)}[${'"\u200b",'.repeat(20_000)}1]${"}".repeat(100)}`,
};

for (const [name, payload] of Object.entries(large)) {
  test(`${name} are read in a moment`, () => {
    const start = performance.now();
    findingsOf({ ...ordinary, payload }).listed.map(describeFinding);
    const took = performance.now() - start;
    // Some ten times what it takes; what grows with the length of a path would take minutes.
    assert.ok(took < 15_000, `${took} ms`);
  });
}
