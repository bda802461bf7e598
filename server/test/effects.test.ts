// Holds which files may have an effect: the domain is pure, one place opens connections, a function that writes takes a
// transaction, and transactions begin in operations and the worker. Each rule is shown small counterexamples, too.

import { test } from "node:test";
import {
  blanked,
  closureOf,
  declarationsOf,
  type Import,
  importsOf,
  type SourceFile,
  targetOf,
} from "./source-text.ts";
import {
  allows,
  breaks,
  holds,
  isInSdk,
  isTest,
  layerOf,
  serverSource,
  serverSources,
  source,
} from "./source-tree.ts";

test("every connection to the database is of the kind whose loss ends no process", () => {
  holds(opensDatabaseClients);
  breaks(opensDatabaseClients, source("cli/a.ts", "const client = new pg.Client(connection);"));
  breaks(opensDatabaseClients, source("storage/a.ts", "const pool = new pg.Pool(connection);"));
  breaks(opensDatabaseClients, source("storage/a.ts", `import { Client } from "pg";`));
  allows(opensDatabaseClients, source("cli/a.ts", `import type pg from "pg";`));
});

test("the domain is pure: no clock, no random source, no environment, nothing from outside", () => {
  holds(isPureDomain);
  for (const text of [
    `import pg from "pg";`,
    `import { readFileSync } from "node:fs";`,
    `import { randomBytes } from "node:crypto";`,
    `import { createHash, randomUUID as id } from "node:crypto";`,
    `import { webcrypto } from "node:crypto";`,
    `import * as crypto from "node:crypto";`,
    `import crypto from "node:crypto";`,
    `import type { Row } from "../storage/approvals.ts";`,
    "const fs = await import(name);",
    "const now = Date.now();",
    "const now = new Date();",
    "const now = new Date;",
    "const now = Date();",
    "const dice = Math.random();",
    "const now = performance.now();",
    "const id = process.pid;",
    "const id = crypto.randomUUID();",
    "setTimeout(() => {}, 1);",
    "setInterval(() => {}, 1);",
    "setImmediate(() => {});",
    "queueMicrotask(() => {});",
    `const text = \`\${Date.now()}\`;`,
  ]) {
    breaks(isPureDomain, source("domain/a.ts", text));
  }
  for (const text of [
    `import { createHash, timingSafeEqual } from "node:crypto";\nimport { crc32 } from "node:zlib";`,
    `import ipaddr from "ipaddr.js";`,
    `import type { JsonText } from "./json-text.ts";`,
    "const at = new Date(millis);\nconst year = new Date(at).getFullYear();",
    "const text = 'Date.now() and Math.random()'; // new Date()",
  ]) {
    allows(isPureDomain, source("domain/a.ts", text));
  }
  allows(isPureDomain, source("domain/a.test.ts", `import { randomBytes } from "node:crypto";`));
});

test("whatever writes in storage demands a transaction first", () => {
  holds(writesInTransactions);
  const query = (sql: string) => `  await db.query(\`${sql}\`);\n}`;
  const unsafe = "export async function write(db: Queryable): Promise<void> {\n";
  const safe =
    "export async function write(\n  tx: Transaction,\n  id: string,\n): Promise<void> {\n";
  for (const sql of [
    "insert into a (b) values (1)",
    "update a set b = 1",
    "with c as (\n  update a as x\n  set b = 1) select 1",
    "delete from a",
  ]) {
    breaks(writesInTransactions, source("storage/a.ts", unsafe + query(sql)));
    allows(writesInTransactions, source("storage/a.ts", safe + query(sql)));
  }
  const constants = `const columns = "b";\nconst change = \`insert into a (\${columns}) values (1)\`;\n`;
  breaks(
    writesInTransactions,
    source("storage/a.ts", `${constants}${unsafe}  await db.query(change);\n}`),
  );
  breaks(
    writesInTransactions,
    source("storage/a.ts", `${constants}${unsafe}${query(`with c as (\${change}) select 1`)}`),
  );
  const helper = `async function remove(db: Queryable) {\n${query("delete from a")}\n`;
  breaks(writesInTransactions, source("storage/a.ts", `${helper}${unsafe}  await remove(db);\n}`));
  breaks(
    writesInTransactions,
    source(
      "storage/a.ts",
      `${helper}async function write(db: Queryable) { await remove(db); }\nexport { write };`,
    ),
  );
  breaks(
    writesInTransactions,
    source("storage/a.ts", `export const write = (db: Queryable) => db.query("delete from a");`),
  );
  allows(writesInTransactions, source("storage/a.ts", unsafe + query("select a for update")));
  allows(writesInTransactions, source("storage/a.ts", `${helper}${safe}  await remove(tx);\n}`));
  allows(
    writesInTransactions,
    source("storage/a.ts", `${unsafe}  // insert into a\n  await db.query("select 1");\n}`),
  );
});

