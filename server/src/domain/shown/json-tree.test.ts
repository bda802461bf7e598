import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear, assertRatio } from "../../../test/linear-time.ts";
import { randomJsonText as jsonText } from "../../../test/random-json.ts";
import { scanJsonValue } from "./json-text.ts";
import {
  countValues,
  entriesOf,
  formatJson,
  formatPath,
  type JsonNode,
  type JsonPath,
  nodeAt,
  replaceNode,
  rootOf,
  stringOf,
  textOf,
} from "./json-tree.ts";

/** Every node of a text with its path, outermost first. */
function nodesOf(text: string): { path: JsonPath; node: JsonNode }[] {
  const visit = (path: JsonPath, node: JsonNode): { path: JsonPath; node: JsonNode }[] => [
    { path, node },
    ...entriesOf(text, node).flatMap((entry) => visit([...path, entry.step], entry.node)),
  ];
  return visit([], rootOf(text));
}

/** White space outside of strings taken out, without the help of the code that is tested. */
function withoutSpace(text: string): string {
  return text.replaceAll(/("(?:\\.|[^"\\])*")|[ \t\n\r]+/g, "$1");
}

const spaced = fc
  .tuple(jsonText, fc.stringMatching(/^[ \t\n\r]{0,3}$/))
  .map(([text, space]) => `${space}${text}${space}`);

test("every node is exactly the text of a value of its kind", () => {
  fc.assert(
    fc.property(spaced, (text) => {
      for (const { node } of nodesOf(text)) {
        const value: unknown = JSON.parse(textOf(text, node));
        const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
        assert.equal(node.kind, kind);
        if (node.kind === "string") assert.equal(stringOf(text, node), value);
        assert.equal(textOf(text, node), textOf(text, node).trim());
      }
    }),
    { numRuns: 500 },
  );
});

test("children come in the order of the text, each with its key as it is written", () => {
  const text = ' { "b" : 1 , "2":[ ] ,"1":"x", "__proto__": {"\\u0061":null} }';
  const entries = entriesOf(text, rootOf(text));
  assert.deepEqual(
    entries.map(({ step, keyStart, keyEnd, node }) => [
      step,
      text.slice(keyStart, keyEnd),
      textOf(text, node),
    ]),
    [
      ["b", '"b"', "1"],
      ["2", '"2"', "[ ]"],
      ["1", '"1"', '"x"'],
      ["__proto__", '"__proto__"', '{"\\u0061":null}'],
    ],
  );
  const inner = nodeAt(text, ["__proto__", "a"]);
  assert.equal(inner && textOf(text, inner), "null");
});

test("elements have their index, and their key's range is empty", () => {
  const text = '[1, "]" ,[2,[3]],{}]';
  const entries = entriesOf(text, rootOf(text));
  assert.deepEqual(
    entries.map(({ step, node }) => [step, textOf(text, node)]),
    [
      [0, "1"],
      [1, '"]"'],
      [2, "[2,[3]]"],
      [3, "{}"],
    ],
  );
  for (const { keyStart, keyEnd, node } of entries) {
    assert.deepEqual([keyStart, keyEnd], [node.start, node.start]);
  }
});

test("scalars and empty containers have no children", () => {
  for (const text of ["1", "-0.5e+7", '"[1]"', "null", "true", "{}", "[ \n ]", " { } "]) {
    assert.deepEqual(entriesOf(text, rootOf(text)), [], text);
    assert.equal(countValues(text, rootOf(text)), 0, text);
  }
});

test("a path leads to its node, and a path that the text does not have leads nowhere", () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      for (const { path, node } of nodesOf(text)) assert.deepEqual(nodeAt(text, path), node);
    }),
    { numRuns: 200 },
  );
  const text = '{"a":[1],"0":2}';
  for (const path of [["b"], [0], ["a", 1], ["a", "0"], ["a", 0, "x"], ["a", -1], ["a", 0.5]]) {
    assert.equal(nodeAt(text, path), null, JSON.stringify(path));
  }
});

test("a count of values is the number of nodes inside", () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const inside = ({ start, end }: JsonNode) =>
        nodesOf(text).filter(({ node }) => node.start > start && node.end < end).length;
      for (const { node } of nodesOf(text)) assert.equal(countValues(text, node), inside(node));
    }),
    { numRuns: 200 },
  );
});

