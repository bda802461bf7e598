import assert from "node:assert/strict";
import { test } from "node:test";
import { foundMax, marked, type SearchEntry, search } from "./search.ts";

const entries: SearchEntry[] = [
  {
    page: "Webhooks",
    heading: "Webhooks",
    href: "webhooks",
    text: "Every change of state is POSTed to each endpoint, signed.",
  },
  {
    page: "Webhooks",
    heading: "Verify before you believe",
    href: "webhooks#verify-before-you-believe",
    text: "The signature is an HMAC. Compare in constant time. While a secret is being rotated there are two.",
  },
  {
    page: "Operating",
    heading: "Configuration",
    href: "operating#configuration",
    text: "SECRET_KEY protects secrets at rest. WEBHOOK_RETRY_DELAYS are the waits.",
  },
];

function hrefs(typed: string): string[] {
  return search(entries, typed).map(({ entry }) => entry.href);
}

test("any of the words will do, and sections with more of them come first", () => {
  assert.equal(hrefs("secret rest")[0], "operating#configuration");
  assert.deepEqual(hrefs("secret unicorn").toSorted(), [
    "operating#configuration",
    "webhooks#verify-before-you-believe",
  ]);
  assert.deepEqual(hrefs("unicorn"), []);
  assert.deepEqual(hrefs("   "), []);
});

test("words that every question has don't decide what is found", () => {
  assert.deepEqual(hrefs("how do I verify it"), hrefs("verify"));
  assert.deepEqual(hrefs("how"), []);
});

test("the beginning of a word finds it, and so does another form of it", () => {
  assert.equal(hrefs("conf")[0], "operating#configuration");
  assert.equal(hrefs("rotating")[0], "webhooks#verify-before-you-believe");
});

test("one slip in a word is forgiven: a letter too many, too few, another, or two exchanged", () => {
  for (const typed of ["webhoook", "webhok", "webhpok", "wehbook"]) {
    assert.equal(hrefs(typed)[0], "webhooks", typed);
  }
  assert.deepEqual(hrefs("wxbhxxk"), []);
});

test("another name for the same thing finds it", () => {
  assert.equal(hrefs("callback")[0], "webhooks");
  assert.equal(hrefs("authenticate")[0], "webhooks#verify-before-you-believe");
});

test("a word in a heading counts more than one in the text", () => {
  assert.deepEqual(hrefs("webhook")[0], "webhooks");
  assert.equal(hrefs("verify")[0], "webhooks#verify-before-you-believe");
});

test("letters count alike, large or small, and names by their parts", () => {
  assert.equal(hrefs("retry_delays")[0], "operating#configuration");
  assert.equal(hrefs("delays")[0], "operating#configuration");
  assert.equal(hrefs("HmAc")[0], "webhooks#verify-before-you-believe");
});

test("an excerpt shows the match and says where it was cut", () => {
  const long = { ...entries[0], text: `${"word ".repeat(60)}needle${" word".repeat(60)}` };
  const [found] = search([long as SearchEntry], "needle");
  const text = found?.excerpt.map((piece) => piece.text).join("") ?? "";
  assert.match(text, /^… word .*needle.* word …$/);
  assert.deepEqual(
    found?.excerpt.filter(({ isMatch }) => isMatch).map((piece) => piece.text),
    ["needle"],
  );
});

test("marking loses nothing of the text", () => {
  const text = "Secret secrets, SECRET_KEY";
  const pieces = marked(text, ["secret", "secrets"]);
  assert.equal(pieces.map((piece) => piece.text).join(""), text);
  assert.deepEqual(
    pieces.filter(({ isMatch }) => isMatch).map((piece) => piece.text),
    ["Secret", "secrets", "SECRET"],
  );
});

test("no more is listed than one reads", () => {
  const many = Array.from({ length: 40 }, (_, at) => ({ ...entries[0], href: `${at}` }));
  assert.equal(search(many as SearchEntry[], "signed").length, foundMax);
});
