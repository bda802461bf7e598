// Holds the shape that docs and style guide promise: layers, purity, names, and who may write. Each rule is
// a pure function over a list of files, so that it can be shown a small counterexample beside the real tree.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { test } from "node:test";

type SourceFile = { path: string; text: string };
/** Names what is wrong and where, one line for each violation. */
type Rule = (files: SourceFile[]) => string[];

const serverSource = "server/src/";
const root = join(import.meta.dirname, "..", "..");
const tree: SourceFile[] = globSync("{server,web,sdk,mcp}/{src,test}/**/*.{ts,tsx}", { cwd: root })
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

test("the walk finds the sources, so that no rule holds for want of files", () => {
  for (const path of [
    "server/src/main.ts",
    "server/src/domain/approval/approval.ts",
    "sdk/src/contract.ts",
    "mcp/src/tools.ts",
    "web/src/review/main.tsx",
  ]) {
    assert.ok(
      tree.some((file) => file.path === path),
      `${path} was not found`,
    );
  }
  assert.ok(tree.flatMap((file) => importsOf(file)).length > 200);
});

test("imports go down the layers, never up nor to a neighbour", () => {
  holds(keepsLayers);
  breaks(keepsLayers, source("domain/a.ts", `import { x } from "../storage/x.ts";`));
  breaks(keepsLayers, source("domain/a.ts", `import type { X } from "../operations/x.ts";`));
  breaks(keepsLayers, source("storage/a.ts", `export { x } from "../operations/x.ts";`));
  breaks(keepsLayers, source("storage/a.ts", `export * from "../outbound/x.ts";`));
  breaks(keepsLayers, source("database/a.ts", `import { x } from "../storage/x.ts";`));
  breaks(keepsLayers, source("outbound/a.ts", `import "../storage/x.ts";`));
  breaks(keepsLayers, source("operations/a.ts", `import { x } from "../outbound/x.ts";`));
  breaks(keepsLayers, source("operations/a.ts", `const x = await import("../http/x.ts");`));
  breaks(keepsLayers, source("http/a.ts", `import { x } from "../worker/x.ts";`));
  breaks(keepsLayers, source("http/a.ts", `import { x } from "../outbound/x.ts";`));
  breaks(keepsLayers, source("cli/a.ts", `import { x } from "../http/x.ts";`));
  breaks(keepsLayers, source("worker/a.ts", `import type { Config } from "../config.ts";`));
  breaks(keepsLayers, source("storage/a.ts", `import { openLog } from "../log.ts";`));
  breaks(keepsLayers, source("http/a.ts", `import { x } from "../../test/x.ts";`));
  breaks(keepsLayers, source("services/a.ts", ""));
  breaks(keepsLayers, source("another-start.ts", ""));
  allows(keepsLayers, source("serve.ts", `import { x } from "./http/x.ts";`));
  allows(keepsLayers, source("worker/a.ts", `import { x } from "../outbound/x.ts";`));
  allows(keepsLayers, source("domain/a.test.ts", `import { x } from "../../test/x.ts";`));
  allows(keepsLayers, source("domain/a.ts", `// import { x } from "../storage/x.ts";`));
  allows(keepsLayers, source("domain/a.ts", 'const text = `import "../storage/x.ts";`;'));
});

test("the sdk imports nothing, and only http, domain, wire and tests import the sdk, and its types alone", () => {
  holds(keepsSdkApart);
  breaks(keepsSdkApart, {
    path: "sdk/src/a.ts",
    text: `import { createHmac } from "node:crypto";`,
  });
  breaks(keepsSdkApart, { path: "sdk/src/a.ts", text: `import "../../server/src/log.ts";` });
  const type = `import type { X } from "../../../sdk/src/contract.ts";`;
  breaks(keepsSdkApart, source("storage/a.ts", type));
  breaks(keepsSdkApart, source("operations/a.ts", type));
  breaks(keepsSdkApart, source("domain/a.ts", `import { X } from "../../../sdk/src/contract.ts";`));
  breaks(keepsSdkApart, source("http/a.ts", `import { X } from "../../../sdk/src/contract.ts";`));
  breaks(keepsSdkApart, source("cli/a.ts", `import { X } from "@countersign/sdk";`));
  allows(keepsSdkApart, source("http/a.ts", type));
  allows(keepsSdkApart, source("domain/a.ts", type));
  allows(keepsSdkApart, source("domain/a.test.ts", type));
  allows(keepsSdkApart, { path: "sdk/src/a.ts", text: `import { b } from "./b.ts";` });
});

