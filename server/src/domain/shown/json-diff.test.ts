import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../../test/linear-time.ts";
import { randomJsonText as jsonText } from "../../../test/random-json.ts";
import { diffJson, isSameJson, type JsonChange } from "./json-diff.ts";
import { formatJson, type JsonPath, nodeAt, textOf } from "./json-tree.ts";

/** The value of a text, parsed by a few naive lines that share nothing with the code under test. */
type Value = { text: string; same: string } & (
  | { kind: "scalar" }
  | { kind: "array"; items: Value[] }
  | { kind: "object"; members: [key: string, value: Value][] }
);

const tokenPattern = /\s*("(?:\\.|[^"\\])*"|[[\]{}:,]|[^\s[\]{}:,"]+)/y;

function parse(text: string): Value {
  let at = 0;
  const take = (): string => {
    tokenPattern.lastIndex = at;
    const token = tokenPattern.exec(text)?.[1] ?? assert.fail(`no token at ${at} of ${text}`);
    at = tokenPattern.lastIndex;
    return token;
  };
  const peek = (): string => {
    const start = at;
    const token = take();
    at = start;
    return token;
  };
  /** Reads what stands between two brackets, each with `read`. */
  const list = <T>(close: string, read: () => T): T[] => {
    const found: T[] = [];
    while (peek() !== close) {
      found.push(read());
      if (peek() === ",") take();
    }
    take();
    return found;
  };
  const value = (): Value => {
    const token = take();
    const start = at - token.length;
    if (token === "[") {
      const items = list("]", value);
      const same = `[${items.map((item) => item.same).join(",")}]`;
      return { kind: "array", items, same, text: text.slice(start, at) };
    }
    if (token === "{") {
      const members = list("}", (): [string, Value] => {
        const key = JSON.parse(take()) as string;
        take();
        return [key, value()];
      });
      const same = `{${members.map(([key, { same }]) => `${JSON.stringify(key)}:${same}`).join(",")}}`;
      return { kind: "object", members, same, text: text.slice(start, at) };
    }
    const same = token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
    return { kind: "scalar", same, text: token };
  };
  return value();
}

/** The rules once more, as slowly and plainly as can be. */
function naiveDiff(before: Value, after: Value, path: JsonPath): JsonChange[] {
  if (before.same === after.same) return [];
  const added = (step: string | number, { text }: Value): JsonChange => ({
    kind: "added",
    path: [...path, step],
    after: text,
  });
  const removed = (step: string | number, { text }: Value): JsonChange => ({
    kind: "removed",
    path: [...path, step],
    before: text,
  });
  if (before.kind === "object" && after.kind === "object") {
    const old = new Map(before.members);
    const now = new Map(after.members);
    const keptOld = [...old.keys()].filter((key) => now.has(key));
    const keptNow = [...now.keys()].filter((key) => old.has(key));
    return [
      ...(keptOld.some((key, index) => key !== keptNow[index])
        ? [{ kind: "reordered" as const, path }]
        : []),
      ...[...now].flatMap(([key, value]) => {
        const was = old.get(key);
        return was === undefined ? [added(key, value)] : naiveDiff(was, value, [...path, key]);
      }),
      ...[...old].flatMap(([key, value]) => (now.has(key) ? [] : [removed(key, value)])),
    ];
  }
  if (before.kind === "array" && after.kind === "array") {
    const old = before.items.map((value, index) => ({ value, index }));
    const now = after.items.map((value, index) => ({ value, index }));
    while (old[0] && old[0].value.same === now[0]?.value.same) {
      old.shift();
      now.shift();
    }
    while (old.at(-1) && old.at(-1)?.value.same === now.at(-1)?.value.same) {
      old.pop();
      now.pop();
    }
    const shared = Math.min(old.length, now.length);
    return [
      ...old.slice(0, shared).flatMap(({ value, index }, place) => {
        const other = now[place]?.value ?? assert.fail();
        return naiveDiff(value, other, [...path, index]);
      }),
      ...old.slice(shared).map(({ value, index }) => removed(index, value)),
      ...now.slice(shared).map(({ value, index }) => added(index, value)),
    ];
  }
  return [{ kind: "changed", path, before: before.text, after: after.text }];
}

