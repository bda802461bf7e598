import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMailbox } from "./mailbox.ts";

test("an address is taken with and without a name", () => {
  for (const [text, name, address] of [
    ["a@b.example", "", "a@b.example"],
    ["<a@b.example>", "", "a@b.example"],
    ["Countersign <a@b.example>", "Countersign", "a@b.example"],
    ["  Prüfstelle Köln  <a@b.example> ", "Prüfstelle Köln", "a@b.example"],
    ['"Doe, Ann" <a@b.example>', "Doe, Ann", "a@b.example"],
    ['"The \\"A\\" Team" <a@b.example>', 'The "A" Team', "a@b.example"],
  ] as const) {
    assert.deepEqual(parseMailbox(text), { name, address }, text);
  }
});

test("everything else is no mailbox", () => {
  for (const text of [
    "",
    "Countersign",
    "Countersign <>",
    "Countersign <a>b@c.example",
    "a@b.example, c@d.example",
    "A <a@b.example>, C <c@d.example>",
    "a@b.example\r\nBcc: c@d.example",
    "A\r\nBcc: <a@b.example>",
    "müller@b.example",
    "A <a@b.example> (comment)",
    `${"x".repeat(101)} <a@b.example>`,
  ]) {
    assert.equal(parseMailbox(text), null, text);
  }
});