test("the tools see the sdk alone, and only their own route sees the tools", () => {
  holds(keepsMcpApart);
  const tool = (text: string) => ({ path: "mcp/src/a.ts", text });
  breaks(keepsMcpApart, tool(`import { x } from "../../server/src/domain/limits.ts";`));
  breaks(keepsMcpApart, tool(`import type { X } from "../../server/src/http/frame/call.ts";`));
  breaks(keepsMcpApart, tool(`import { call } from "../../sdk/src/transport.ts";`));
  breaks(keepsMcpApart, tool(`import { readFile } from "node:fs/promises";`));
  breaks(keepsMcpApart, tool(`import fastify from "fastify";`));
  const lazily = `const x = await import("../../../../mcp/src/web-handler.ts");`;
  breaks(keepsMcpApart, source("http/api/a.ts", lazily));
  breaks(keepsMcpApart, source("serve.ts", `import { x } from "../../mcp/src/tools.ts";`));
  const eagerly = `import { x } from "../../../../mcp/src/web-handler.ts";`;
  breaks(keepsMcpApart, source("http/api/mcp.ts", eagerly));
  breaks(keepsMcpApart, { path: "sdk/src/a.ts", text: `import "../../mcp/src/tools.ts";` });
  allows(keepsMcpApart, source("http/api/mcp.ts", lazily));
  allows(keepsMcpApart, tool(`import { z } from "zod";\nimport { b } from "./b.ts";`));
  allows(keepsMcpApart, tool(`import { Countersign } from "../../sdk/src/index.ts";`));
  allows(keepsMcpApart, tool(`import { McpServer } from "@modelcontextprotocol/server";`));
});

test("the pages see the sdk's types and the rules that need nothing but the language, and nothing else", () => {
  holds(keepsWebApart);
  const page = (text: string) => ({ path: "web/src/review/a.tsx", text });
  breaks(keepsWebApart, page(`import { x } from "../../../server/src/storage/x.ts";`));
  breaks(keepsWebApart, page(`import { x } from "../../../server/src/domain/review-link.ts";`));
  breaks(keepsWebApart, page(`import { X } from "../../../sdk/src/contract.ts";`));
  breaks(keepsWebApart, page(`import { readFile } from "node:fs/promises";`));
  breaks(keepsWebApart, source("domain/shown/json-tree.ts", `import { hash } from "node:crypto";`));
  breaks(
    keepsWebApart,
    source("domain/shown/json-tree.ts", `import { x } from "../access/review-link.ts";`),
  );
  breaks(keepsWebApart, source("http/a.ts", `import { x } from "../../../web/src/review/x.ts";`));
  allows(keepsWebApart, page(`import { useState } from "react";\nimport "./a.css";`));
  allows(keepsWebApart, page(`import { x } from "../../../server/src/domain/shown/json-tree.ts";`));
  allows(keepsWebApart, page(`import type { X } from "../../../sdk/src/contract.ts";`));
  allows(keepsWebApart, page(`import type { X } from "../../../server/src/wire/x.ts";`));
  breaks(keepsWebApart, page(`import { x } from "../../../server/src/wire/x.ts";`));
});

test("the service starts with few packages, and loads the others when they are needed", () => {
  holds(startsSmall);
  const sender = source("outbound/a.ts", `import { createTransport } from "nodemailer";`);
  breaks(startsSmall, source("main.ts", `import { Command } from "commander";`));
  breaks(startsSmall, source("serve.ts", `import { send } from "./outbound/a.ts";`), sender);
  allows(startsSmall, source("serve.ts", `await import("./outbound/a.ts");`), sender);
  allows(startsSmall, source("serve.ts", `import type { Sender } from "./outbound/a.ts";`), sender);
  allows(
    startsSmall,
    source("serve.ts", `import pg from "pg";\nimport { join } from "node:path";`),
  );
});

