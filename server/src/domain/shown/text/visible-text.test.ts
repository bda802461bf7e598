import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../../../test/linear-time.ts";
import { type Segment, segmentsOf, toTerminalText, toVisibleText } from "./visible-text.ts";

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

test("an invisible character becomes a chip with its number and, if it has one, its short name", () => {
  for (const [text, expected] of [
    ["invoice_\u202Efdp.exe", "invoice_[U+202E RLO]fdp.exe"],
    ["pay\u200Bpal.com", "pay[U+200B ZWSP]pal.com"],
    ["\u3164", "[U+3164 HANGUL FILLER]"],
    ["\u2800\uFFA0\u034F", "[U+2800 BRAILLE BLANK][U+FFA0 HALFWIDTH HANGUL FILLER][U+034F CGJ]"],
    ["\uFFFC\u{1D159}", "[U+FFFC OBJECT REPLACEMENT][U+1D159 NULL NOTEHEAD]"],
    ["\u{13441}\u{13442}", "[U+13441 HIEROGLYPH FULL BLANK][U+13442 HIEROGLYPH HALF BLANK]"],
    ["a\u{16FE4}\u{16FE4}b", "a[U+16FE4 KHITAN FILLER ×2]b"],
    ["\u00A01 000\u00A0", "[U+00A0 NBSP]1 000[U+00A0 NBSP]"],
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
  const lines = { isMultiLine: true };
  assert.equal(toVisibleText("a\r\nb\rc\r\r\n", lines), "a\r\nb[U+000D CR]c[U+000D CR ×2]\n");
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

test("a word that mixes Latin with letters that look like it is marked, and only that word", () => {
  for (const [text, expected] of [
    ["p\u0430ypal", "p\u0430ypal[only looks like paypal]"],
    ["to Tesc\u03BF, now", "to Tesc\u03BF[only looks like Tesco], now"],
    ["\u0391lpha-beta", "\u0391lpha[only looks like Alpha]-beta"],
    ["is_\u0430_user", "is_\u0430_user[only looks like is_a_user]"],
    ["\u0430\u03B3", "\u0430\u03B3[only looks like ay]"],
    ["\u0431\u0436\u03BB", "\u0431\u0436\u03BB[mixes Cyrillic and Greek]"],
    ["p\u0430ypal.pdf", "p\u0430ypal[only looks like paypal].pdf"],
    ["s\u03BCm kilo\u03A9", "s\u03BCm[mixes Latin and Greek] kilo\u03A9[mixes Latin and Greek]"],
    ["p\u0430y\u200Bpal", "p\u0430y[only looks like pay][U+200B ZWSP]pal"],
    ["g\u05E1\u05E1gle", "g\u05E1\u05E1gle[only looks like google]"],
    ["paypa\u05D5", "paypa\u05D5[only looks like paypal]"],
    ["\u13E2aypal", "\u13E2aypal[only looks like Paypal]"],
    ["p\u237Aypal", "p\u237Aypal[only looks like paypal]"],
    ["Привет от p\u0430ypal", "Привет от p\u0430ypal[only looks like paypal]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  assert.deepEqual(segmentsOf("to p\u0430ypal, now"), [
    { kind: "text", text: "to " },
    {
      kind: "marked",
      text: "p\u0430ypal",
      mark: { kind: "lookAlike", reads: "paypal", scripts: "Cyrillic", count: 1 },
      isQuiet: false,
    },
    { kind: "text", text: ", now" },
  ]);
});

test("a word of another alphabet that reads as a plain one is marked, unless the text is in that language", () => {
  for (const [text, expected] of [
    ["\u0441\u043E\u0440", "\u0441\u043E\u0440[only looks like cop]"],
    ["\u0420\u0410\u0423", "\u0420\u0410\u0423[only looks like PAY]"],
    ["\u039F\u03A1\u0395\u039D", "\u039F\u03A1\u0395\u039D[only looks like OPEN]"],
    ["\uA4D1\uA4EE\uA4EC", "\uA4D1\uA4EE\uA4EC[only looks like PAY]"],
    ["p\u0251yp\u0251l", "p\u0251yp\u0251l[only looks like paypal]"],
    ["\u029Foan", "\u029Foan[only looks like loan]"],
    ["\u{1D429}\u{1D41A}\u{1D432}", "\u{1D429}\u{1D41A}\u{1D432}[reads pay]"],
    ["ｐａｙ", "ｐａｙ[reads pay]"],
    ["PAYPA\u2160", "PAYPA\u2160[reads PAYPAI]"],
    ["日本 pａy", "日本 pａy[reads pay]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  for (const text of [
    "сор и хор, а у нас",
    "Ο νόμος",
    "α-beta, 3σ, ρ = 0.4",
    "kapı, ısı, Iğdır",
    "/ɡɑːd/, [ˈwɔːtə]",
    "日本ＡＢＣ１２",
    "Henry Ⅷ, 𝑥 + 𝑦, ①②, 5ℓ, 10 mℓ",
    "x² ½ ™ № º … µm ﬁnd 5 ℃ CO₂ 1ˢᵗ 300 K",
    "בGoogle, וגם API, Google에서, APIを, Googleში",
  ]) {
    assert.equal(toVisibleText(text), text);
  }
});

test("digits of other scripts show what they mean, loudly unless their own script is around them", () => {
  const isQuiet = (text: string) =>
    segmentsOf(text).some((segment) => segment.kind === "marked" && segment.isQuiet);
  for (const [text, expected] of [
    ["৪", "৪[reads 4]"],
    ["Pay ৪০০ now", "Pay ৪০০[reads 400] now"],
    ["1০০", "1০০[reads 100]"],
    ["১,২৫০.০০", "১,২৫০.০০[reads 1,250.00]"],
    ["\u0661\u0662\u066B\u0665", "\u0661\u0662\u066B\u0665[reads 12.5]"],
    ["\u{1D7CF}\u{1D7D8}", "\u{1D7CF}\u{1D7D8}[reads 10]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
    assert.equal(isQuiet(text), false, text);
  }
  assert.equal(toVisibleText("আমি ৪০০ টাকা"), "আমি ৪০০[reads 400] টাকা");
  assert.ok(isQuiet("আমি ৪০০ টাকা"));
  assert.ok(isQuiet("ادفع ١٢٠ دينار"));
  assert.equal(isQuiet("আমি 1০০ টাকা"), false);
});

test("letters among the digits of a number are marked, and codes, units and lists are not", () => {
  for (const [text, number] of [
    ["1O0", "1O0"],
    ["l00.00", "l00.00"],
    ["5,OOO", "5,OOO"],
    ["$1O0", "1O0"],
    ["1O0EUR", "1O0"],
    ["due 2O26-01-01.", "2O26-01-01"],
    ["10.0O", "10.0O"],
    ["O.50", "O.50"],
    ["|00.00", "|00.00"],
    ["1\u041E0", "1\u041E0"],
    ["5,\u041E\u041E\u041E рублей слово", "5,\u041E\u041E\u041E"],
    ["1\u05E10", "1\u05E10"],
    ["5ဝဝ", "5ဝဝ"],
    ["в 1\u041E0\u0420", "1\u041E0\u0420"],
    ["5\u041E", "5\u041E"],
    ["50ဝ", "50ဝ"],
    ["pay 50ဝ EUR", "50ဝ"],
    ["5,ဝဝဝ.00", "5,ဝဝဝ.00"],
    ["5.ဝဝ", "5.ဝဝ"],
    ["1ഠഠ", "1ഠഠ"],
    ["10ଠ", "10ଠ"],
    ["9ዐዐ", "9ዐዐ"],
    ["10ס", "10ס"],
  ] as const) {
    const marked = segmentsOf(text).filter(({ kind }) => kind === "marked");
    assert.deepEqual(
      marked.map((segment) => "text" in segment && segment.text),
      [number],
      text,
    );
  }
  for (const text of [
    "10l, 1.5l, 2l/100 km, 1o, O2, O365, I-95, I90, 0o17, 0x1O, 1|2|3, A1O0, AB-1O0-X",
    "DE89370400440532013000 GB29NWBK60161331926819 b1946ac92492d2347c6235b4d2611184",
    "550e8400-e29b-41d4-a716-446655440000 2026-11-16T17:00:00Z sha256:l0O1l0",
    "1С и 5б в доме",
    "סעיף 10ס בחוק",
    "а/м Х123ОР77, О123ОО77 и д. 12В",
    "в СССР",
    "МТС и КАСКО",
    "အခန်း 50ဝ မှာ",
  ]) {
    assert.deepEqual(segmentsOf(text), [{ kind: "text", text }]);
  }
});

test("signs and forms of digits within a number are marked", () => {
  for (const [text, expected] of [
    ["1\u066C000", "1\u066C[not a plain ,]000"],
    ["1\u066B5", "1\u066B[not a plain .]5"],
    ["1²0", "1²0[reads 120]"],
    ["pay 1₀₀0 now", "pay 1₀₀0[reads 1000] now"],
    ["⑩⓪⓪", "⑩⓪⓪[reads 1000]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  for (const text of ["10², 5 m², x²3, CO₂", "①②③, ⓪①", "1\u066C000 ریال"]) {
    assert.equal(toVisibleText(text), text);
  }
});

test("letters of a code stay letters, and a house number is quiet", () => {
  assert.equal(toVisibleText("Х123ОР77"), "Х123ОР77[only looks like X123OP77]");
  assert.equal(toVisibleText("О123ОО77"), "О123ОО77[only looks like O123OO77]");
  assert.equal(toVisibleText("α СССР"), "α СССР[only looks like CCCP]");
  for (const text of ["5А", "12В"]) assert.equal(toVisibleText(text), text);
  for (const text of ["₹ १२३", "₹१,२३०"]) {
    assert.ok(
      segmentsOf(text).every((one) => one.kind === "text" || ("isQuiet" in one && one.isQuiet)),
    );
  }
});

test("an address that leads elsewhere than it seems says where", () => {
  for (const [text, expected] of [
    ["https://google.com@evil.com/x", "https://google.com@[goes to evil.com]evil.com/x"],
    ["https://google.com:443@evil.com", "https://google.com:443@[goes to evil.com]evil.com"],
    [
      "https://google.com\u2215login@evil.com",
      "https://google.com\u2215login@[goes to evil.com]evil.com",
    ],
    ["https://a@b@evil.com", "https://a@b@[goes to evil.com]evil.com"],
    ["https:\\\\evil.com", "https:\\\\[goes to evil.com]evil.com"],
    ["https:/evil.com", "https:/[goes to evil.com]evil.com"],
    ["https:///evil.com", "https:///[goes to evil.com]evil.com"],
    ["https:evil.com", "https:[goes to evil.com]evil.com"],
    ["https://evil.com\\@google.com", "https://evil.com\\[works as /]@google.com"],
    ["http://3232235777/", "http://3232235777[goes to 192.168.1.1]/"],
    ["http://0x7f.1/", "http://0x7f.1[goes to 127.0.0.1]/"],
    ["xn--80ak6aa92e.com", "xn--80ak6aa92e.com[imitates apple.com]"],
    ["paypal\u2024com", "paypal\u2024[not a plain .]com"],
    ["/etc\u2215passwd", "/etc\u2215[not a plain /]passwd"],
    ["https\uA789//evil.com", "https\uA789[not a plain :]//evil.com"],
    ["1\u201A000", "1\u201A[not a plain ,]000"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  for (const text of [
    "https://user:secret@host.example/db, postgres://app:p.w@db/x, git@github.com:a/b.git",
    "file:///etc/hosts, sqlite:///x.db, C:\\Users\\ann, \\\\server\\share, http://127.0.0.1:80/",
    "1⁄2, 4∶3, «да: нет», 10:30, https: is safer",
  ]) {
    assert.deepEqual(segmentsOf(text), [{ kind: "text", text }]);
  }
});

test("an address that goes on behind a tab or a line break says where it leads", () => {
  const lines = { isMultiLine: true };
  for (const [text, expected] of [
    [
      "https://bank.example\n@evil.com/pay",
      "https://bank.example\n[goes to evil.com]@evil.com/pay",
    ],
    [
      "https://bank.example:443\n\n@evil.com",
      "https://bank.example:443\n\n[goes to evil.com]@evil.com",
    ],
    [
      "https://bank.example\t.evil.com/pay",
      "https://bank.example\t[goes to bank.example.evil.com].evil.com/pay",
    ],
    [
      "https://bank.example\n.evil.com/pay",
      "https://bank.example\n[goes to bank.example.evil.com].evil.com/pay",
    ],
    [
      "to https://bank.exam\tple.evil.com now",
      "to https://bank.exam\t[goes to bank.example.evil.com]ple.evil.com now",
    ],
    [
      "https://bank.example\n:x\n@evil.com/",
      "https://bank.example\n[goes to evil.com]:x\n@evil.com/",
    ],
    ["https://bank.example\r\n@evil.com", "https://bank.example[U+000D CR]\n@evil.com"],
  ] as const) {
    assert.equal(toVisibleText(text, lines), expected);
  }
  for (const text of [
    "See https://example.com\nThanks, Ann",
    "https://example.com\n\nhttps://example.org\n@ann please look",
    "https://example.com/a\n.gitignore and https://example.com.\n... and more",
    "name\turl\tnote\nAnn\thttps://example.com\tpaid\nBob\thttps://example.org\thttps://a.example",
    "https://example.com\n: yes\n",
  ]) {
    assert.deepEqual(segmentsOf(text, lines), [{ kind: "text", text }]);
  }
});

test("piles of marks are counted, and what is struck through is told", () => {
  for (const [text, expected] of [
    ["x\u0300\u0301\u0302\u0303y", "x\u0300\u0301\u0302\u0303[4 marks on one letter]y"],
    [`e${"\u0489\u0301".repeat(9)}`, `e${"\u0489\u0301".repeat(9)}[drawn around]`],
    ["pay 1\u03360\u03360\u0336 now", "pay 1\u03360\u03360\u0336[struck through] now"],
    ["a\u20E0", "a\u20E0[drawn around]"],
    ["\u0301a", "\u0301[1 mark on one letter]a"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  for (const text of [
    "=\u0338 \u2209 1\u20E3",
    "Vie\u0323\u0302t Nam",
    "שָׁלוֹם",
    "مُحَمَّدٌ",
    "ที่นี่ น้ำ",
    "မြွှေ့",
    "རྒྱུད",
  ]) {
    assert.deepEqual(segmentsOf(text), [{ kind: "text", text }]);
  }
});

test("hidden characters that belong where they stand stay as they are, and elsewhere they are chips", () => {
  for (const text of [
    "Bonjour\u00A0! 1\u202F000\u00A0€ «\u00A0oui\u00A0» 10\u2009kg",
    "می\u200Cخواهم",
    "ශ්\u200Dරී ලංකා, ന്\u200D, র\u200D্যাব, क्\u200Dष",
    "日本\u3000語\n\u3000次",
    "one\r\ntwo\r\n",
    "שלום\u200F 12",
    "\uFEFFabc\nd",
    "Ann\u00A0Lee is\u00A0here, S.\u00A012, so\u200A—\u200Ayes, 1\u2007000",
    "1\u00A0250\u202F000,50",
    "il\u00A0est\u00A0là",
    "20\u00A0%",
    "CHF\u00A05",
    "5\u00A0GB",
    "№\u00A07",
    "Voir https://example.com/a\u00A0!",
    "Donau\u00ADdampf\u00ADschiff fahren",
    "葛\u{E0100} ☎\uFE0E",
    "ភាសា\u200Bខ្មែរ",
  ]) {
    const segments = segmentsOf(text, { isMultiLine: true });
    assert.equal(toVisibleText(text, { isMultiLine: true }), text);
    assert.ok(segments.some((segment) => segment.kind === "marked" && segment.isQuiet));
  }
  for (const [text, expected] of [
    ["x\u00A0\u00A0y", "x[U+00A0 NBSP ×2]y"],
    ["x\u00A0 y", "x[U+00A0 NBSP] y"],
    ["evil\u00A0.com", "evil[U+00A0 NBSP].com"],
    ["a\u200Cb", "a[U+200C ZWNJ]b"],
    ["می\u200C", "می[U+200C ZWNJ]"],
    ["क\u200D", "क[U+200D ZWJ]"],
    ["a\u3000b\u3164", "a[U+3000 IDEOGRAPHIC SPACE]b[U+3164 HANGUL FILLER]"],
    ["a\u200Fb", "a[U+200F RLM]b"],
    ["a\uFEFFb", "a[U+FEFF BOM]b"],
    ["pay\u00ADpal", "pay[U+00AD SHY]pal"],
    ["see pay\u00ADpal.com", "see pay[U+00AD SHY]pal.com"],
    ["a\u{E0100}", "a[U+E0100 VS17]"],
    ["a@b.de🏴\uFE0F", "a@b.de🏴[b.xn--de-re72a][U+FE0F VS16]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  for (const [text, expected] of [
    ["\uFEFFabc", "[U+FEFF BOM]abc"],
    ["\uFEFFabc\n", "[U+FEFF BOM]abc\n"],
    ["user\u00A0id", "user[U+00A0 NBSP]id"],
    ["now rm\u00A0-rf /", "now rm[U+00A0 NBSP]-rf /"],
    ["to pay\u00A0pal.com now", "to pay[U+00A0 NBSP]pal.com now"],
    ["to https://pay\u2009pal.com now", "to https://pay[U+2009 THIN SPACE]pal.com now"],
    ["to DE89\u00A03704 now", "to DE89[U+00A0 NBSP]3704 now"],
    ["to DE89\u200A370 now", "to DE89[U+200A HAIR SPACE]370 now"],
    ["1\u200A000", "1[U+200A HAIR SPACE]000"],
    ["1\u00A00000", "1[U+00A0 NBSP]0000"],
    ["a\u00A0:b", "a[U+00A0 NBSP]:b"],
    ["see pay\u00ADpal now", "see pay[U+00AD SHY]pal now"],
    ["शक्\u200Da", "शक्[U+200D ZWJ]a"],
    ["שלום לכולם ab\u200Fcd", "שלום לכולם ab[U+200F RLM]cd"],
    ["１\uFE00", "１[reads 1][U+FE00 VS1]"],
  ] as const) {
    assert.equal(toVisibleText(text, { isMultiLine: true }), expected);
  }
  for (const text of ["می\u200Cخواهم", "\uFEFFamount", "10\u00A0€", "日本\u3000語"]) {
    // In a name of one line and one word, such as a key, none of them is.
    assert.ok(segmentsOf(text).some(({ kind }) => kind === "hidden"));
  }
  const blank = "\r\n".repeat(40);
  assert.equal(toVisibleText(`a${blank}b`, { isMultiLine: true }), "a[80 spaces]b");
});

test("a host beyond ASCII shows what it is called on the wire, wherever a host can stand", () => {
  for (const [text, expected] of [
    ["https://аррӏе.com/login", "https://аррӏе.com[really xn--80ak6aa92e.com]/login"],
    [
      "http:\\\\аррӏе.com\\x",
      "http:\\\\[goes to xn--80ak6aa92e.com]аррӏе.com[really xn--80ak6aa92e.com]\\[works as /]x",
    ],
    ["x https://a:b@пример.рф:80/", "x https://a:b@пример.рф[xn--e1afmkfd.xn--p1ai]:80/"],
    [
      '{"a":"https://пример.рф","b":"a@b.c"}',
      '{"a":"https://пример.рф[xn--e1afmkfd.xn--p1ai]","b":"a@b.c"}',
    ],
    ["https://сайт", "https://сайт[xn--80aswg]"],
    ["ann@пример.рф, bob@x.de", "ann@пример.рф[xn--e1afmkfd.xn--p1ai], bob@x.de"],
    ["(info@bücher.de)", "(info@bücher.de[xn--bcher-kva.de])"],
    ["root@хост.", "root@хост[xn--n1agdj]."],
    ["раураl.com", "раураl.com[really xn--l-7sba6dbr.com]"],
    ["see bücher.de, now", "see bücher.de[xn--bcher-kva.de], now"],
    ["例え.com.", "例え.com[xn--r8jz45g.com]."],
    ["google.сом", "google.сом[really google.xn--l1adi]"],
    ["p\u0430ypal.Com", "p\u0430ypal.Com[really xn--pypal-4ve.com]"],
    ["https://ｐａｙｐａｌ.com", "https://ｐａｙｐａｌ.com[really paypal.com]"],
    ["https://evil。com/", "https://evil。com[really evil.com]/"],
    ["https://i❤️.ws", "https://i❤️.ws[xn--i-7iq.ws]"],
    [
      "https://google.com\u2044x.evil.com",
      "https://google.com\u2044x.evil.com[really google.xn--comx-2g7a.evil.com]",
    ],
    ["https://пример.рф＞", "https://пример.рф[xn--e1afmkfd.xn--p1ai]＞"],
    ["https://bücher.de👨‍👩‍👧", "https://bücher.de[xn--bcher-kva.de]👨‍👩‍👧"],
    ["#️⃣bücher.de", "#️⃣bücher.de[xn--bcher-kva.de]"],
    ["pay\u200Bпал.com", "pay[U+200B ZWSP]пал.com[xn--80awk.com]"],
  ] as const) {
    assert.equal(toVisibleText(text), expected);
  }
  assert.deepEqual(segmentsOf("https://bücher.de/"), [
    { kind: "text", text: "https://" },
    {
      kind: "marked",
      text: "bücher.de",
      mark: { kind: "host", ascii: "xn--bcher-kva.de", reads: null },
      isQuiet: true,
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

/** Without the hidden characters that belong where they stand. */
function shownOf(segment: Segment): string {
  if (segment.kind === "marked" && segment.mark.kind === "harmless") return "";
  return "text" in segment ? segment.text : "";
}

test("after it nothing is hidden any more, and a second time changes nothing", () => {
  fc.assert(
    fc.property(nasty, fc.boolean(), (text, isMultiLine) => {
      const visible = toVisibleText(text, { isMultiLine });
      const again = segmentsOf(visible, { isMultiLine });
      assert.ok(again.every(({ kind }) => kind !== "hidden" && kind !== "space"));
      if (again.every(({ kind }) => kind === "text")) {
        assert.equal(toVisibleText(visible, { isMultiLine }), visible);
      }
      const bare = again
        .map(shownOf)
        .join("")
        .replaceAll(/\p{RGI_Emoji}/gv, "");
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
    fc.property(fc.stringMatching(/^(?:[a-zà-ÿ]+[ ,;!?-]|[א-ת]+[ ,:;!?-]|[ぁ-ん]+)*$/u), (text) => {
      fc.pre(!/ {9}/.test(text));
      assert.equal(toVisibleText(text), text);
    }),
  );
});

test("a text takes time by its length alone, whatever is in it", () => {
  for (const piece of [
    "plain text. ",
    " ",
    "\n",
    "        \n",
    "\u200B\u200C",
    "👨\u200D",
    "1\uFE0F",
    "a\u00ADb",
    "a\u00A0",
    "1\u202F",
    "ש\u200F",
  ]) {
    const textOf = (size: number) => `\u200B${piece.repeat(size / piece.length)}`;
    assertLinear(2 ** 15, textOf, (text) => segmentsOf(text, { isMultiLine: true }), piece);
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
    ":／／",
    "x:／／a",
    "x:／／a:",
    "x:／／a@",
    "://a@",
    "https:／／a",
    "://a\t.",
    "://a\n@b.c",
    "://aaaaaaaa\n@b.c\r\n",
    "\u2044",
    "слово ",
    ".",
    "a",
  ]) {
    for (const start of ["é ", "a@", "://é"]) {
      const textOf = (size: number) => start + piece.repeat(size / piece.length);
      const look = (text: string) => {
        segmentsOf(text, { isMultiLine: true });
        segmentsOf(`${text}@b`, { isMultiLine: true });
      };
      assertLinear(2 ** 13, textOf, look, start + piece);
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

test("a terminal gets no character that could act there, not even one that is harmless on a page", () => {
  for (const text of [
    "a\r\nb",
    "می\u200Cخواهم",
    "\uFEFFa\nb",
    "1\u202F250\u00A0€ de plus",
    "ශ්\u200Dරී",
  ]) {
    const shown = toTerminalText(text, { isMultiLine: true });
    assert.doesNotMatch(shown.replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u, shown);
  }
  assert.equal(toTerminalText("a\r\nb", { isMultiLine: true }), "a[U+000D CR]\nb");
});
