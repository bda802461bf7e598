import assert from "node:assert/strict";
import { test } from "node:test";
import { nothingElse } from "../../../../server/src/domain/shown/submitted-fields.ts";
import { assertLinear } from "../../../../server/test/linear-time.ts";
import { words } from "../../look/words.ts";
import { describeFinding, type Sentence } from "./finding-sentences.ts";
import { type Finding, findingsOf, type Place, type ReviewedWords } from "./findings.ts";

const ordinary = {
  ...nothingElse,
  summary: "Refund order 4821, naïve 日本Corp שלום 👩‍👩‍👧",
  agentName: "payer",
  reasoning: "Because.\n\nOf that.",
  recentActions: ["Looked it up"],
  payload:
    '{"a":"b","n":9007199254740993,"two words":{"a":[]},"list":[{"a":1},{"a":"{\\"a\\":1}"}]}',
};

function listedOf(review: ReviewedWords): Finding[] {
  return findingsOf(review).flatMap(({ listed }) => listed);
}

/** Framed text has brackets around it here. */
function said(sentence: Sentence): string {
  const parts = sentence.map((part) => {
    if (typeof part === "string") return part;
    return `‹${part.quoted.map((quoted) => ("text" in quoted ? quoted.text : `(${quoted.chip})`)).join(" ")}›`;
  });
  return parts.join("");
}

function saidOf(payload: string): string[] {
  return listedOf({ ...ordinary, payload }).map((finding) => said(describeFinding(finding)));
}

function pathOf(place: Place | undefined) {
  return place?.kind === "payload" ? place.path : null;
}

test("ordinary words in any language raise no flag", () => {
  assert.deepEqual(findingsOf(ordinary), []);
  for (const payload of ["null", " 1 ", '""', "[]", "{}", '[{},[],""]', null]) {
    assert.deepEqual(findingsOf({ ...ordinary, payload }), []);
  }
});

test("hidden characters are found in every field, in keys and deep inside, with their place", () => {
  const hidden = "x\u200by";
  const { texts } = words.places;
  const listed = listedOf({
    ...ordinary,
    ...Object.fromEntries(Object.keys(texts).map((name) => [name, hidden])),
    recentActions: ["fine", hidden],
    audience: ["fine.example", hidden],
    payload: JSON.stringify({ list: [0, { a: [], ok: hidden }, hidden], [hidden]: 1 }),
  });
  assert.deepEqual(
    listed.map((finding) => said(describeFinding(finding))),
    [
      ...Object.values(texts).map((place) => `1 hidden character in ${place}`),
      "1 hidden character in recent action 2",
      "1 hidden character in name 2 of those it is valid for",
      "1 hidden character in ‹list[1].ok›",
      "1 hidden character in ‹list[2]›",
      '1 hidden character in the name of ‹["x[U+200B ZWSP]y"]›',
    ],
  );
  assert.deepEqual(pathOf(listed.at(-3)?.place), ["list", 1, "ok"]);
  assert.deepEqual(pathOf(listed.at(-1)?.place), [hidden]);
  assert.deepEqual(saidOf('"x\\u202ey"'), [
    "1 hidden character turns the text around in the payload",
  ]);
});

test("each kind of look-alike is told with the piece, what it reads as, and its place", () => {
  for (const [value, sentence] of [
    ["p\u0430ypal", "‹p\u0430ypal› only looks like ‹paypal›: one letter is Cyrillic, in ‹v›"],
    ["s\u03bcm", "‹s\u03bcm› mixes Latin and Greek letters, in ‹v›"],
    ["৪", "‹৪› means ‹4›, in Bengali digits, in ‹v›"],
    ["1O0", "‹1O0› has the letter O among its digits. It reads like ‹100›, in ‹v›"],
    ["ｐａｙ", "‹ｐａｙ› only looks like ‹pay›: it has special letter forms, in ‹v›"],
    [
      "https://аррӏе.com",
      "‹аррӏе.com› only looks like ‹apple.com›. It goes to ‹xn--80ak6aa92e.com›, in ‹v›",
    ],
    ["xn--80ak6aa92e.com", "‹xn--80ak6aa92e.com› is made to look like ‹apple.com›, in ‹v›"],
    [
      "https://google.com@evil.com",
      "‹google.com@› isn’t the site. The address goes to ‹evil.com›, in ‹v›",
    ],
    ["https:\\\\evil.com", "An address with odd slashes goes to ‹evil.com›, in ‹v›"],
    ["http://3232235777", "‹3232235777› is the network address ‹192.168.1.1›, in ‹v›"],
    ["a\u2215b", "‹\u2215› only looks like ‹/›, in ‹v›"],
    ["https://a.com\\b", "A backslash in an address works as a slash, in ‹v›"],
    [
      "x\u0300\u0301\u0302\u0303",
      "4 marks on one letter (grave accent, acute accent, circumflex, tilde), in ‹v›",
    ],
    ["1\u03360\u0336", "‹10› is struck through, but still counts, in ‹v›"],
    [
      "p\u0430y or p\u0430id",
      "‹p\u0430y› only looks like ‹pay›: one letter is Cyrillic, and 1 more, in ‹v›",
    ],
  ] as const) {
    assert.deepEqual(saidOf(JSON.stringify({ v: value })), [sentence]);
  }
});

