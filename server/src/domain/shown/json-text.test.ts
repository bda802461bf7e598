import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../../test/linear-time.ts";
import { randomJsonText as jsonText, randomSpace as space } from "../../../test/random-json.ts";
import { jsonDepthMax } from "./field-limits.ts";
import { type JsonMember, scanJson, scanJsonValue } from "./json-text.ts";

function membersOf(text: string): JsonMember[] {
  const scanned = scanJson(text);
  assert.equal(scanned.kind, "object", text);
  return scanned.kind === "object" ? scanned.members : [];
}

test("the text of each member is found exactly, whatever JSON it is", () => {
  fc.assert(
    fc.property(jsonText, jsonText, space, (first, second, gap) => {
      const members = membersOf(`{"a":${gap}${first}${gap},${gap}"b"${gap}:${second}}`);
      assert.deepEqual(
        members.map(({ name, text, flaw }) => ({ name, text: text as string, flaw })),
        [
          { name: "a", text: first, flaw: null },
          { name: "b", text: second, flaw: null },
        ],
      );
    }),
    { numRuns: 2000 },
  );
});

test("a text is JSON exactly when JSON.parse takes it", () => {
  const mutated = fc
    .tuple(
      jsonText,
      fc.nat(),
      fc.oneof(
        fc.string({ maxLength: 2 }),
        fc.constantFrom("", "]", "}", ",", ":", '"', "\\", "0", "-", "e", "\u0000", "\n", "\ufeff"),
      ),
      fc.nat({ max: 2 }),
    )
    .map(([text, at, put, cut]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + cut);
    });
  fc.assert(
    fc.property(mutated, (text) => {
      assert.equal(scanJson(text).kind !== "malformed", parses(text), JSON.stringify(text));
    }),
    { numRuns: 5000 },
  );
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("broken JSON is refused with the place of the mistake", () => {
  const cases: [string, string, number][] = [
    ["", "the text ends too early", 0],
    ["{", "the text ends too early", 1],
    ['{"a":1', "the text ends too early", 6],
    ['{"a":1,}', "line 1, column 8: expected a key in double quotes here", 7],
    ["{'a':1}", "line 1, column 2: expected a key in double quotes here", 1],
    ['{\n  "a": tru\n}', "line 2, column 8: expected a value here", 9],
    ["[1,]", "line 1, column 4: expected a value here", 3],
    ["[1 2]", "line 1, column 4: expected , or ] here", 3],
    ['{"a" 1}', "line 1, column 6: expected : after the key here", 5],
    ['{"a":1}x', "line 1, column 8: unexpected text after the end of the value", 7],
    ['"\\x"', "line 1, column 2: this is not an escape that JSON knows", 1],
    ['"a\nb"', "line 1, column 3: a control character inside a string must be escaped", 2],
    ['"abc', "line 1, column 1: this string has no end", 0],
    ["01", "line 1, column 2: unexpected text after the end of the value", 1],
    ["NaN", "line 1, column 1: expected a value here", 0],
    ["\ufeff{}", "line 1, column 1: expected a value here", 0],
  ];
  for (const [text, message, at] of cases) {
    const expected = { kind: "malformed", message, at };
    assert.deepEqual(scanJson(text), expected, JSON.stringify(text));
    assert.deepEqual(scanJsonValue(text), expected, JSON.stringify(text));
  }
});

test("a duplicate key is found at any depth, however it is written, and its path is told", () => {
  const cases: [string, string][] = [
    ['{"a":1,"a":2}', "a"],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"payload":{"amount":1,"amount":1000000}}', "payload.amount"],
    ['{"p":[0,{"x":{"y":[{"z":{"k":1,"b":2,"k":3}}]}}]}', "p[1].x.y[0].z.k"],
    ['{"p":{"a b":1,"a b":1}}', 'p["a b"]'],
    ['{"p":{"":1,"":1}}', 'p[""]'],
    ['{"p":{"__proto__":1,"__proto__":2}}', "p.__proto__"],
  ];
  for (const [text, path] of cases) {
    const flaws = membersOf(text).map(({ flaw }) => flaw);
    assert.deepEqual(flaws.at(-1), { kind: "duplicate_key", path }, text);
  }
});

test("equal keys in different objects, and keys that only look alike, are no duplicates", () => {
  for (const text of [
    '{"a":{"k":1},"b":{"k":1}}',
    '{"a":[{"k":1},{"k":1}]}',
    '{"a":1,"A":2}',
    '{"é":1,"e\u0301":2}',
  ]) {
    assert.ok(
      membersOf(text).every(({ flaw }) => flaw === null),
      text,
    );
  }
});

