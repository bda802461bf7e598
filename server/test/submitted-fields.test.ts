// Every field that a caller may submit is documented, offered to models and answered. The compiler holds what it can to
// the table of fields; this is the rest.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createInput, requestOutput } from "../../mcp/src/tool-schemas.ts";
import {
  type SubmittedField,
  storedFields,
  submittedFields,
} from "../src/domain/shown/submitted-fields.ts";

const names = Object.keys(submittedFields);
const fields = Object.entries<SubmittedField>(submittedFields);

test("docs/api.md has a row for each field, in the order of the checks, with its sentence", () => {
  const text = readFileSync(join(import.meta.dirname, "..", "..", "docs", "api.md"), "utf8");
  const [table = ""] = /(?:^\|.*\n)+/m.exec(text) ?? [];
  const rows = table.split("\n").flatMap((line) => {
    const [, name, , meaning] = /^\| `(\w+)` \| (.*) \| (.*) \|$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, meaning: meaning ?? "" }];
  });
  assert.deepEqual(
    rows.map(({ name }) => name),
    names,
  );
  for (const { name, meaning } of rows) {
    const sentence = fields.find(([each]) => each === name)?.[1].sentence ?? name;
    assert.ok(meaning.startsWith(sentence), `${name}: ${meaning}`);
  }
});

/** A model that could name an address would choose where a person's decision is believed, and whom we POST to. */
const notForModels = ["callbackUrl"];

test("models may submit each field but an address, and are told its limits and what was answered", () => {
  const { idempotencyKey, ...offered } = createInput.shape;
  const submittable = names.filter((name) => !notForModels.includes(name));
  assert.deepEqual(Object.keys(offered).sort(), submittable.sort());
  for (const [name, field] of fields.filter(([each]) => submittable.includes(each))) {
    const said = Object.entries(offered).find(([each]) => each === name)?.[1].description ?? "";
    for (const limit of ["charactersMax", "itemsMax", "bytesMax"] as const) {
      const max = limit in field ? (field as Record<string, unknown>)[limit] : undefined;
      if (max !== undefined) assert.ok(said.includes(String(max)), `${name}: ${said}`);
    }
  }
  for (const { name } of storedFields) assert.ok(name in requestOutput.shape, name);
});