test("a character that is ordinary where it stands is no finding", () => {
  for (const value of ["10\u00a0€", "می\u200cخواهم", "ادفع ١٢٠ دينار", "bücher.de", "a\r\nb"]) {
    assert.deepEqual(saidOf(JSON.stringify({ v: value })), []);
  }
});

test("a line break in the agent's name is hidden, as on the page", () => {
  const [found] = listedOf({ ...ordinary, agentName: "payer\r\nBcc: x" });
  assert.equal(found && said(describeFinding(found)), "2 hidden characters in the agent’s name");
});

test("an agent that is called like us, the workspace or the approver is found", () => {
  const trusted = { workspaceName: "Acme", groupName: "Finance", reviewerEmail: "a@b.co" };
  for (const [agentName, sentence] of [
    ["Countersign Security", "The agent’s name looks like our own: ‹Countersign›"],
    ["ACME", "The agent’s name looks like your workspace’s: ‹Acme›"],
    ["finance", "The agent’s name looks like your group’s: ‹Finance›"],
    ["for a@b.co", "The agent’s name holds your own address: ‹a@b.co›"],
  ] as const) {
    const [found] = listedOf({ ...ordinary, ...trusted, agentName });
    assert.equal(found && said(describeFinding(found)), sentence);
  }
  assert.deepEqual(findingsOf({ ...ordinary, ...trusted, agentName: "Acme refund bot" }), []);
});

test("the gravest come first, whatever their order in the payload", () => {
  const payload = JSON.stringify({
    "space ": 1,
    pile: "a\u0336",
    id: 1,
    ID: 2,
    letters: "p\u0430y",
    number: "1O0",
    address: "https://google.com@evil.com",
    hidden: "a\u200bb",
    turned: "a\u202eb",
  });
  assert.deepEqual(
    findingsOf({ ...ordinary, payload, agentName: "countersign" }).map(({ kind }) => kind),
    ["direction", "hidden", "address", "number", "lookAlike", "twin", "imitation", "pile", "space"],
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
  assert.deepEqual(listedOf({ ...ordinary, payload: '{" a":1}' }), [
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
  const [twin] = listedOf({ ...ordinary, payload });
  assert.deepEqual(pathOf(twin?.place), ["list", 0, "a", "id"]);
  assert.deepEqual(saidOf('{"amount":1," amount  ":2,"":3," ":4}').slice(0, 2), [
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
  const [first] = listedOf({ ...ordinary, payload: JSON.stringify({ [key]: "\u200b" }) });
  assert.ok(first);
  assert.deepEqual(describeFinding(first), [
    "1 hidden character in ",
    { quoted: [{ text: `["${key}"]` }] },
  ]);
});

test("of very many findings all are counted, and the first of each kind listed", () => {
  const values = Array.from({ length: 100_000 }, (_, at) => (at % 2 === 0 ? "\u200b" : "1O0"));
  const groups = findingsOf({ ...ordinary, payload: JSON.stringify(values) });
  assert.deepEqual(
    groups.map(({ kind, total, listed }) => ({ kind, total, listed: listed.length })),
    [
      { kind: "hidden", total: 50_000, listed: 500 },
      { kind: "number", total: 50_000, listed: 500 },
    ],
  );
  assert.deepEqual(groups[0]?.firstMore, { kind: "payload", path: [1_000], isKey: false });
});

const list = (size: number, textOf: (at: number) => string) =>
  `[${Array.from({ length: size }, (_, at) => textOf(at)).join(",")}]`;
const below = (levels: number, key: string, inside: string) =>
  `${`{"${key}":`.repeat(levels)}${inside}${"}".repeat(levels)}`;
const large: Record<string, (size: number) => string> = {
  "a long key above many numbers": (size) =>
    below(
      1,
      "k".repeat(size * 8),
      list(size, () => "0"),
    ),
  "long keys at many levels": (size) =>
    below(
      size / 256,
      "k".repeat(size / 16),
      list(size, () => "0"),
    ),
  "small values": (size) => list(size, () => "1"),
  "small objects": (size) => list(size, () => '{"a":"b"}'),
  findings: (size) => list(size, () => '"\u200b"'),
  "different findings": (size) => list(size, (at) => `"\u200b${at}"`),
  "look-alikes": (size) => list(size, (at) => `"p\u0430y${at}"`),
  "foreign keys": (size) => list(size, (at) => `{"\u044f${at}":1}`),
  "foreign keys of one object": (size) =>
    list(size, (at) => `"\u044f${at}":1`)
      .replace("[", "{")
      .replace("]", "}"),
  "values at a depth of a hundred": (size) =>
    `${"[".repeat(100)}${list(size, () => '"a"')}${"]".repeat(100)}`,
  "a finding in each of many values below long keys": (size) =>
    below(
      size / 256,
      `${"k".repeat(size / 16)}\u200b`,
      list(size, () => '"\u200b"'),
    ),
};

for (const [name, payloadOf] of Object.entries(large)) {
  test(`${name} are read in time by their length alone`, () => {
    assertLinear(2 ** 13, payloadOf, (payload) =>
      listedOf({ ...ordinary, payload }).map(describeFinding),
    );
  });
}