test("a member's flaw is its own and not its neighbour's", () => {
  const members = membersOf('{"a":{"x":1,"x":2},"b":{"x":1}}');
  assert.deepEqual(
    members.map(({ name, flaw }) => [name, flaw?.path ?? null]),
    [
      ["a", "a.x"],
      ["b", null],
    ],
  );
});

test("nesting is allowed up to the limit and noted beyond it, naming the field", () => {
  const nested = (levels: number) => `{"p":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  assert.equal(membersOf(nested(jsonDepthMax))[0]?.flaw, null);
  assert.deepEqual(membersOf(nested(jsonDepthMax + 1))[0]?.flaw, { kind: "too_deep", path: "p" });
  const objects = `{"p":${'{"a":'.repeat(jsonDepthMax + 1)}1${"}".repeat(jsonDepthMax + 1)}}`;
  assert.deepEqual(membersOf(objects)[0]?.flaw, { kind: "too_deep", path: "p" });
});

test("brackets, empty objects or keys take time by their length alone", () => {
  for (const textOf of [
    (size: number) => "[".repeat(size),
    (size: number) => `{"p":${"[".repeat(size / 2)}${"]".repeat(size / 2)}}`,
    (size: number) => `{"p":${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}}`,
    (size: number) => `{"p":[${"{},".repeat(size / 3)}1]}`,
    (size: number) => `{"p":[${'{"a":1},'.repeat(size / 8)}1]}`,
    (size: number) =>
      `{"p":{${Array.from({ length: size / 16 }, (_, n) => `"${1e6 + n}":1`).join(",")}}}`,
    (size: number) => `{"p":"${"\\u0041".repeat(size / 6)}"}`,
  ]) {
    assertLinear(2 ** 17, textOf, scanJson, String(textOf));
  }
});

test("4 MiB of brackets do not overflow the stack", () => {
  const bytes = 4 * 1024 * 1024;
  scanJson("[".repeat(bytes));
  scanJson(`{"p":${'{"a":'.repeat(bytes / 6)}1${"}".repeat(bytes / 6)}}`);
  for (const close of ["", "]".repeat(1_000_000)]) {
    const members = membersOf(`{"a":1,"p":${"[".repeat(1_000_000)}${close}`);
    assert.deepEqual(
      members.map(({ name, flaw }) => [name, flaw?.kind]),
      [
        ["a", undefined],
        ["p", "too_deep"],
      ],
    );
  }
});

test("a document that is no object is told apart", () => {
  for (const text of ["1", '"a"', "[]", "null", "[[1]]"]) {
    assert.deepEqual(scanJson(text), { kind: "other", flaw: null });
  }
});

test("a value on its own has the bounds that it has as a member of a body", () => {
  fc.assert(
    fc.property(jsonText, fc.nat({ max: 140 }), fc.boolean(), (inside, levels, isObject) => {
      const [open, close] = isObject ? ['{"k":', "}"] : ["[", "]"];
      const text = open.repeat(levels) + inside + close.repeat(levels);
      const member = membersOf(`{"payload":${text}}`)[0];
      const scanned = scanJsonValue(text);
      assert.equal(scanned.kind, "valid");
      if (scanned.kind === "valid") assert.equal(scanned.flaw?.kind, member?.flaw?.kind);
    }),
    { numRuns: 500 },
  );
});

test("the flaw of a value on its own is told with its path and its place", () => {
  const deep = (open: string, close: string, levels: number) =>
    open.repeat(levels) + close.repeat(levels);
  const path = "a";
  for (const [text, flaw] of [
    ["{}", null],
    [' {"a":1,\n"a":2}', { kind: "duplicate_key", path, at: 9 }],
    [
      '{"a":{"x":1,"y":[{"\\u0078":1,"x":2}]}}',
      { kind: "duplicate_key", path: "a.y[0].x", at: 29 },
    ],
    ['{"b":{"x":1,"x":2},"c":{"x":1,"x":2}}', { kind: "duplicate_key", path: "b.x", at: 12 }],
    [deep("[", "]", jsonDepthMax), null],
    [deep("[", "]", jsonDepthMax + 1), { kind: "too_deep", path: "[0]", at: jsonDepthMax }],
    [`{"a":${deep("[", "]", jsonDepthMax - 1)}}`, null],
    [`{"a":${deep("[", "]", jsonDepthMax)}}`, { kind: "too_deep", path, at: 5 + jsonDepthMax - 1 }],
    ["[".repeat(1_000_000), { kind: "too_deep", path: "[0]", at: jsonDepthMax }],
  ] as const) {
    assert.deepEqual(scanJsonValue(text), { kind: "valid", flaw }, text.slice(0, 50));
  }
});