test("no imports run in a circle", () => {
  holds(hasNoCycles);
  const first = source("domain/a.ts", `import { b } from "./b.ts";`);
  const second = source("domain/b.ts", `import type { C } from "./c.ts";`);
  const third = source("domain/c.ts", `export { a } from "./a.ts";`);
  breaks(hasNoCycles, first, second, third);
  breaks(hasNoCycles, source("domain/a.ts", `import { a } from "./a.ts";`));
  allows(hasNoCycles, first, second);
});

test("no file only passes on what others export, except the published surface of the sdk", () => {
  holds(hasNoBarrels);
  const passedOn = `// All.\nexport * from "./a.ts";\nexport { b, type C } from "./b.ts";\n`;
  breaks(hasNoBarrels, source("domain/everything.ts", passedOn));
  breaks(hasNoBarrels, source("domain/a.ts", `import { x } from "./x.ts";\nexport { x };`));
  breaks(hasNoBarrels, source("domain/index.ts", "export const x = 1;"));
  allows(hasNoBarrels, source("domain/a.ts", `${passedOn}export const x = 1;`));
  allows(hasNoBarrels, { path: "sdk/src/index.ts", text: passedOn });
});

test("every file and folder is named for what is in it", () => {
  holds(isNamedForContent);
  for (const name of vagueNames) {
    breaks(isNamedForContent, source(`${name}.ts`, ""));
    breaks(isNamedForContent, source(`domain/${name}.test.ts`, ""));
    breaks(isNamedForContent, source(`${name}/a.ts`, ""));
  }
  allows(isNamedForContent, source("domain/common-name.ts", ""));
});

test("relative imports name the file, with .ts", () => {
  holds(importsWithExtension);
  breaks(importsWithExtension, source("a.ts", `import { b } from "./b";`));
  breaks(importsWithExtension, source("a.ts", `import { b } from "./b.js";`));
  breaks(importsWithExtension, source("a.ts", `export * from "..";`));
  breaks(importsWithExtension, source("a.ts", `const b = await import("./b");`));
  allows(importsWithExtension, source("a.ts", `import pg from "pg";\nimport "./b.ts";`));
});

test("TypeScript is erasable: no enum, namespace, parameter property, decorator or .tsx", () => {
  holds(isErasable);
  breaks(isErasable, source("a.ts", "enum Colour { red }"));
  breaks(isErasable, source("a.ts", "export declare const enum Colour { red }"));
  breaks(isErasable, source("a.ts", "namespace N { export type A = 1; }"));
  breaks(isErasable, source("a.ts", "export declare namespace N.M { }"));
  breaks(isErasable, source("a.ts", "module M { }"));
  breaks(isErasable, source("a.ts", "class A { constructor(private readonly b: string) {} }"));
  breaks(isErasable, source("a.ts", "class A { constructor(a: string, readonly b = 1) {} }"));
  breaks(isErasable, source("a.ts", "@sealed\nclass A {}"));
  breaks(isErasable, source("a.ts", "class A {\n  @logged() run() {}\n}"));
  breaks(isErasable, source("a.ts", `import fs = require("node:fs");`));
  breaks(isErasable, source("a.tsx", ""));
  allows(isErasable, source("a.ts", `declare module "fastify" { interface A { b: string } }`));
  allows(isErasable, source("a.ts", "class A { constructor(b: string) { this.readonly = b; } }"));
  allows(isErasable, source("a.ts", "/** @see b */\nconst a = 'ann@example.com enum A {';"));
});

test("every connection to the database is of the kind whose loss ends no process", () => {
  holds(opensDatabaseClients);
  breaks(opensDatabaseClients, source("cli/a.ts", "const client = new pg.Client(connection);"));
  breaks(opensDatabaseClients, source("storage/a.ts", "const pool = new pg.Pool(connection);"));
  breaks(opensDatabaseClients, source("storage/a.ts", `import { Client } from "pg";`));
  allows(opensDatabaseClients, source("cli/a.ts", `import type pg from "pg";`));
});