test("transactions are opened in operations and the worker alone", () => {
  holds(opensTransactionsInOperations);
  const text = `import { inTransaction } from "../database/database.ts";`;
  for (const path of ["http/a.ts", "cli/a.ts", "storage/a.ts", "serve.ts"]) {
    breaks(opensTransactionsInOperations, source(path, text));
    breaks(opensTransactionsInOperations, source(path, "await database.inOneStatement(db);"));
    breaks(
      opensTransactionsInOperations,
      source(path, "await write(db as unknown as Transaction);"),
    );
  }
  breaks(opensTransactionsInOperations, source("operations/a.ts", "write(db as Transaction);"));
  for (const path of ["operations/a.ts", "worker/a.ts", "database/database.ts"]) {
    allows(opensTransactionsInOperations, source(path, text));
  }
});

/** config.ts lets pg read an address, and connects to nothing. */
const clientMakers = ["config.ts", "database/database.ts", "database/database-client.ts"];

function opensDatabaseClients(files: SourceFile[]): string[] {
  const making = /\bnew\s+pg\s*\.\s*(Client|Pool)\b|import\s*\{[^}]*\}\s*from\s*"pg"/;
  return serverSources(files)
    .filter(({ path }) => !isTest(path) && !clientMakers.includes(path.slice(serverSource.length)))
    .filter(({ text }) => making.test(text))
    .map(({ path }) => `${path} opens a connection: only openDatabase and DatabaseClient may`);
}

const impure: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a clock", /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\w\s(]))/],
  ["a clock", /(?<!new\s+)(?<![.\w$])Date\s*\(/],
  ["a clock", /\bperformance\b/],
  ["a random source", /\bMath\s*\.\s*random\b|(?<![.\w$])crypto\s*\./],
  ["the process", /(?<![.\w$])process\s*[.[?]/],
  ["a timer", /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/],
];
const impureCrypto = /^(?:random\w*|webcrypto|getRandomValues|subtle|generate\w*)$/;

function isPureDomain(files: SourceFile[]): string[] {
  return serverSources(files)
    .filter(({ path }) => layerOf(path) === "domain" && !isTest(path))
    .flatMap((file) => [
      ...importsOf(file)
        .filter((each) => !isPureImport(file, each))
        .map(({ specifier }) => `${file.path} imports ${specifier}, which the domain may not`),
      ...impure
        .filter(([, pattern]) => pattern.test(blanked(file).code))
        .map(([what]) => `${file.path} uses ${what}: pass the value in`),
    ]);
}

function isPureImport(file: SourceFile, each: Import): boolean {
  if (["node:zlib", "ipaddr.js"].includes(each.specifier)) return true;
  if (each.specifier === "node:crypto") {
    // Whole-module imports cannot be looked into, so only named ones count as harmless.
    return each.names.length > 0 && !each.names.some((name) => impureCrypto.test(name));
  }
  const target = targetOf(file, each) ?? "";
  // The wire's types say nothing and do nothing; they hold the bodies of webhooks to the contract.
  return layerOf(target) === "domain" || (each.isType && isInSdk(target));
}

const writingSql =
  /\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+(?:only\s+)?[\w."]+(?:\s+(?:as\s+)?\w+)?\s+set\b/i;
/** It works before there is a pool to take a transaction from, on a connection of its own. */
const migrationsFile = `${serverSource}database/migrations.ts`;

function writesInTransactions(files: SourceFile[]): string[] {
  return serverSources(files)
    .filter(
      ({ path }) =>
        ["storage", "database"].includes(layerOf(path) ?? "") && path !== migrationsFile,
    )
    .flatMap((file) => {
      const declarations = declarationsOf(file);
      return declarations
        .filter(({ isExported }) => isExported)
        .filter((declaration) => {
          const used = closureOf(declaration, declarations);
          // A function that only builds a statement, without running it, writes nothing.
          const runs = used.some(({ code }) => /\.\s*query\s*[<(]/.test(code));
          return runs && used.some(({ uncommented }) => writingSql.test(uncommented));
        })
        .filter(({ code }) => !/^[^(]*\(\s*tx: Transaction\b/.test(code))
        .map(({ name }) => `${file.path}: ${name} writes, so it must take tx: Transaction first`);
    });
}

function opensTransactionsInOperations(files: SourceFile[]): string[] {
  const definition = `${serverSource}database/database.ts`;
  return serverSources(files)
    .filter(({ path }) => path !== definition && !isTest(path))
    .flatMap((file) => {
      const { code } = blanked(file);
      const isOpener = ["operations", "worker"].includes(layerOf(file.path) ?? "");
      const opens = !isOpener && /\b(?:inTransaction|inOneStatement)\b/.test(code);
      const forges = /\bas\s+Transaction\b/.test(code);
      return [
        ...(opens ? [`${file.path} opens a transaction: only operations and worker may`] : []),
        ...(forges ? [`${file.path} claims to hold a transaction: only ${definition} may`] : []),
      ];
    });
}
