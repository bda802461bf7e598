import assert from "node:assert/strict";
import { test } from "node:test";
import { hiddenMarksOf, longRunCharacters, longRunsOf } from "./hidden-marks.ts";

function marksOf(line: string, window: Partial<Parameters<typeof hiddenMarksOf>[1]> = {}) {
  return hiddenMarksOf(line, { from: 0, to: line.length, isLastLine: false, ...window });
}

function labelsOf(line: string): string[] {
  return marksOf(line).map(({ from, to, label }) => `${from}-${to} ${label}`);
}

test("each hidden character has a mark at its place", () => {
  assert.deepEqual(labelsOf('"invoice_\u202efdp.exe"'), ["9-10 U+202E RLO"]);
  assert.deepEqual(labelsOf('"pay\u200bpal.com", "\u3164"'), [
    "4-5 U+200B ZWSP",
    "16-17 U+3164 HANGUL FILLER",
  ]);
  assert.deepEqual(labelsOf('"a\u2028b"'), ["2-3 U+2028 LINE SEPARATOR"]);
  assert.deepEqual(labelsOf('"\ud800"'), ["1-2 U+D800"]);
});

test("a run is one mark with its count, also of characters that take two units", () => {
  assert.deepEqual(labelsOf('"\u200b\u200b\u200b"'), ["1-4 U+200B ZWSP ×3"]);
  assert.deepEqual(labelsOf(`"${"\u{e0041}".repeat(4)}"`), ["1-9 U+E0041 TAG A ×4"]);
});

test("ordinary text has no mark", () => {
  for (const text of ["naïve", "日本Corp", "שלום", "👨‍👩‍👧‍👦", "❤️", "a\tb", "        x"]) {
    assert.deepEqual(labelsOf(`"${text}"`), [], text);
  }
});

test("long white space is counted, except what indents the line", () => {
  assert.deepEqual(labelsOf(`"a${" ".repeat(500)}b"`), ["2-502 500 spaces"]);
  assert.deepEqual(labelsOf(`${" ".repeat(40)}"a": 1`), []);
  assert.deepEqual(labelsOf(`${" ".repeat(400)}"a": 1`), ["0-400 400 spaces"]);
});

test("a carriage return is quiet only where it ends a line together with a line feed", () => {
  const kindsOf = (line: string, isLastLine: boolean) =>
    marksOf(line, { isLastLine }).map(({ kind }) => kind);
  assert.deepEqual(kindsOf('"a": 1,\r', false), ["lineEnd"]);
  assert.deepEqual(kindsOf('"a": 1,\r', true), ["hidden"]);
  assert.deepEqual(kindsOf('"a":\r1,\r', false), ["hidden", "lineEnd"]);
  assert.deepEqual(kindsOf('"a": 1,\r\r', false), ["hidden"]);
});

test("a window shows the same marks as the whole line, those outside it left out", () => {
  const part = `x\u200b\u200b${" ".repeat(300)}👨‍👩‍👧‍👦${"\u{e0041}".repeat(90)}\u202e${"שלום".repeat(30)}`;
  const line = part.repeat(4);
  const all = marksOf(line);
  for (let from = 0; from < line.length; from += 7) {
    const to = Math.min(line.length, from + 100);
    const expected = all.filter((mark) => mark.to > from && mark.from < to);
    assert.deepEqual(marksOf(line, { from, to }), expected, `window at ${from}`);
  }
});

test("a word that looks like another is marked, and an escape is no part of a word", () => {
  assert.deepEqual(
    marksOf('"p\u0430ypal"').map(({ from, to, kind }) => ({ from, to, kind })),
    [{ from: 1, to: 7, kind: "word" }],
  );
  assert.deepEqual(labelsOf(String.raw`"https:\/\/example.com\/"`), []);
  assert.deepEqual(labelsOf(String.raw`"one\nПривет\tмир\u0061мир\\мир"`), []);
  const hosts = marksOf(String.raw`"https:\/\/ex\u00e4mple.com\/"`.replace("\\u00e4", "ä"));
  assert.deepEqual(
    hosts.map(({ label, isQuiet }) => ({ label, isQuiet })),
    [{ label: "xn--exmple-cua.com", isQuiet: true }],
  );
  assert.equal(labelsOf('"https://\u0430pple.com/"')[0], "9-18 really xn--pple-43d.com");
});

test("a long run is found whole, whatever its length, and is no mark of a window", () => {
  const longOf = (line: string) => longRunsOf(line).map(({ from, to, label }) => [from, to, label]);
  assert.deepEqual(longOf(`"a${" ".repeat(5000)}b"`), [[2, 5002, "5000 spaces"]]);
  const millions = 5 * 1024 * 1024;
  assert.deepEqual(longOf(`"${" ".repeat(millions)}"`), [[1, millions + 1, `${millions} spaces`]]);
  assert.deepEqual(longOf("\u{e0041}".repeat(2000)), [[0, 4000, "U+E0041 TAG A ×2000"]]);
  assert.deepEqual(longOf("\ud800".repeat(2000)), [[0, 2000, "U+D800 ×2000"]]);
  assert.deepEqual(longOf("a".repeat(5000)), []);
  for (let start = 0; start < 1100; start += 1) {
    const line = `${"x".repeat(start)}${" ".repeat(longRunCharacters)}x${"\u{e0041}".repeat(500)}y`;
    const end = start + longRunCharacters;
    assert.deepEqual(longOf(line), [
      [start, end, "1000 spaces"],
      [end + 1, end + 1001, "U+E0041 TAG A ×500"],
    ]);
  }
  const atLimit = "\u200b".repeat(longRunCharacters);
  assert.deepEqual([marksOf(atLimit).length, longRunsOf(atLimit).length], [0, 1]);
  const belowLimit = atLimit.slice(1);
  assert.deepEqual([marksOf(belowLimit).length, longRunsOf(belowLimit).length], [1, 0]);
});

test("a line of 4 MiB costs no more than its window", () => {
  const lineOf = (repeats: number) => `"${"ab\u200b ".repeat(repeats)}"`;
  const window = { from: 20_000, to: 30_000 };
  const best = { short: Infinity, long: Infinity };
  const lines = { short: lineOf(10_000), long: lineOf(1024 * 1024) };
  // In turns, and the best of each, so that a busy machine slows both or neither.
  for (let round = 0; round < 20; round += 1) {
    for (const name of ["short", "long"] as const) {
      const before = performance.now();
      marksOf(lines[name], window);
      best[name] = Math.min(best[name], performance.now() - before);
    }
  }
  // Read as a whole, the long line would take a hundred times as long as the short one.
  assert.ok(best.long < 20 * best.short, `${best.long} ms against ${best.short} ms`);
});