test("to replace a node changes nothing around it", () => {
  fc.assert(
    fc.property(jsonText, fc.nat(), (text, pick) => {
      const nodes = nodesOf(text);
      const chosen = nodes[pick % nodes.length];
      assert.ok(chosen);
      const { node, path } = chosen;
      const edited = replaceNode(text, node, "9007199254740995");
      assert.ok(edited.startsWith(text.slice(0, node.start)));
      assert.ok(edited.endsWith(text.slice(node.end)));
      const there = nodeAt(edited, path);
      assert.equal(there && textOf(edited, there), "9007199254740995");
    }),
    { numRuns: 500 },
  );
});

test("paths are written as the scanner writes them, and never cut", () => {
  for (const [path, expected] of [
    [[], ""],
    [["items", 3, "id"], "items[3].id"],
    [["odd key", "x"], '["odd key"].x'],
    [[0, "a", ""], '[0].a[""]'],
    [["__proto__", "1"], '__proto__["1"]'],
    [["k".repeat(300)], `["${"k".repeat(300)}"]`],
  ] as const) {
    assert.equal(formatPath(path), expected);
  }
  const repeated = scanJsonValue('{"a":[{"x y":{"z":1,"z":2}}]}');
  const path = formatPath(["a", 0, "x y", "z"]);
  assert.equal(repeated.kind === "valid" && repeated.flaw?.path, path);
});

test("formatting changes white space alone, and a second time nothing", () => {
  fc.assert(
    fc.property(spaced, (text) => {
      const formatted = formatJson(text);
      assert.equal(withoutSpace(formatted), withoutSpace(text));
      assert.equal(formatJson(formatted), formatted);
    }),
    { numRuns: 500 },
  );
});

test("a formatted text has the shape that people know", () => {
  const text = '{"a":[1.0,{"b":-0}],"2" : { },"c": [ ],"d":"x: {,"}';
  assert.equal(
    formatJson(text),
    `{
  "a": [
    1.0,
    {
      "b": -0
    }
  ],
  "2": {},
  "c": [],
  "d": "x: {,"
}`,
  );
  for (const value of [[[], {}], { a: { b: [1, "two", null] } }, "x", []]) {
    assert.equal(formatJson(JSON.stringify(value)), JSON.stringify(value, null, 2));
  }
});

test("the escapes of a string never hide its end", () => {
  for (const string of ['"', "\\", '\\"', "a\\\\", '"]}', '\\\\"\\']) {
    const text = JSON.stringify([string, 1]);
    assert.deepEqual(
      entriesOf(text, rootOf(text)).map(({ node }) => textOf(text, node)),
      [JSON.stringify(string), "1"],
    );
  }
});

test("a text that is no JSON is read to an end nevertheless", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[[\]{}",:\\a1 ]{0,20}$/), (text) => {
      for (const read of [
        () => entriesOf(text, rootOf(text)),
        () => countValues(text, rootOf(text)),
        () => formatJson(text),
        () => nodeAt(text, ["a", 0]),
      ]) {
        try {
          read();
        } catch (error) {
          assert.ok(error instanceof SyntaxError); // a string that has no meaning
        }
      }
    }),
    { numRuns: 2000 },
  );
});

/** Of some bytes for each of its size, with a small value in front. */
function largeText(size: number): string {
  const numbers = `[${"1,".repeat(size)}1]`;
  const deep = `${"[".repeat(100)}${"1,".repeat(size / 2)}1${"]".repeat(100)}`;
  return `{"small":{"a":[1]},"numbers":${numbers},"deep":${deep},"quotes":"${'\\"'.repeat(size)}"}`;
}

test("values are counted, read and laid out in time by their length alone", () => {
  const size = 2 ** 16;
  const text = largeText(size);
  assert.equal(countValues(text, rootOf(text)), 6 + (size + 1) + 99 + (size / 2 + 1));
  assertLinear(size, largeText, (each) => countValues(each, rootOf(each)), "countValues");
  assertLinear(size, largeText, (each) => entriesOf(each, rootOf(each)), "entriesOf");
  const numbersOf = (length: number) => `[${"1,".repeat(length)}1]`;
  assertLinear(size, numbersOf, (each) => entriesOf(each, rootOf(each)), "entriesOf numbers");
  assertLinear(size, largeText, formatJson, "formatJson");
});

test("a small piece of a large text is read without the rest", () => {
  const [short, long] = [largeText(8), largeText(2 ** 16)];
  const readSmall = (text: string) => {
    const small = nodeAt(text, ["small"]);
    assert.ok(small);
    return () => {
      for (let times = 0; times < 1_000; times += 1) entriesOf(text, small);
    };
  };
  // To read the rest as well would take thousands of times as long.
  assertRatio(20, readSmall(short), readSmall(long));
});
