import assert from "node:assert/strict";
import { test } from "node:test";
import { firstCommand } from "./first-command.ts";

test("the command reaches the API whichever way its address is written, and lets the shell put the key in", () => {
  for (const apiUrl of [
    "https://x.example/c",
    "https://x.example/c/v1/",
    "https://x.example/c/v1/requests",
  ]) {
    const command = firstCommand({ apiUrl, notify: "ada@x.example" });
    assert.match(command, /^curl 'https:\/\/x\.example\/c\/v1\/requests' /);
    assert.match(command, /-H "Authorization: Bearer \$COUNTERSIGN_API_KEY"/);
  }
});

test("an address with a quotation mark cannot end the text it stands in", () => {
  assert.match(
    firstCommand({ apiUrl: "https://x.example", notify: "o'hara@x.example" }),
    /o'\\''hara/,
  );
});
