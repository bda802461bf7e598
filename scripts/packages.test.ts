// The packages as users get them: what is in them, what npm fetches for them, and that they load and type-check where
// their package.json says they do. adapters/test/fresh-projects.test.ts does the same with the frameworks.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { isForNpm, type PackedPackage, packageFolders } from "./packages.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..");
const packed = join(root, "web", "dist", "packages");
const all: PackedPackage[] = JSON.parse(readFileSync(join(packed, "index.json"), "utf8"));
const index = all.filter(isForNpm);
const folder = await mkdtemp(join(tmpdir(), "countersign-installed-"));
after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

test("every package holds its licence, its README and what is built, and nothing else", () => {
  assert.equal(index.length, packageFolders.length);
  for (const { name, file } of index) {
    const files = filesIn(join(packed, file));
    const expected =
      /^(LICENSE|README\.md|package\.json|action\.yml|bin\/[\w-]+\.mjs|dist\/.*\.(js|mjs|svg|d\.ts))$/;
    assert.deepEqual(
      [...files.keys()].filter((path) => !expected.test(path)),
      [],
      name,
    );
    assert.equal(files.get("LICENSE"), readFileSync(join(root, "LICENSE"), "utf8"), name);
    assert.match(files.get("README.md") ?? "", new RegExp(`^# ${name}\n`));
    const { license, description, keywords, engines } = JSON.parse(files.get("package.json") ?? "");
    assert.equal(license, "Apache-2.0");
    assert.ok(description.length > 20 && keywords.includes("countersign") && engines.node, name);
  }
});