/** Small texts over few keys and values, so that two of them often have much in common. */
const { small } = fc.letrec<{ small: string }>((tie) => ({
  small: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      "1",
      "1.0",
      "0",
      "-0",
      '"a"',
      '"\\u0061"',
      '"\\ud800"',
      "true",
      "null",
      "[]",
      "{}",
    ),
    fc.array(tie("small"), { maxLength: 5 }).map((items) => `[${items.join(",")}]`),
    fc
      .uniqueArray(
        fc.tuple(fc.constantFrom("a", "b", "c", "1", "0", "__proto__", "ü"), tie("small")),
        { maxLength: 5, selector: ([key]) => key },
      )
      .map((members) => `{${members.map(([key, value]) => `"${key}": ${value}`).join(" ,")}}`),
  ),
}));

const pair = fc.oneof(fc.tuple(small, small), fc.tuple(jsonText, jsonText));

test("white space between tokens is no change", () => {
  fc.assert(
    fc.property(fc.oneof(jsonText, small), (text) => {
      assert.deepEqual(diffJson(text, formatJson(text)), []);
      assert.deepEqual(diffJson(formatJson(text), text), []);
      assert.ok(isSameJson(text, ` ${formatJson(text)}\n`));
    }),
    { numRuns: 500 },
  );
});

test("differences are told just as a naive reading of the rules tells them", () => {
  fc.assert(
    fc.property(pair, ([before, after]) => {
      assert.deepEqual(diffJson(before, after), naiveDiff(parse(before), parse(after), []));
    }),
    { numRuns: 5000 },
  );
});

test("two texts are the same exactly when nothing differs, whichever comes first", () => {
  fc.assert(
    fc.property(pair, ([before, after]) => {
      const isSame = parse(before).same === parse(after).same;
      assert.equal(isSameJson(before, after), isSame);
      assert.equal(isSameJson(after, before), isSame);
      assert.equal(diffJson(before, after).length === 0, isSame);
    }),
    { numRuns: 2000 },
  );
});

