// Holds what the packages may see of each other: the sdk nothing, the tools the sdk, the pages types and the rules for
// browsers. And the service starts with few packages of others. Each rule is shown small counterexamples, too.

import { test } from "node:test";
import {
  type Import,
  importsOf,
  relativeTargets,
  type SourceFile,
  targetOf,
} from "./source-text.ts";
import {
  allows,
  breaks,
  holds,
  isInMcp,
  isInSdk,
  isTest,
  isWire,
  layerOf,
  serverSource,
  source,
} from "./source-tree.ts";

test("the sdk imports nothing but the pure rules for its testing kit, and only http, domain, wire and tests import the sdk, and its types alone", () => {
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
  const kit = (text: string) => ({ path: "sdk/src/testing/a.ts", text });
  allows(keepsSdkApart, kit(`import { x } from "../../../server/src/domain/approval/x.ts";`));
  breaks(keepsSdkApart, kit(`import { x } from "../../../server/src/storage/x.ts";`));
  breaks(keepsSdkApart, kit(`import { hash } from "node:crypto";`));
  breaks(keepsSdkApart, {
    path: "sdk/src/a.ts",
    text: `import { FakeService } from "./testing/fake-service.ts";`,
  });
});

test("the tools see the sdk and the rules that need nothing but the language, and only their own route sees the tools", () => {
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
  allows(keepsMcpApart, tool(`import { x } from "../../server/src/domain/shown/json-text.ts";`));
  allows(keepsMcpApart, tool(`import { z } from "zod";\nimport { b } from "./b.ts";`));
  allows(keepsMcpApart, tool(`import { Countersign } from "../../sdk/src/index.ts";`));
  allows(keepsMcpApart, tool(`import { McpServer } from "@modelcontextprotocol/server";`));
});

test("the pages see the sdk's types, its verifier, and the rules that need nothing but the language, and nothing else", () => {
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
  allows(keepsWebApart, page(`import { x } from "../../../sdk/src/proof/receipt.ts";`));
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

/** Answers are written in http, the bodies of webhooks in domain, and our own pages speak wire. */
const describesTheWire = ["http", "domain", "wire"];

function keepsSdkApart(files: SourceFile[]): string[] {
  const inside = files.filter(({ path }) => isInSdk(path) && !isTest(path));
  const strangers = inside.flatMap((file) =>
    importsOf(file)
      .filter((each) => !maySdkSee(file.path, targetOf(file, each) ?? ""))
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

/** The testing kit follows the service's pure rules. It is packed by itself, so that no agent carries it along. */
function maySdkSee(path: string, target: string): boolean {
  const kit = "sdk/src/testing/";
  if (path.startsWith(kit) && target.startsWith(`${serverSource}domain/`)) return true;
  return isInSdk(target) && (path.startsWith(kit) || !target.startsWith(kit));
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
  if (pathOrSpecifier.startsWith(inBrowsers)) return true;
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
  // The verifier is for browsers, too, and a page that shows proof checks it.
  if (target.startsWith("sdk/src/proof/")) return true;
  if (isInSdk(target) || isWire(target)) return isType;
  return isInWeb(target) || target.startsWith(inBrowsers);
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
