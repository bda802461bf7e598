import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { segmentsOf, toVisibleText } from "./visible-text.ts";

const ordinaryTexts = [
  "naïve",
  "日本Corp",
  "שלום",
  "Pay €49.00 to “Müller & Söhne”, e.g. today…",
  "👨‍👩‍👧‍👦",
  "❤️ 1️⃣ 👍🏽 👩🏽‍💻 🏳️‍🌈",
  "🇩🇪🇫🇷",
  "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "eight spaces        here",
];

test("ordinary text stays as it is, whatever its script", () => {
  for (const text of ordinaryTexts) {
    assert.deepEqual(segmentsOf(text), [{ kind: "text", text }], text);
    assert.equal(toVisibleText(text, { isMultiLine: true }), text);
  }
  assert.deepEqual(segmentsOf(""), []);
});

test("what cannot be seen becomes a chip with its number and, if it has one, its short name", () => {
  for (const [text, expected] of [
    ["invoice_\u202Efdp.exe", "invoice_[U+202E RLO]fdp.exe"],
    ["pay\u200Bpal.com", "pay[U+200B ZWSP]pal.com"],
    ["\u3164", "[U+3164 HANGUL FILLER]"],
    ["\u2800\uFFA0\u034F", "[U+2800 BRAILLE BLANK][U+FFA0 HALFWIDTH HANGUL FILLER][U+034F CGJ]"],
    ["1\u00A0000", "1[U+00A0 NBSP]000"],
    ["a\u3000b\u2028c", "a[U+3000 IDEOGRAPHIC SPACE]b[U+2028 LINE SEPARATOR]c"],
    ["\uFFF9\uFEFF\u00AD", "[U+FFF9 ANNOTATION ANCHOR][U+FEFF BOM][U+00AD SHY]"],
    ["\u{E0041}\u{E0100}\uFE0F", "[U+E0041 TAG A][U+E0100 VS17][U+FE0F VS16]"],
    ["\uE000\u{10FFFF}\u0378", "[U+E000][U+10FFFF][U+0378]"],
    ["a\uD800b", "a[U+D800]b"],
    ["\u0000\u001B", "[U+0000 NUL][U+001B ESC]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
});

test("a run of one hidden character is one chip with a count, and other characters end it", () => {
  assert.deepEqual(segmentsOf("a\u200B\u200B\u200B\u200Cb"), [
    { kind: "text", text: "a" },
    { kind: "hidden", codePoint: 0x200b, name: "ZWSP", count: 3 },
    { kind: "hidden", codePoint: 0x200c, name: "ZWNJ", count: 1 },
    { kind: "text", text: "b" },
  ]);
  assert.equal(toVisibleText("\u{E0041}\u{E0041}"), "[U+E0041 TAG A ×2]");
  assert.equal(toVisibleText("\u200B\u200B\u200B"), "[U+200B ZWSP ×3]");
});

test("a long stretch of white space is one chip, and what follows it stays near", () => {
  assert.equal(toVisibleText(`a${" ".repeat(5000)}b`), "a[5000 spaces]b");
  assert.equal(toVisibleText(`a${" ".repeat(9)}b`), "a[9 spaces]b");
  const lines = { isMultiLine: true };
  assert.equal(toVisibleText(`a${"\n".repeat(40)}b`, lines), "a[40 spaces]b");
  assert.equal(toVisibleText(`a${"\n ".repeat(20)}b`, lines), "a[39 spaces] b");
  assert.equal(toVisibleText("a\n\n  b\tc", lines), "a\n\n  b\tc");
});

test("line breaks and tabs are hidden characters where a text has one line", () => {
  assert.equal(toVisibleText("a\r\nBcc: b\t"), "a[U+000D CR][U+000A LF]Bcc: b[U+0009 TAB]");
  assert.equal(toVisibleText("a\r\nb", { isMultiLine: true }), "a[U+000D CR]\nb");
});

test("joiners and selectors are text only inside an emoji that exists", () => {
  assert.equal(toVisibleText("👨‍👩‍👧\u200D"), "👨‍👩‍👧[U+200D ZWJ]");
  assert.equal(
    toVisibleText("👨\u200D👨\u200D👨\u200D👨"),
    "👨[U+200D ZWJ]👨[U+200D ZWJ]👨[U+200D ZWJ]👨",
  );
  assert.equal(toVisibleText("a\uFE0F 1\uFE0F"), "a[U+FE0F VS16] 1[U+FE0F VS16]");
  assert.equal(toVisibleText("🏴\u{E0061}\u{E007F}"), "🏴[U+E0061 TAG a][U+E007F CANCEL TAG]");
});

const nasty = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.constantFrom(
        ...ordinaryTexts,
        ..."\u200B\u200D\uFE0F\u202E\u2800\u3164\uE000\uD83D\uDC68\u20E3\n\t\r #1",
        "👨",
        "🏴",
        "\u{E0067}",
        " ".repeat(9),
        "\n".repeat(9),
      ),
    ),
  )
  .map((parts) => parts.join(""));

test("after it nothing is hidden any more, and a second time changes nothing", () => {
  fc.assert(
    fc.property(nasty, fc.boolean(), (text, isMultiLine) => {
      const visible = toVisibleText(text, { isMultiLine });
      assert.ok(segmentsOf(visible, { isMultiLine }).every(({ kind }) => kind === "text"));
      assert.equal(toVisibleText(visible, { isMultiLine }), visible);
      const bare = visible.replaceAll(/\p{RGI_Emoji}/gv, "");
      assert.doesNotMatch(bare, /[\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/u);
      assert.doesNotMatch(bare, isMultiLine ? /[^\P{Cc}\n\t]/u : /\p{Cc}/u);
    }),
    { numRuns: 2000 },
  );
});

test("the segments together are the whole text", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const lengths = segmentsOf(text).map((segment) => {
        if (segment.kind === "text") return segment.text.length;
        const width = segment.kind === "hidden" && segment.codePoint > 0xffff ? 2 : 1;
        return width * segment.count;
      });
      assert.equal(
        lengths.reduce((sum, length) => sum + length, 0),
        text.length,
      );
    }),
  );
});

test("text without hidden characters is unchanged", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zà-ÿא-תぁ-ん .,:;!?-]*$/u), (text) => {
      fc.pre(!/ {9}/.test(text));
      assert.equal(toVisibleText(text), text);
    }),
  );
});

test("a mebibyte takes a moment, whatever is in it", () => {
  for (const piece of [
    "plain text. ",
    " ",
    "\n",
    "        \n",
    "\u200B\u200C",
    "👨\u200D",
    "1\uFE0F",
  ]) {
    const text = `\u200B${piece.repeat(2 ** 20 / Buffer.byteLength(piece))}`;
    const start = performance.now();
    segmentsOf(text, { isMultiLine: true });
    const ms = performance.now() - start;
    // Many times what it takes, and far less than what a pattern that backtracks would.
    assert.ok(ms < 3000, `${JSON.stringify(piece)} took ${ms} ms`);
  }
});