test("every file that a package exports or runs is in it", () => {
  for (const { name, file } of index) {
    const files = filesIn(join(packed, file));
    const { exports = {}, bin = {} } = JSON.parse(files.get("package.json") ?? "");
    const targets = Object.values<Record<string, string> | string>(exports).flatMap((target) =>
      typeof target === "string" ? [target] : [target.types ?? "none", target.default ?? "none"],
    );
    const missing = [...targets, ...Object.values<string>(bin)].filter(
      (path) => !files.has(path.replace(/^\.\//, "")),
    );
    assert.deepEqual(missing, [], name);
  }
});

test("npm never downloads a stranger's package of our names, and asks for none if the SDK is named, too", async (t) => {
  const registry = await startRegistry();
  t.after(() => registry.close());
  const askedFor = async (files: string[]) => {
    const project = await mkdtemp(join(folder, "strange-"));
    await makeProject(project);
    registry.asked.length = 0;
    const cache = ["--cache", join(project, "cache")];
    await npmInstall(project, files, ["--registry", registry.url, ...cache]);
    return registry.asked.filter((path) => path.includes("countersign"));
  };
  for (const { file } of index) {
    const downloaded = (await askedFor([file])).filter((path) => path.endsWith(".tgz"));
    assert.deepEqual(downloaded, [], file);
  }
  assert.deepEqual(await askedFor(index.map(({ file }) => file)), []);
});

/** A registry that has every package that somebody could ask for, all of them a stranger's. */
async function startRegistry() {
  const asked: string[] = [];
  const stranger = readFileSync(join(packed, index[0]?.file ?? ""));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    asked.push(path);
    if (path.endsWith(".tgz")) return response.end(stranger);
    const name = path.slice(1);
    const versions = Object.fromEntries(
      [...neededVersions(name), "0.1.9"].map((version) => [
        version,
        { name, version, dist: { tarball: `${url}${path}/${version}.tgz` } },
      ]),
    );
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ name, "dist-tags": { latest: "0.1.9" }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, close: () => server.close() };
}

/** The lower ends of what our packages want of another one. */
function neededVersions(name: string): string[] {
  return packageFolders.flatMap((path) => {
    const text = readFileSync(join(root, path, "package.json"), "utf8");
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(text);
    const range: string = dependencies[name] ?? peerDependencies[name] ?? "";
    return /\d+\.\d+\.\d+/.exec(range)?.slice(0, 1) ?? [];
  });
}

const runtimes = join(root, "sdk", "runtimes", "node_modules");
const platform = `${process.platform}-${process.arch}`;

for (const [name, node, adapters] of [
  ["Node 20", join(runtimes, `node20-${platform}`, "bin", "node"), ["langchain", "openai-agents"]],
  ["Node 22", join(runtimes, `node22-${platform}`, "bin", "node"), adapterNames()],
  ["Node 24", process.execPath, adapterNames()],
] satisfies [string, string, string[]][]) {
  const skip = existsSync(node) ? false : `the lock file has none for ${platform}`;
  test(`what engines allow under ${name} is required and imported there`, { skip }, async () => {
    const cwd = await installAll();
    const subpaths = adapters.includes("ai-sdk") ? ["ai-sdk/approvals"] : [];
    for (const each of ["sdk", "sdk/tool-call", ...adapters, ...subpaths]) {
      const specifier = JSON.stringify(`@countersign/${each}`);
      const program = `const required = Object.keys(require(${specifier})); import(${specifier}).then((imported) => console.log(required.length > 0, required.every((name) => name in imported)));`;
      const { stdout, stderr } = await execute(node, ["-e", program], { cwd, env: environment() });
      assert.equal(stdout, "true true\n", `${each}: ${stderr}`);
    }
  });
}

test("the types of all packages resolve for node16 and for bundlers", async () => {
  const project = await installAll();
  await writeFile(join(project, "user.mts"), user);
  for (const options of [
    { module: "node16", moduleResolution: "node16" },
    { module: "esnext", moduleResolution: "bundler" },
  ]) {
    const compilerOptions = { ...options, ...userOptions };
    const config = { compilerOptions, files: ["user.mts"] };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules", ".bin", "tsc");
    await execute(tsc, ["-p", project]).catch(({ stdout }) => assert.fail(stdout));
  }
});

/** A use of each package whose result has a type of its own: an unresolved one would be any, which never isn't. */
const user = `
import { requireApproval as aiSdk } from "@countersign/ai-sdk";
import { ask as approvals } from "@countersign/ai-sdk/approvals";
import { ask as langchain } from "@countersign/langchain";
import { requireApproval as mastra } from "@countersign/mastra";
import { ask as openaiAgents } from "@countersign/openai-agents";
import { Countersign } from "@countersign/sdk";
import { refusalText } from "@countersign/sdk/tool-call";
type IsAny<Type> = 0 extends 1 & Type ? true : false;
type FirstOf<Known extends (...args: never[]) => unknown> = Parameters<Known>[0];
export const areAny: [
  IsAny<Countersign>,
  IsAny<FirstOf<typeof aiSdk>>,
  IsAny<ReturnType<typeof aiSdk>>,
  IsAny<FirstOf<typeof approvals>>,
  IsAny<Parameters<typeof approvals>[1]>,
  IsAny<FirstOf<typeof langchain>>,
  IsAny<FirstOf<typeof mastra>>,
  IsAny<ReturnType<typeof mastra>>,
  IsAny<FirstOf<typeof openaiAgents>>,
  IsAny<Parameters<typeof openaiAgents>[1]>,
  IsAny<FirstOf<typeof refusalText>>,
] = [false, false, false, false, false, false, false, false, false, false, false];
`;

const userOptions = {
  strict: true,
  noEmit: true,
  types: [],
  skipLibCheck: true,
  lib: ["es2023", "dom"],
  target: "es2022",
};

function adapterNames(): string[] {
  return packageFolders.flatMap((path) => /^adapters\/(.*)$/.exec(path)?.slice(1) ?? []);
}

let installed: Promise<string> | null = null;

/** One project with all of them, and with the frameworks that the adapters are tested with. */
function installAll(): Promise<string> {
  const install = async () => {
    const project = join(folder, "all");
    await makeProject(project);
    const files = index.map(({ file }) => file).filter((file) => !file.includes("-mcp-"));
    await npmInstall(project, files, ["--offline", "--legacy-peer-deps"]);
    for (const name of ["ai", "langchain", "@langchain", "@mastra", "@openai", "zod"]) {
      await symlink(
        join(root, "adapters", "node_modules", name),
        join(project, "node_modules", name),
      );
    }
    return project;
  };
  installed ??= install();
  return installed;
}

async function makeProject(project: string): Promise<void> {
  await mkdir(project, { recursive: true });
  await writeFile(join(project, "package.json"), '{"private":true}');
}

async function npmInstall(project: string, files: string[], more: string[]): Promise<void> {
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0", ...more];
  const paths = files.map((file) => join(packed, file));
  await execute("npm", ["install", ...options, ...paths], { cwd: project, env: environment() });
}

/** Nothing of the npm that runs these tests: its settings would be this one's. */
function environment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}

/** The texts of a packed package, by their paths in it. */
function filesIn(path: string): Map<string, string> {
  const tar = gunzipSync(readFileSync(path));
  const files = new Map<string, string>();
  for (let at = 0; at < tar.length; ) {
    const [name = ""] = tar.toString("utf8", at, at + 100).split("\0");
    const size = Number.parseInt(tar.toString("utf8", at + 124, at + 136), 8) || 0;
    if (name !== "")
      files.set(name.replace(/^package\//, ""), tar.toString("utf8", at + 512, at + 512 + size));
    at += 512 + 512 * Math.ceil(size / 512);
  }
  return files;
}
