// What a new migration must say and may not do, so that it runs beside the work of nodes of this version and the one before.
// CONTRIBUTING.md says how to write one. Those up to 0032 are older than these rules.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type Migration,
  migrationsFolder,
  numberOf,
  readMigrations,
  toMigration,
} from "../src/database/migration-files.ts";

const firstUnderRules = "0033";
const all = await readMigrations(migrationsFolder);
const ruled = all.filter(({ name }) => numberOf(name) >= firstUnderRules);

/** One is all that PostgreSQL runs outside a transaction in one go, and each of these may be repeated. */
const outsideForm =
  /^(?:--[^\n]*\n)+(?:create (?:unique )?index concurrently if not exists [a-z0-9_]+|drop index concurrently if exists [a-z0-9_]+)[^;]*;\n$/;

function flawsOf({ name, sql, worksBeside, hasTransaction, index }: Migration): string[] {
  const flaws: string[] = [];
  const [why = ""] = sql.split("\n");
  if (!/^-- (?!works beside|without)\S/.test(why)) flaws.push("its first line says why");
  if (!/^-- works beside: (?:[0-9]{4}|none)$/m.test(sql))
    flaws.push("it says what it works beside");
  else if (/^-- works beside: none$/m.test(sql) !== (worksBeside === null)) {
    flaws.push("it says what it works beside in its first comment");
  }
  if (worksBeside !== null && worksBeside >= numberOf(name)) {
    flaws.push("it names an older migration, or none");
  }
  if (/^-- *without/im.test(sql) && hasTransaction) flaws.push("its first comment marks it");
  if (!hasTransaction && !outsideForm.test(sql)) {
    flaws.push("without a transaction it is one index that is built or dropped concurrently");
  }
  if (/^create/m.test(sql) && !hasTransaction && index === null) flaws.push("its index is known");
  return flaws;
}

test("the migrations from before the rules say nothing of other programs, so none of those runs beside them", () => {
  const older = all.filter(({ name }) => numberOf(name) < firstUnderRules);
  assert.equal(older.length, 32);
  for (const { name, worksBeside, hasTransaction } of older) {
    assert.deepEqual(
      { worksBeside, hasTransaction },
      { worksBeside: null, hasTransaction: true },
      name,
    );
  }
});

test("each new migration says which older programs work beside it", () => {
  assert.ok(ruled.length > 0);
  for (const migration of ruled) assert.deepEqual(flawsOf(migration), [], migration.name);
});

test("a migration that says too little is noticed", () => {
  const flaws = (sql: string) => flawsOf(toMigration("0040_made_up.sql", sql)).length;
  const column = "alter table approvals add column made_up text;\n";
  const index = "create index concurrently if not exists made_up on approvals (id);\n";
  assert.equal(flaws(`-- Why.\n-- works beside: 0033\n${column}`), 0);
  assert.equal(flaws(`-- Why.\n-- works beside: none\n${column}`), 0);
  assert.equal(flaws(`-- Why.\n-- works beside: 0033\n-- without a transaction\n${index}`), 0);
  for (const refused of [
    column,
    `-- Why.\n${column}`,
    `-- works beside: 0033\n${column}`,
    `-- Why.\n-- works beside: 0040\n${column}`,
    `-- Why.\n-- works beside: 33\n${column}`,
    `-- Why.\n${column}-- works beside: 0033\n`,
    `-- Why.\n-- works beside: 0033\n-- Without a transaction.\n${index}`,
    `-- Why.\n-- works beside: 0033\n-- without a transaction\n${index}${index}`,
    `-- Why.\n-- works beside: 0033\n-- without a transaction\n${column}`,
    `-- Why.\n-- works beside: 0033\n-- without a transaction\n${index.replace(" if not exists", "")}`,
  ]) {
    assert.notEqual(flaws(refused), 0, refused);
  }
});

const squawk = join(
  import.meta.dirname,
  ...["..", "..", "scripts", "squawk", "node_modules", "@squawk-cli"],
  ...[`${process.platform}-${process.arch}`, "bin", "squawk"],
);
const canLint = existsSync(squawk) && spawnSync(squawk, ["--version"]).status === 0;
const skip = canLint
  ? false
  : "squawk is not installed here; scripts/squawk says for which platforms it is";

/** The migrator sets both limits and gives each file its transaction. Which integer is large enough, the table knows. */
const notAsked = [
  ...["require-lock-timeout", "require-statement-timeout"],
  ...["prefer-bigint-over-int", "prefer-bigint-over-smallint"],
];

function complaintsAbout(sql: string): string[] {
  const { hasTransaction } = toMigration("0040_made_up.sql", sql);
  const { stdout } = spawnSync(
    squawk,
    [
      ...(hasTransaction ? ["--assume-in-transaction"] : []),
      ...["--pg-version=14", "--reporter=json", "--stdin-filepath=migration.sql"],
      ...notAsked.map((rule) => `--exclude=${rule}`),
    ],
    { input: sql, encoding: "utf8" },
  );
  const found: { rule_name: string; line: number; message: string }[] = JSON.parse(stdout);
  return found.map(({ rule_name: rule, line, message }) => `${rule} (${line + 1}): ${message}`);
}

test("squawk finds nothing in a new migration that would hold up calls or break an older program", {
  skip,
}, () => {
  for (const { name, sql } of ruled) assert.deepEqual(complaintsAbout(sql), [], name);
});

test("squawk finds what holds up calls or breaks an older program", { skip }, () => {
  const statements = {
    "require-concurrent-index-creation": "create index made_up on approvals (id);",
    "require-concurrent-index-deletion": "drop index if exists approvals_search;",
    "adding-required-field": "alter table approvals add column made_up text not null;",
    "adding-not-nullable-field": "alter table approvals alter column edit set not null;",
    "changing-column-type": "alter table approvals alter column status type text;",
    "constraint-missing-not-valid":
      "alter table approvals add constraint made_up check (status <> 'x');",
    "adding-foreign-key-constraint":
      "alter table approvals add constraint made_up foreign key (id) references endpoints (id);",
    "disallowed-unique-constraint":
      "alter table approvals add constraint made_up unique (id, status);",
    "ban-drop-column": "alter table approvals drop column edit;",
    "ban-drop-table": "drop table if exists approvals;",
    "renaming-column": "alter table approvals rename column edit to changed;",
    "renaming-table": "alter table approvals rename to requests;",
  };
  for (const [rule, statement] of Object.entries(statements)) {
    const commented = `-- Why.\n/* -- squawk-ignore */ ${statement}\n`;
    assert.ok(
      complaintsAbout(commented).some((complaint) => complaint.startsWith(`${rule} `)),
      `${rule}: ${complaintsAbout(commented).join("\n")}`,
    );
  }
  const ours = Object.values(statements)[0];
  assert.deepEqual(
    complaintsAbout(`-- squawk-ignore require-concurrent-index-creation\n${ours}\n`),
    [],
  );
});