test("each change quotes the texts that stand at its path", () => {
  const at = (text: string, path: JsonPath) => {
    const node = nodeAt(text, path);
    return node === null ? null : textOf(text, node);
  };
  fc.assert(
    fc.property(pair, ([before, after]) => {
      for (const change of diffJson(before, after)) {
        if ("before" in change) assert.equal(change.before, at(before, change.path));
        if ("after" in change) assert.equal(change.after, at(after, change.path));
        if (change.kind === "added" || change.kind === "removed") {
          const where = change.path.at(-1);
          const other = at(change.kind === "added" ? before : after, change.path);
          assert.ok(typeof where === "number" || other === null);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test("numbers are the same only as the same token, strings by what they stand for", () => {
  for (const [before, after] of [
    ["1", "1.0"],
    ["1", "1e0"],
    ["0", "-0"],
    ["9007199254740993", "9007199254740992"],
    ["1e400", "2e400"],
    ['"\\ud800"', '"\\ud801"'],
    ['"e\\u0301"', '"é"'],
    ['"1"', "1"],
    ["null", '"null"'],
    ["true", "false"],
    ["[]", "{}"],
  ] as const) {
    const change = { kind: "changed", path: [], before, after };
    assert.deepEqual(diffJson(before, after), [change]);
    assert.deepEqual(diffJson(`{"k":[${before}]}`, `{"k":[${after}]}`), [
      { ...change, path: ["k", 0] },
    ]);
  }
  for (const [before, after] of [
    ['"\\u0061\\/"', '"a/"'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['{"\\u0061":1}', '{"a":1}'],
    ['"\\uD800"', '"\\ud800"'],
    [`"${"\\u0061".repeat(50)}"`, `"${"a".repeat(50)}"`],
    ['"\\u0061"', '"a"'],
  ] as const) {
    assert.deepEqual(diffJson(before, after), [], before);
    assert.deepEqual(diffJson(`[${before},1]`, `[${after}]`).length, 1, before);
  }
});

test("only what changed is named, and a whole subtree that came or went is one change", () => {
  assert.deepEqual(
    diffJson(
      '{"keep":[1,2],"amount":49.00,"to":{"name":"A","iban":"1"},"gone":{"x":[1]}}',
      '{"keep":[1, 2],"amount":49.0,"to":{"name":"A","iban":"2"},"new":{"y":{}}}',
    ),
    [
      { kind: "changed", path: ["amount"], before: "49.00", after: "49.0" },
      { kind: "changed", path: ["to", "iban"], before: '"1"', after: '"2"' },
      { kind: "added", path: ["new"], after: '{"y":{}}' },
      { kind: "removed", path: ["gone"], before: '{"x":[1]}' },
    ],
  );
});

test("keys in another order are a change of their object, whatever comes or goes between them", () => {
  const reordered = { kind: "reordered", path: ["o"] };
  assert.deepEqual(diffJson('{"o":{"1":1,"b":2}}', '{"o":{"b":2,"1":1}}'), [reordered]);
  assert.deepEqual(diffJson('{"o":{"a":1,"b":2}}', '{"o":{"x":0,"a":1,"b":2}}'), [
    { kind: "added", path: ["o", "x"], after: "0" },
  ]);
  assert.deepEqual(diffJson('{"o":{"a":1,"b":2,"c":3}}', '{"o":{"c":3,"a":1}}'), [
    reordered,
    { kind: "removed", path: ["o", "b"], before: "2" },
  ]);
});

test("an element put in or taken out does not change those behind it", () => {
  assert.deepEqual(diffJson("[1,2,3,4]", "[1,9,2,3,4]"), [
    { kind: "added", path: [1], after: "9" },
  ]);
  assert.deepEqual(diffJson('[{"a":1},{"b":2},{"c":3}]', '[{"a":1},{"c":3}]'), [
    { kind: "removed", path: [1], before: '{"b":2}' },
  ]);
  assert.deepEqual(diffJson("[1,1]", "[1]"), [{ kind: "removed", path: [1], before: "1" }]);
  assert.deepEqual(diffJson("[0,[1,2],5,9]", "[0,[1,3],9]"), [
    { kind: "changed", path: [1, 1], before: "2", after: "3" },
    { kind: "removed", path: [2], before: "5" },
  ]);
});

const nested = (depth: number, open: string, inside: string, close: string) =>
  open.repeat(depth) + inside + close.repeat(depth);
const numbers = (length: number, first: number) =>
  Array.from({ length }, (_, index) => first + index).join(",");

/** By their size, which is the number of elements; the depth grows with it. */
const hostilePairs: Record<string, (size: number) => [string, string]> = {
  "all elements differ": (size) => [`[${numbers(size, 0)}]`, `[${numbers(size, 1_000_000)}]`],
  "one element more at the start": (size) => [`[${numbers(size, 0)}]`, `[-1,${numbers(size, 0)}]`],
  "one element more at the start, all others differ": (size) => [
    `[${numbers(size, 0)}]`,
    `[-1,${numbers(size, 1_000_000)}]`,
  ],
  "a difference at the end of the innermost array": (size) => [
    nested(depthOf(size), "[", `[${numbers(size, 0)},1]`, "]"),
    nested(depthOf(size), "[", `[${numbers(size, 0)},2]`, "]"),
  ],
  "the same, and lengths differ at every level": (size) => [
    nested(depthOf(size), "[", `[${numbers(size, 0)},1]`, "]"),
    nested(depthOf(size), "[", `[${numbers(size, 0)},2]`, ",0]"),
  ],
  "the same from the other side": (size) => [
    nested(depthOf(size), "[", `[${numbers(size, 0)},1]`, "]"),
    nested(depthOf(size), "[0,", `[${numbers(size, 0)},2]`, "]"),
  ],
  "a partner at every level that is the same but for its end": (size) => [
    nested(depthOf(size), "[", `[${numbers(size, 0)},1]`, "]"),
    nested(depthOf(size), "[", `[${numbers(size, 0)},2]`, `,[${numbers(size / 8, 0)}]]`),
  ],
  "a long string with escapes beside short ones": (size) => [
    nested(depthOf(size), "[", `"${"\\u0061".repeat(size)}"`, "]"),
    nested(depthOf(size), "[", `"${"\\u0061".repeat(size)}b"`, ',"\\u0061"]'),
  ],
  "space in front of everything": (size) => [
    nested(depthOf(size), `[${" ".repeat(size / 8)}`, "1", "]"),
    nested(depthOf(size), "[", "2", ",0]"),
  ],
  "members with other keys": (size) => [
    `{${numbers(size, 0).replaceAll(/\d+/g, '"$&":1')}}`,
    `{${numbers(size, size / 2).replaceAll(/\d+/g, '"$&":1')}}`,
  ],
};
const pairSize = 2 ** 14;
const depthOf = (size: number) => (120 * size) / pairSize;

for (const [name, pairOf] of Object.entries(hostilePairs)) {
  test(`hostile pairs take time by their length alone: ${name}`, () => {
    const [before, after] = pairOf(pairSize);
    assert.ok(diffJson(before, after).length > 0);
    assert.ok(!isSameJson(before, after));
    assertLinear(pairSize, pairOf, ([one, other]) => {
      diffJson(one, other);
      isSameJson(one, other);
    });
  });
}