test("the environment is read in config.ts alone", () => {
  holds(readsEnvironmentInConfig);
  breaks(readsEnvironmentInConfig, source("http/a.ts", "const port = process.env.PORT;"));
  breaks(readsEnvironmentInConfig, source("log.ts", `const port = process["env"];`));
  breaks(readsEnvironmentInConfig, source("main.ts", "const { env, argv } = process;"));
  breaks(readsEnvironmentInConfig, source("cli/a.ts", `import { env } from "node:process";`));
  allows(readsEnvironmentInConfig, source("config.ts", "const port = process.env.PORT;"));
  allows(readsEnvironmentInConfig, source("main.ts", "process.exit(1); // not process.env"));
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

test("every source file opens with a comment that says what it is for", () => {
  holds(opensWithComment);
  breaks(opensWithComment, source("a.ts", `import "./b.ts";\n// A comment, but too late.`));
  breaks(opensWithComment, source("a.ts", "//\nexport const a = 1;"));
  breaks(opensWithComment, source("a.ts", ""));
  allows(opensWithComment, source("a.ts", "// What it is for.\n"));
  allows(opensWithComment, source("a.test.ts", `import assert from "node:assert/strict";`));
  allows(opensWithComment, source("a.ts", "/** What it is for. */\n"));
});

/**
 * What a file in each layer may import, besides its own layer: the lines below it, with two exceptions.
 * An operation has no network inside its transaction, and a request talks to no strangers.
 */
const layers: Record<string, readonly string[]> = {
  starts: ["http", "worker", "cli", "operations", "storage", "outbound", "database", "domain"],
  http: ["operations", "storage", "database", "domain", "wire"],
  worker: ["operations", "storage", "outbound", "database", "domain"],
  cli: ["operations", "storage", "outbound", "database", "domain"],
  operations: ["storage", "database", "domain"],
  storage: ["database", "domain"],
  outbound: ["domain"],
  database: ["domain"],
  domain: ["wire"],
  wire: [],
};
const starts = [
  "main.ts",
  "serve.ts",
  "prepare.ts",
  "service.ts",
  "welcome.ts",
  "terminal-mail.ts",
  "log.ts",
  "config.ts",
];

function keepsLayers(files: SourceFile[]): string[] {
  const program = serverSources(files).filter(({ path }) => !isTest(path));
  return program.flatMap((file) => {
    const layer = layerOf(file.path);
    if (layer === null) return [`${file.path} is in no layer`];
    return relativeTargets(file)
      .filter((target) => !isInSdk(target) && !isInMcp(target))
      .filter((target) => {
        const other = layerOf(target);
        return other === null || (other !== layer && !layers[layer]?.includes(other));
      })
      .map((target) => `${file.path} (${layer}) may not import ${target}`);
  });
}

function layerOf(path: string): string | null {
  if (!path.startsWith(serverSource)) return null;
  const [first = "", ...rest] = path.slice(serverSource.length).split("/");
  if (rest.length === 0) return starts.includes(first) ? "starts" : null;
  return first in layers && first !== "starts" ? first : null;
}

/** Answers are written in http, the bodies of webhooks in domain, and our own pages speak wire. */
const describesTheWire = ["http", "domain", "wire"];

function keepsSdkApart(files: SourceFile[]): string[] {
  const inside = files.filter(({ path }) => isInSdk(path) && !isTest(path));
  const strangers = inside.flatMap((file) =>
    importsOf(file)
      .filter((each) => !isInSdk(targetOf(file, each) ?? ""))
      .map(({ specifier }) => `${file.path} imports ${specifier}, but the sdk imports nothing`),
  );
  const users = files.filter(
    ({ path }) => !isInSdk(path) && !isInMcp(path) && !isInWeb(path) && !isTest(path),
  );
  const uses = users.flatMap((file) =>
    importsOf(file)
      .filter((each) => isInSdk(targetOf(file, each) ?? each.specifier))
      .filter(({ isType }) => !(isType && describesTheWire.includes(layerOf(file.path) ?? "")))
      .map(
        () =>
          `${file.path} imports the sdk, but only http, domain and wire may, and only its types`,
      ),
  );
  return [...strangers, ...uses];
}

/** The library of the tools is large: it is loaded when somebody first calls them. */
const routeOfTools = `${serverSource}http/api/mcp.ts`;

function keepsMcpApart(files: SourceFile[]): string[] {
  const inside = files.filter(({ path }) => isInMcp(path) && !isTest(path));
  const strangers = inside.flatMap((file) =>
    importsOf(file)
      .filter((each) => !mayToolsSee(targetOf(file, each) ?? each.specifier))
      .map(({ specifier }) => `${file.path} imports ${specifier}, which the tools may not see`),
  );
  const users = files.filter(({ path }) => !isInMcp(path) && !isTest(path));
  const uses = users.flatMap((file) =>
    importsOf(file)
      .filter((each) => isInMcp(targetOf(file, each) ?? each.specifier))
      .filter(({ isLazy }) => !(isLazy && file.path === routeOfTools))
      .map(
        ({ specifier }) => `${file.path} imports ${specifier}: only ${routeOfTools} may, lazily`,
      ),
  );
  return [...strangers, ...uses];
}

function mayToolsSee(pathOrSpecifier: string): boolean {
  if (pathOrSpecifier === "sdk/src/index.ts" || pathOrSpecifier === "zod") return true;
  return isInMcp(pathOrSpecifier) || pathOrSpecifier.startsWith("@modelcontextprotocol/");
}

/** One rule for page and service: what is in here runs in browsers, too. */
const inBrowsers = `${serverSource}domain/shown/`;

function keepsWebApart(files: SourceFile[]): string[] {
  const pages = files.filter(({ path }) => isInWeb(path) && !isTest(path));
  const strangers = pages.flatMap((file) =>
    importsOf(file)
      .filter((each) => !maySee(targetOf(file, each), each))
      .map(({ specifier }) => `${file.path} imports ${specifier}, which a page may not see`),
  );
  const rules = files.filter(({ path }) => path.startsWith(inBrowsers) && !isTest(path));
  const unfit = rules.flatMap((file) =>
    importsOf(file)
      .filter((each) => !targetOf(file, each)?.startsWith(inBrowsers))
      .map(({ specifier }) => `${file.path} imports ${specifier}, but runs in browsers, too`),
  );
  const users = files.filter(({ path }) => !isInWeb(path) && !isTest(path));
  const uses = users.flatMap((file) =>
    relativeTargets(file)
      .filter(isInWeb)
      .map((target) => `${file.path} imports ${target}: nothing may import a page`),
  );
  return [...strangers, ...unfit, ...uses];
}

function maySee(target: string | null, { specifier, isType }: Import): boolean {
  if (target === null) return !/^(?:node:|fastify|pg|pino)/.test(specifier);
  if (isInSdk(target) || isWire(target)) return isType;
  return isInWeb(target) || target.startsWith(inBrowsers);
}

function isWire(path: string): boolean {
  return layerOf(path) === "wire";
}

function isInWeb(path: string): boolean {
  return path.startsWith("web/");
}

const packagesOfStart = ["fastify", "ipaddr.js", "pg", "pino", "zod"];

/** Each package that is loaded takes memory for as long as the service runs. */
function startsSmall(files: SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set([`${serverSource}main.ts`, `${serverSource}serve.ts`]);
  const found: string[] = [];
  for (const path of reached) {
    const file = byPath.get(path);
    const loaded = file === undefined ? [] : importsOf(file).filter((each) => !each.isLazy);
    for (const each of loaded.filter(({ isType }) => !isType)) {
      const target = file === undefined ? null : targetOf(file, each);
      if (target !== null) reached.add(target);
      else if (!/^node:/.test(each.specifier) && !packagesOfStart.includes(each.specifier))
        found.push(`${path} makes every start load ${each.specifier}: import it where it is used`);
    }
  }
  return found;
}

function hasNoCycles(files: SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]) => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(" > "));
    const file = byPath.get(path);
    if (file === undefined || finished.has(path) || trail.includes(path)) return;
    for (const target of relativeTargets(file)) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const { path } of files) visit(path, []);
  return found.map((cycle) => `imports run in a circle: ${cycle}`);
}

