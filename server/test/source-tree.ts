// The project's source files, and how a rule about them is shown to hold: for the real tree, and against small
// counterexamples. A rule is a pure function over a list of files.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceFile } from "./source-text.ts";

/** Names what is wrong and where, one line for each violation. */
export type Rule = (files: SourceFile[]) => string[];

export const serverSource = "server/src/";
const root = join(import.meta.dirname, "..", "..");
/** The product: the layers and rooms are about these files. */
export const tree = filesIn("{server,web,sdk,mcp}/{src,test}/**/*.{ts,tsx,css}");
/** All programs of the repository. */
export const wholeTree = [
  ...tree,
  ...filesIn("{adapters,adapters/*,bench,faults}/{src,test}/**/*.ts"),
  ...filesIn("scripts/**/*.ts"),
  ...filesIn("e2e/*.ts"),
];

export function holds(rule: Rule, files: SourceFile[] = tree): void {
  assert.deepEqual(rule(files), []);
}

export function breaks(rule: Rule, ...files: SourceFile[]): void {
  assert.notDeepEqual(rule(files), [], `the rule should refuse: ${files.map(({ text }) => text)}`);
}

export function allows(rule: Rule, ...files: SourceFile[]): void {
  assert.deepEqual(rule(files), [], `the rule should allow: ${files.map(({ text }) => text)}`);
}

export function source(path: string, text: string): SourceFile {
  return { path: serverSource + path, text };
}

export function sources(files: SourceFile[]): SourceFile[] {
  const folders = [serverSource, "sdk/src/", "mcp/src/", "hook/src/", "action/src/", "web/src/"];
  return files.filter(({ path }) => folders.some((folder) => path.startsWith(folder)));
}

export function serverSources(files: SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => path.startsWith(serverSource));
}

export function isInSdk(pathOrSpecifier: string): boolean {
  return pathOrSpecifier.startsWith("sdk/") || pathOrSpecifier.startsWith("@countersign/sdk");
}

export function isInMcp(pathOrSpecifier: string): boolean {
  return pathOrSpecifier.startsWith("mcp/") || pathOrSpecifier.startsWith("@countersign/mcp");
}

export function isTest(path: string): boolean {
  return (
    path.endsWith(".test.ts") || /^(server|sdk|mcp|hook|action|adapters|bench)\/test\//.test(path)
  );
}

/**
 * The layers that a file in each layer may import, besides its own: the lines below it, with two exceptions.
 * An operation has no network inside its transaction, and a request talks to no strangers.
 */
export const layers: Record<string, readonly string[]> = {
  starts: [
    "http",
    "worker",
    "chat",
    "cli",
    "metrics",
    "tracing",
    "operations",
    "storage",
    "outbound",
    "database",
    "domain",
  ],
  http: ["operations", "storage", "database", "domain", "wire"],
  worker: ["operations", "storage", "outbound", "database", "domain"],
  chat: ["operations", "storage", "outbound", "database", "domain"],
  cli: ["witness", "operations", "storage", "outbound", "database", "domain"],
  witness: ["domain"],
  metrics: ["storage", "database", "domain"],
  tracing: ["domain"],
  operations: ["storage", "database", "domain"],
  storage: ["database", "domain"],
  outbound: ["domain"],
  database: ["domain"],
  wire: ["domain"],
  domain: [],
};
const starts = [
  "main.ts",
  "serve.ts",
  "stopping.ts",
  "listening.ts",
  "prepare.ts",
  "service.ts",
  "measuring.ts",
  "partners.ts",
  "welcome.ts",
  "terminal-mail.ts",
  "log.ts",
  "config.ts",
];

export function layerOf(path: string): string | null {
  if (!path.startsWith(serverSource)) return null;
  const [first = "", ...rest] = path.slice(serverSource.length).split("/");
  if (rest.length === 0) return starts.includes(first) ? "starts" : null;
  return first in layers && first !== "starts" ? first : null;
}

export function isWire(path: string): boolean {
  return layerOf(path) === "wire";
}

function filesIn(pattern: string): SourceFile[] {
  return globSync(pattern, { cwd: root, exclude: (name) => name === "node_modules" })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}
