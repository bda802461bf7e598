// Holds the pages about errors to what the service and the SDK can really say.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const errorsPage = read("docs/errors.md");

const serviceCodes = membersOf(read("sdk/src/contract.ts"), "ErrorCode");
const webhookFlaws = membersOf(read("sdk/src/errors.ts"), "WebhookFlaw");
const sdkCodes = ["errors", "gate", "transport", "wait", "requests", "client"]
  .flatMap((file) => snakeCaseTexts(read(`sdk/src/${file}.ts`)))
  .filter((text) => !serviceCodes.includes(text) && !webhookFlaws.includes(text));

test("the codes are found in the sources, so that nothing holds for want of them", () => {
  assert.ok(serviceCodes.length >= 17 && serviceCodes.includes("unavailable"));
  assert.ok(webhookFlaws.length >= 9 && webhookFlaws.includes("event_mismatch"));
  for (const code of ["approval_expired", "another_action", "not_countersign", "wait_timeout"]) {
    assert.ok(sdkCodes.includes(code), code);
  }
});

test("each code has a place of its own on the page of errors, and no other code has one", () => {
  const explained = [...errorsPage.matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
  const all = [...serviceCodes, ...sdkCodes, "TypeError", ...webhookFlaws];
  assert.deepEqual(explained.toSorted(), [...new Set(all)].toSorted());
});

test("each code of the service stands there with its status, and in the table of the API", () => {
  const statuses = read("server/src/http/frame/problems.ts");
  const table = read("docs/api.md");
  for (const code of serviceCodes) {
    const [, status] = new RegExp(`^  ${code}: (\\d+),$`, "m").exec(statuses) ?? [];
    assert.ok(status, code);
    assert.match(errorsPage, new RegExp(`^### ${code}\\n\\n${status}\\. `, "m"));
    assert.match(table, new RegExp(`^\\| ${status} \\|.*\`${code}\``, "m"));
  }
});

/** The texts of `export type Name = | "a" | "b";`. */
function membersOf(source: string, name: string): string[] {
  const [, union = ""] = new RegExp(`export type ${name} =([^;]+);`).exec(source) ?? [];
  return [...union.matchAll(/"(\w+)"/g)].map(([, member = ""]) => member);
}

function snakeCaseTexts(source: string): string[] {
  return [...source.matchAll(/"([a-z]+(?:_[a-z]+)+)"/g)].map(([, text = ""]) => text);
}