function hasNoBarrels(files: SourceFile[]): string[] {
  const surface = "sdk/src/index.ts";
  return sources(files)
    .filter(({ path }) => path !== surface)
    .flatMap((file) => {
      if (basename(file.path) === "index.ts")
        return [`${file.path}: only ${surface} may be an index`];
      const { code } = blanked(file);
      const exported = code.replaceAll(staticImport, "").replaceAll(/\bexport\s*\{[^}]*\};?/g, "");
      const isEmpty = exported.trim() === "" && code.trim() !== "";
      return isEmpty ? [`${file.path} only passes on what others export: import those files`] : [];
    });
}

const vagueNames = "utils helpers common shared types constants misc lib".split(" ");

function isNamedForContent(files: SourceFile[]): string[] {
  return files.flatMap(({ path }) => {
    const names = path.split("/").map((part) => part.replace(/(\.test)?\.tsx?$/, ""));
    const vague = names.find((name) => vagueNames.includes(name));
    return vague === undefined ? [] : [`${path}: "${vague}" does not say what is in it`];
  });
}

function importsWithExtension(files: SourceFile[]): string[] {
  return sources(files).flatMap((file) =>
    importsOf(file)
      .filter(
        ({ specifier }) =>
          specifier.startsWith(".") && !/\.(?:tsx?|css(?:\?inline)?)$/.test(specifier),
      )
      .map(({ specifier }) => `${file.path} imports ${specifier}: name the file, with .ts`),
  );
}

