import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../../test/linear-time.ts";
import { unlink } from "./unlinked-text.ts";

test("whatever a mail program would make a link is written so that it does not", () => {
  for (const [text, expected] of [
    ["https://evil.example/x", "https[:]//evil[.]example/x"],
    ["www.evil.com", "www[.]evil[.]com"],
    ["see evil.com, now", "see evil[.]com, now"],
    ["bücher.de", "bücher[.]de"],
    ["例え.中国", "例え[.]中国"],
    ["i❤.ws", "i❤[.]ws"],
    ["a.b.evil.co.uk/path?x=1", "a[.]b[.]evil[.]co[.]uk/path?x=1"],
    ["xn--bcher-kva.xn--p1ai", "xn--bcher-kva[.]xn--p1ai"],
    ["a@b.co", "a[@]b[.]co"],
    ["root@localhost", "root[@]localhost"],
    ["mailto:x tel:+4930 javascript:alert(1)", "mailto[:]x tel[:]+4930 javascript[:]alert(1)"],
    ["JaVaScRiPt:x s3://bucket web+pay1:x", "JaVaScRiPt[:]x s3[:]//bucket web+pay1[:]x"],
    ["1http://evil", "1http[:]//evil"],
    ["http://192.168.0.1/", "http[:]//192[.]168[.]0[.]1/"],
    ["localhost:3000", "localhost[:]3000"],
    ["\\\\server\\share", "[\\\\]server\\share"],
    ["[pay](https://evil.com)", "[pay](https[:]//evil[.]com)"],
  ] as const) {
    assert.equal(unlink(text), expected);
  }
});

test("dots and colons of other scripts are no way around it", () => {
  for (const [text, expected] of [
    ["evil．com", "evil[．]com"],
    ["evil。com", "evil[。]com"],
    ["evil｡com", "evil[｡]com"],
    ["evil﹒com evil․com", "evil[﹒]com evil[․]com"],
    ["ｅｖｉｌ．ｃｏｍ", "ｅｖｉｌ[．]ｃｏｍ"],
    ["http：//x ｈｔｔｐ：／／x", "http[：]//x ｈｔｔｐ[：]／／x"],
    ["a＠b．co", "a[＠]b[．]co"],
  ] as const) {
    assert.equal(unlink(text), expected);
  }
});

test("numbers, versions, times, abbreviations and sentences stay as they are", () => {
  for (const text of [
    "Pay 49.00 EUR, 1,234.56 in all",
    "versions 1.2.3 and v24.21.0",
    "e.g. this, i.e. that, Ph.D. and U.S.A.",
    "Sentence.  Next. And so on...",
    "wait...what",
    "at 12:30 or 2026-11-16T16:11:00Z",
    "ratio 16:9, note: this",
    "thanks @ann",
    "これはテストです。次の文です。",
    "備考：至急",
    '{"amount":49}',
    "שלום. עולם",
    "",
  ]) {
    assert.equal(unlink(text), text);
  }
});

// The patterns that mail programs make links of, and more: any scheme, any name with letters at its end, any address.
const finders = [
  /[\p{L}\p{N}\p{S}_-][.．﹒․](?:\p{L}\p{M}*){2}/u,
  /[a-z0-9][。｡]\p{L}|\p{L}[。｡][a-z]/iu,
  /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,40}[:：]\S/iu,
  /[:：][/／\\]{2}/u,
  /www[.．。｡]\p{L}/iu,
  /(?<![\p{Nd}.])(?:\d{1,3}\.){3}\d{1,3}(?![\p{Nd}.])/u,
  /[\p{L}\p{N}._%+-]+[@＠][\p{L}\p{N}-]/u,
];

const linkish = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 3 }),
      fc.constantFrom(..."..::@/\\?#-_+ [](){}<>\"'．。｡：＠／１a1é日\n"),
      fc.constantFrom(
        "http",
        "https://",
        "www",
        "evil",
        "com",
        "co",
        "uk",
        "127",
        "mailto:",
        "xn--",
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

test("afterwards nothing in it looks like an address to any finder", () => {
  fc.assert(
    fc.property(linkish, (text) => {
      for (const finder of finders) assert.doesNotMatch(unlink(text), finder);
    }),
    {
      numRuns: 5000,
      examples: [["１xn--:!"], ["\u03b1\u0345｡http"], ["\u017f：!"], ["一｡\u212a"]],
    },
  );
});

test("only brackets are added, and a second time changes nothing", () => {
  fc.assert(
    fc.property(linkish, (text) => {
      const unlinked = unlink(text);
      const brackets = /[[\]]/g;
      assert.equal(unlinked.replaceAll(brackets, ""), text.replaceAll(brackets, ""));
      assert.equal(unlink(unlinked), unlinked);
    }),
    { numRuns: 2000 },
  );
});

test("a text takes time by its length alone, whatever is in it", () => {
  for (const piece of ["plain text. ", "a-", "a.", "1.", `${"x".repeat(63)}.`, ":", "@", "a1:"]) {
    assertLinear(2 ** 18, (size) => piece.repeat(size / piece.length), unlink, piece);
  }
});
