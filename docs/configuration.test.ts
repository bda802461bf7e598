// Holds the operator's table of variables to those that the service reads.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { variables } from "../server/src/config.ts";

test("every variable of the service stands in the operator's table, and no other", () => {
  const page = readFileSync(join(import.meta.dirname, "operating.md"), "utf8");
  const [table = ""] = /^\| variable [\s\S]*?\n\n/m.exec(page) ?? [];
  const told = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, names = ""]) =>
    names.split(", ").map((name) => name.replaceAll("`", "")),
  );
  const read = variables.flatMap(([names]) => names.split(", "));
  assert.deepEqual(told.toSorted(), read.toSorted());
});