const unerasable: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["an enum", /\benum\s+[\w$]+\s*\{/],
  ["a namespace", /\b(?:namespace|module)\s+[\w$.]+\s*\{/],
  [
    "a parameter property",
    /\bconstructor\s*\((?:[^)]*,)?\s*(?:(?:public|private|protected|readonly|override)\s+)+[\w$]/,
  ],
  ["a decorator", /(?:^|[;{}\s])@[A-Za-z_$]/],
  ["an import by require", /\bimport\s+[\w$]+\s*=/],
];

function isErasable(files: SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (file.path.endsWith(".tsx") && !isInWeb(file.path))
      return [`${file.path}: .tsx is for the web alone`];
    const { code } = blanked(file);
    return unerasable
      .filter(([, pattern]) => pattern.test(code))
      .map(([what]) => `${file.path} holds ${what}, which Node cannot strip`);
  });
}

/** config.ts lets pg read an address, and connects to nothing. */
const clientMakers = ["config.ts", "database/database.ts", "database/database-client.ts"];

function opensDatabaseClients(files: SourceFile[]): string[] {
  const making = /\bnew\s+pg\s*\.\s*(Client|Pool)\b|import\s*\{[^}]*\}\s*from\s*"pg"/;
  return serverSources(files)
    .filter(({ path }) => !isTest(path) && !clientMakers.includes(path.slice(serverSource.length)))
    .filter(({ text }) => making.test(text))
    .map(({ path }) => `${path} opens a connection: only openDatabase and DatabaseClient may`);
}

