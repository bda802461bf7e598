// No text of ours tells anybody to fetch a package of our names from a public registry: we publish none there, so it
// would be a stranger's.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
/**
 * Everything that people copy from: pages, package READMEs, examples, and the texts of service, pages and tools. A
 * decision may name the commands that it is about.
 */
const texts = globSync(
  [
    "*.md",
    "{docs,examples,bench}/**/*.{md,ts,mjs,json,py,sh}",
    "{sdk,mcp,hook,action,n8n,adapters/*}/{README.md,package.json}",
    "python/{README.md,pyproject.toml,src/**/*.py}",
    "adapters/README.md",
    "{server,web,sdk,mcp,hook,action,adapters/*}/{bin,src}/**/*.{ts,tsx,mjs}",
    "scripts/**/*.{ts,mjs}",
  ],
  { cwd: root, exclude: (path) => /node_modules|decisions|\.test\.ts$/.test(String(path)) },
).sort();

/** Programs that fetch what isn't installed, with the commands of theirs that do. */
const fetches =
  /\b(?:npx|pnpx|bunx|uvx|(?:npm|pnpm|yarn|bun|deno)\s+(?:install|i|add|exec|x|dlx|create|init|update|view|run\s+npm:)|(?:pip3?|pipx|uv|poetry|pdm|rye)\s+(?:install|download|wheel|run|add|pip|tool))\b([^\n`;&|]*)/g;
const configuredCommand =
  /"command":\s*"(?:npx|pnpx|bunx|npm|pnpm|yarn|bun|deno)"\s*,\s*"args":\s*\[([^\]]*)\]/g;
const hosted =
  /(?:npm:|(?:esm\.sh|esm\.run|unpkg\.com|skypack\.dev|jsdelivr\.net\/npm)\/)@?countersign/g;
/** Names, with or without a version; neither a path nor an address. */
const ours = /^(?:@countersign\/[\w-]+|countersign(?:-\w+)*)(?:(?:@|[=<>~!]=?|\[)[^\s/]*)?$/;

function strangersIn(text: string): string[] {
  const commands = [...text.matchAll(fetches), ...text.matchAll(configuredCommand)]
    .filter(([, words = ""]) => words.split(/[\s",'()]+/).some((word) => ours.test(word)))
    .map(([command]) => command);
  return [...commands, ...(text.match(hosted) ?? [])];
}

test("no page, sample, message or label asks a public registry for a package of ours", () => {
  assert.ok(texts.length > 300, `only ${texts.length} files were found`);
  const found = texts.flatMap((path) =>
    strangersIn(readFileSync(join(root, path), "utf8")).map((command) => `${path}: ${command}`),
  );
  assert.deepEqual(found, []);
});

test("every command that would ask one is recognised, and those that install from the service or a file are not", () => {
  for (const text of [
    "npx countersign webhook list",
    "run `npx -y @countersign/mcp`",
    "npx --yes countersign@latest serve",
    "npm install @countersign/sdk",
    "$ npm i -g countersign-mcp   # the command",
    "npm exec -- countersign doctor",
    "pnpm add zod @countersign/ai-sdk@^0.1.0",
    "yarn dlx @countersign/mcp",
    "bunx @countersign/mcp",
    "deno add npm:@countersign/sdk",
    'import { Countersign } from "npm:@countersign/sdk";',
    'import { Countersign } from "https://esm.sh/@countersign/sdk";',
    '{ "command": "npx", "args": ["-y", "@countersign/mcp"] }',
    "pip install countersign",
    "python -m pip install -U countersign==0.1.0 flask",
    "pip3 install 'countersign[langgraph]>=0.1'",
    "uv add countersign",
    "uv pip install countersign",
    "uvx countersign",
    "poetry add countersign",
  ]) {
    assert.notDeepEqual(strangersIn(text), [], text);
  }
  for (const text of [
    "npm install https://approvals.example.com/packages/countersign-sdk-0.1.0.tgz",
    "npm install ./vendor/countersign-sdk-0.1.0.tgz ai zod",
    "npx node refund.ts",
    "npm pack -w sdk",
    "pip install ./python",
    "pip wheel ./python --wheel-dir dist",
    "pip install dist/countersign-0.1.0-py3-none-any.whl",
    "bin/countersign webhook list",
    '{ "command": "npx", "args": ["-y", "https://approvals.example.com/packages/countersign-mcp-0.1.0.tgz"] }',
    'import { Countersign } from "@countersign/sdk";',
  ]) {
    assert.deepEqual(strangersIn(text), [], text);
  }
});

test("every package that a page installs from the service is one that the service hands out", () => {
  const packed = [
    "sdk",
    "mcp",
    "hook",
    "action",
    "n8n",
    ...globSync("adapters/*/package.json", { cwd: root }),
  ].map((path) => {
    const file = path.endsWith(".json") ? path : `${path}/package.json`;
    const { name, version } = JSON.parse(readFileSync(join(root, file), "utf8"));
    return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
  });
  const named = texts.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/\bcountersign-[\w.-]+\.tgz/g)].map(
      ([file]) => ({ path, file }),
    ),
  );
  assert.ok(named.length > 5);
  assert.deepEqual(
    named.filter(({ file }) => !packed.includes(file)),
    [],
  );
});
