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
  "5 kΩ, 10kΩ, 3 μm, 20μg, ΔT, Ωm, 5 µm",
  "α-beta, IT-отдел, e-почта, 1С",
  "https://example.com/straße, info@example.com, (@мария), @мария",
  "https://юзер:пароль@example.com/",
  "Jörg.mueller@firma.de",
  "слово.Слово и сбербанк.рф, e.g.это",
  "Straße.Dann ging es weiter.Über uns",
  "отчёт.docx, 报告.pdf, Übersicht_2026.xlsx",
  "你好。世界。Done。请访问example.com，谢谢",
  "→example.com",
  "€49.00/month, £5.50",
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
    ["\uFFFC\u{1D159}", "[U+FFFC OBJECT REPLACEMENT][U+1D159 NULL NOTEHEAD]"],
    ["\u{13441}\u{13442}", "[U+13441 HIEROGLYPH FULL BLANK][U+13442 HIEROGLYPH HALF BLANK]"],
    ["a\u{16FE4}\u{16FE4}b", "a[U+16FE4 KHITAN FILLER ×2]b"],
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

test("a word that mixes Latin, Cyrillic or Greek is marked, and only that word", () => {
  for (const [text, expected] of [
    ["p\u0430ypal", "p\u0430ypal[mixes Latin and Cyrillic]"],
    ["to Tesc\u03BF, now", "to Tesc\u03BF[mixes Latin and Greek], now"],
    ["\u0391lpha-beta", "\u0391lpha[mixes Latin and Greek]-beta"],
    ["is_\u0430_user", "is_\u0430_user[mixes Latin and Cyrillic]"],
    ["\u0430\u03B3", "\u0430\u03B3[mixes Cyrillic and Greek]"],
    ["a\u0430\u03B3", "a\u0430\u03B3[mixes Latin, Cyrillic and Greek]"],
    ["p\u0430ypal.pdf", "p\u0430ypal[mixes Latin and Cyrillic].pdf"],
    ["s\u03BCm kilo\u03A9", "s\u03BCm[mixes Latin and Greek] kilo\u03A9[mixes Latin and Greek]"],
    ["p\u0430y\u200Bpal", "p\u0430y[mixes Latin and Cyrillic][U+200B ZWSP]pal"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  assert.deepEqual(segmentsOf("to p\u0430ypal, now"), [
    { kind: "text", text: "to " },
    {
      kind: "marked",
      text: "p\u0430ypal",
      mark: { kind: "lookAlike", reads: null, scripts: "Latin and Cyrillic", count: 1 },
      isQuiet: false,
    },
    { kind: "text", text: ", now" },
  ]);
});

test("a host beyond ASCII shows what it is called on the wire, wherever a host can stand", () => {
  for (const [text, expected] of [
    ["https://аррӏе.com/login", "https://аррӏе.com[really xn--80ak6aa92e.com]/login"],
    ["http:\\\\аррӏе.com\\x", "http:\\\\аррӏе.com[really xn--80ak6aa92e.com]\\x"],
    ["x https://a:b@пример.рф:80/", "x https://a:b@пример.рф[really xn--e1afmkfd.xn--p1ai]:80/"],
    [
      '{"a":"https://пример.рф","b":"a@b.c"}',
      '{"a":"https://пример.рф[really xn--e1afmkfd.xn--p1ai]","b":"a@b.c"}',
    ],
    ["https://сайт", "https://сайт[really xn--80aswg]"],
    ["ann@пример.рф, bob@x.de", "ann@пример.рф[really xn--e1afmkfd.xn--p1ai], bob@x.de"],
    ["(info@bücher.de)", "(info@bücher.de[really xn--bcher-kva.de])"],
    ["root@хост.", "root@хост[really xn--n1agdj]."],
    ["раураl.com", "раураl.com[really xn--l-7sba6dbr.com]"],
    ["see bücher.de, now", "see bücher.de[really xn--bcher-kva.de], now"],
    ["例え.com.", "例え.com[really xn--r8jz45g.com]."],
    ["google.сом", "google.сом[really google.xn--l1adi]"],
    ["p\u0430ypal.Com", "p\u0430ypal.Com[really xn--pypal-4ve.com]"],
    ["https://ｐａｙｐａｌ.com", "https://ｐａｙｐａｌ.com[really paypal.com]"],
    ["https://evil。com/", "https://evil。com[really evil.com]/"],
    ["https://i❤️.ws", "https://i❤️.ws[really xn--i-7iq.ws]"],
    [
      "https://google.com\u2044x.evil.com",
      "https://google.com\u2044x.evil.com[really google.xn--comx-2g7a.evil.com]",
    ],
    ["https://пример.рф＞", "https://пример.рф[really xn--e1afmkfd.xn--p1ai]＞"],
    ["https://bücher.de👨‍👩‍👧", "https://bücher.de[really xn--bcher-kva.de]👨‍👩‍👧"],
    ["#️⃣bücher.de", "#️⃣bücher.de[really xn--bcher-kva.de]"],
    ["pay\u200Bпал.com", "pay[U+200B ZWSP]пал.com[really xn--80awk.com]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  assert.deepEqual(segmentsOf("https://bücher.de/"), [
    { kind: "text", text: "https://" },
    {
      kind: "marked",
      text: "bücher.de",
      mark: { kind: "host", ascii: "xn--bcher-kva.de", reads: null },
      isQuiet: false,
    },
    { kind: "text", text: "/" },
  ]);
});

test("no host behind :// or @ is missed that a browser would take for a foreign one", () => {
  const label = fc.stringMatching(/^[a-zаеорѕіα-ωא-ת一-十ü]{1,10}$/u);
  const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
  const around = fc.constantFrom("", " ", "см. ", "(", "слово", "请");
  const before = fc.constantFrom("https://", "x+y://", "ann@", "ftp://u:p@", "https://ü@");
  const after = fc.constantFrom("", "/путь", ":8080", "?q=1", " и", ")", "，谢谢", "\u202E", '"');
  fc.assert(
    fc.property(around, before, host, after, (lead, prefix, name, tail) => {
      fc.pre(/[^a-z.]/.test(name) && URL.canParse(`http://${name}`));
      const found = segmentsOf(`${lead}${prefix}${name}${tail}`);
      const ascii = new URL(`http://${name}`).hostname;
      assert.ok(
        found.some(
          (each) =>
            each.kind === "marked" &&
            each.text === name &&
            each.mark.kind === "host" &&
            each.mark.ascii === ascii,
        ),
        JSON.stringify(found),
      );
    }),
    { numRuns: 1000 },
  );
});

test("a text that was made visible before gets no second chip for the same word", () => {
  for (const text of ["p\u0430ypal and https://bücher.de/x", "\u0391lpha", "a\u200Bp\u0430y"]) {
    assert.equal(toVisibleText(toVisibleText(text)), toVisibleText(text));
  }
});

const nasty = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.constantFrom(
        ...ordinaryTexts,
        ..."\u200B\u200D\uFE0F\u202E\u2800\u3164\uE000\uD83D\uDC68\u20E3\n\t\r #1",
        "👨",
        "p\u0430ypal",
        "https://bücher.de",
        "#️⃣",
        "\u03A9@\u0430.com",
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
      const again = segmentsOf(visible, { isMultiLine });
      assert.ok(again.every(({ kind }) => kind !== "hidden" && kind !== "space"));
      if (again.every(({ kind }) => kind === "text")) {
        assert.equal(toVisibleText(visible, { isMultiLine }), visible);
      }
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
        if ("text" in segment) return segment.text.length;
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
    fc.property(fc.stringMatching(/^[a-zà-ÿא-תぁ-ん ,:;!?-]*$/u), (text) => {
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

test("a long run of what could be words or hosts takes time by its length alone", () => {
  const cyrillic = "\u0430";
  for (const piece of [
    cyrillic,
    `a.${cyrillic}.`,
    "@",
    "://",
    `${cyrillic}@`,
    `://${cyrillic}`,
    `://${cyrillic}:`,
    `：／／${cyrillic}:`,
    `a${cyrillic}`,
    "a@b。",
    "\u2044",
    "слово ",
    ".",
    "a",
  ]) {
    for (const start of ["é ", "a@", "://é"]) {
      const text = start + piece.repeat(2 ** 16 / piece.length);
      const began = performance.now();
      segmentsOf(text, { isMultiLine: true });
      const ms = performance.now() - began;
      // Some hundred times what it takes; what is not linear would take minutes.
      assert.ok(ms < 5_000, `${JSON.stringify(start + piece)} took ${ms} ms`);
    }
  }
});

test("a run of millions is one chip, and no text is too long to be looked at", () => {
  const million = 4 * 1024 * 1024;
  assert.deepEqual(segmentsOf(`a${" ".repeat(million)}b`), [
    { kind: "text", text: "a" },
    { kind: "space", count: million },
    { kind: "text", text: "b" },
  ]);
  const [zeroWidth] = segmentsOf("\u200b".repeat(million));
  assert.deepEqual(zeroWidth, { kind: "hidden", codePoint: 0x200b, name: "ZWSP", count: million });
  for (const run of ["\n", "\t", " \n", "\u{1F3F4}\u{E0067}", "\u{1F468}\u200d", "\u{E0067}"]) {
    const text = run.repeat(million / 16 / run.length);
    assert.ok(segmentsOf(text, { isMultiLine: true }).length > 0);
    assert.ok(segmentsOf(text).length > 0);
  }
});