function readsEnvironmentInConfig(files: SourceFile[]): string[] {
  const direct =
    /\bprocess\s*(?:\??\.\s*env\b|(?:\?\.)?\[)|\{[^{}]*\benv\b[^{}]*\}\s*=\s*process\b/;
  return serverSources(files)
    .filter(({ path }) => path !== `${serverSource}config.ts` && !isTest(path))
    .filter(
      (file) =>
        direct.test(blanked(file).code) ||
        importsOf(file).some(({ specifier }) => /^(node:)?process$/.test(specifier)),
    )
    .map(({ path }) => `${path} reads the environment: only config.ts may`);
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
  return layerOf(target) === "domain" || (each.isType && (isInSdk(target) || isWire(target)));
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
          // What only builds a statement, without running it, writes nothing.
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

function opensWithComment(files: SourceFile[]): string[] {
  return sources(files)
    .filter(({ path }) => !isTest(path)) // these are named for the file beside them
    .filter(({ text }) => !/^(?:#!.*\n)?(?:\/\/[^\n]*\w|\/\*[\s*]*\w)/.test(text))
    .map(({ path }) => `${path} does not open with a comment that says what it is for`);
}

function holds(rule: Rule): void {
  assert.deepEqual(rule(tree), []);
}

function breaks(rule: Rule, ...files: SourceFile[]): void {
  assert.notDeepEqual(rule(files), [], `the rule should refuse: ${files.map(({ text }) => text)}`);
}

function allows(rule: Rule, ...files: SourceFile[]): void {
  assert.deepEqual(rule(files), [], `the rule should allow: ${files.map(({ text }) => text)}`);
}

function source(path: string, text: string): SourceFile {
  return { path: serverSource + path, text };
}

function sources(files: SourceFile[]): SourceFile[] {
  const folders = [serverSource, "sdk/src/", "mcp/src/", "web/src/"];
  return files.filter(({ path }) => folders.some((folder) => path.startsWith(folder)));
}

function serverSources(files: SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => path.startsWith(serverSource));
}

function isInSdk(pathOrSpecifier: string): boolean {
  return pathOrSpecifier.startsWith("sdk/") || pathOrSpecifier.startsWith("@countersign/sdk");
}

function isInMcp(pathOrSpecifier: string): boolean {
  return pathOrSpecifier.startsWith("mcp/") || pathOrSpecifier.startsWith("@countersign/mcp");
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || /^(server|sdk|mcp)\/test\//.test(path);
}

type Import = {
  specifier: string;
  /** The names as the other file exports them; none for a whole-module import. */
  names: string[];
  isType: boolean;
  /** Loaded only when it is needed. */
  isLazy: boolean;
};

/** The text between the keyword and `from` cannot hold a string or a semicolon. */
const staticImport = /\b(?:import|export)\b(?:([^;"'`()=]*?)\bfrom\b)?\s*(["'])([^"']*)\2;?/g;
const dynamicImport = /\bimport\s*\(\s*(["'`]?)/g;

function importsOf(file: SourceFile): Import[] {
  const { code, uncommented } = blanked(file);
  const statics = [...code.matchAll(staticImport)].map((match) => {
    const end = match.index + match[0].replace(/;$/, "").length - 1;
    const specifier = uncommented.slice(end - (match[3]?.length ?? 0), end);
    return { specifier, ...namesIn((match[1] ?? "").trim()), isLazy: false };
  });
  const dynamics = [...code.matchAll(dynamicImport)].map((match) => {
    const quote = match[1] ?? "";
    const start = match.index + match[0].length;
    const end = quote === "" ? start : uncommented.indexOf(quote, start);
    // What is computed cannot be read here; it is no name that a rule could allow.
    const specifier = uncommented.slice(start, end) || "(computed)";
    return { specifier, names: [], isType: false, isLazy: true };
  });
  return [...statics, ...dynamics];
}

function namesIn(clause: string): Pick<Import, "names" | "isType"> {
  const isTypeClause = /^type\b/.test(clause);
  const list = /^(?:type\s*)?\{([^}]*)\}$/.exec(clause)?.[1] ?? "";
  const entries = list.split(",").map((entry) => entry.trim());
  const named = entries.filter((entry) => entry !== "");
  const isType = isTypeClause || (named.length > 0 && named.every((name) => /^type\s/.test(name)));
  const names = named.map((entry) => entry.replace(/^type\s+/, "").replace(/\s+as\s.*$/, ""));
  return { names, isType };
}

/** The path of the imported file, or null when a package is imported. */
function targetOf(file: SourceFile, { specifier }: Import): string | null {
  return specifier.startsWith(".") ? posix.join(posix.dirname(file.path), specifier) : null;
}

function relativeTargets(file: SourceFile): string[] {
  return importsOf(file).flatMap((each) => targetOf(file, each) ?? []);
}

type Declaration = { name: string; isExported: boolean; code: string; uncommented: string };

/** The formatter puts every declaration of a module at the start of a line, and nothing else of one. */
const declarationStart =
  /^(export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?|const|let|class)\s+([\w$]+)/gm;

function declarationsOf(file: SourceFile): Declaration[] {
  const { code, uncommented } = blanked(file);
  const exportLists = [...code.matchAll(/^export\s*\{([^}]*)\}/gm)].map(([, list]) => list ?? "");
  const listed = new Set(exportLists.flatMap((list) => list.match(/[\w$]+/g) ?? []));
  const starts = [...code.matchAll(declarationStart)];
  return starts.map((match, index) => {
    const name = match[2] ?? "";
    const end = starts[index + 1]?.index ?? code.length;
    return {
      name,
      isExported: match[1] !== undefined || listed.has(name),
      code: code.slice(match.index, end),
      uncommented: uncommented.slice(match.index, end),
    };
  });
}

/** A declaration with everything of its file that it uses, and what that uses, and so on. */
function closureOf(declaration: Declaration, all: Declaration[]): Declaration[] {
  const used = new Set([declaration]);
  for (const each of used) {
    const words = new Set(each.code.match(/(?<![.\w$])[A-Za-z_$][\w$]*/g));
    for (const other of all) if (words.has(other.name)) used.add(other);
  }
  return [...used];
}

type Blanked = {
  /** Without comments, and with the insides of strings, templates and regular expressions made blank. */
  code: string;
  /** Without comments. */
  uncommented: string;
};

const alreadyBlanked = new WeakMap<SourceFile, Blanked>();

/** Both texts are as long as the file, so that a place in one is the same place in the other. */
function blanked(file: SourceFile): Blanked {
  const known = alreadyBlanked.get(file);
  if (known !== undefined) return known;
  const result = blank(file.text);
  alreadyBlanked.set(file, result);
  return result;
}

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[`{}]|\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
const templatePart = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(`|\$\{|$)/y;
/** Where a value has just ended, a slash divides; elsewhere it begins a regular expression. */
const endOfValue = /(?:[\w$)\]]|\+\+|--)\s*$/;
const keywordBeforeValue = /\b(?:return|typeof|case|in|of|void|delete|await|throw|else|do)\s*$/;

function blank(text: string): Blanked {
  let code = "";
  let uncommented = "";
  // What each open brace belongs to: a block, or a place in a template.
  const braces: ("block" | "template")[] = [];
  const take = (part: string, { inCode, isKept }: { inCode: string; isKept: boolean }) => {
    code += inCode;
    uncommented += isKept ? part : spaces(part);
  };
  const takeTemplate = (from: number): number => {
    templatePart.lastIndex = from;
    const [part = "", end = ""] = templatePart.exec(text) ?? [];
    if (end === "${") braces.push("template");
    const inside = part.slice(0, part.length - end.length);
    take(part, { inCode: spaces(inside) + end, isKept: true });
    return from + part.length;
  };
  for (let at = 0; at < text.length; ) {
    token.lastIndex = at;
    let part = token.exec(text)?.[0] ?? text.charAt(at);
    const isPattern = part.length > 1 && part.startsWith("/") && !/^\/[/*]/.test(part);
    if (isPattern && endOfValue.test(code) && !keywordBeforeValue.test(code)) part = "/";
    at += part.length;
    if (/^\/[/*]/.test(part)) take(part, { inCode: spaces(part), isKept: false });
    else if (part.length > 1) take(part, { inCode: withBlankInside(part), isKept: true });
    else take(part, { inCode: part, isKept: true });
    if (part === "{") braces.push("block");
    const isInTemplate = part === "`" || (part === "}" && braces.pop() === "template");
    if (isInTemplate) at = takeTemplate(at);
  }
  return { code, uncommented };
}

function withBlankInside(literal: string): string {
  return literal.charAt(0) + spaces(literal.slice(1, -1)) + literal.charAt(literal.length - 1);
}

function spaces(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}
