// Makes a release: packs every package, holds the packed files to what a registry and its users expect, installs them
// together in a fresh folder, and says how to publish them. Beside them lies a bill of materials. It publishes nothing by
// itself.
//
//   node scripts/release.ts [FOLDER]     (./release unless told)

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { isForNpm, type PackedPackage, packAll, packageFolders } from "./packages.ts";
import { complaintsAbout } from "./publishing/checkers.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..");

if (import.meta.main) await release(resolve(process.argv[2] ?? "release"));

async function release(folder: string): Promise<void> {
  await packAll(root, folder);
  await writeBillOfMaterials(folder);
  const complaints = [
    ...(await complaintsAboutRelease()),
    ...(await complaintsAboutPacked(folder)),
  ];
  if (complaints.length > 0) {
    process.stderr.write(`${complaints.join("\n")}\nNothing is released until these are mended.\n`);
    process.exitCode = 1;
    return;
  }
  const said = await tryInFreshFolder(folder);
  process.stdout.write(`${said}\n${await waysToPublish(folder)}\n`);
}

type Manifest = {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  repository?: unknown;
  publishConfig?: { access?: string; provenance?: boolean };
};

async function manifests(): Promise<Manifest[]> {
  const texts = packageFolders.map((path) => readFile(join(root, path, "package.json"), "utf8"));
  return (await Promise.all(texts)).map((text) => JSON.parse(text));
}

/** One version for all, because a client fits the service of its version. */
export async function complaintsAboutRelease(): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return (await manifests()).flatMap((manifest) => [
    ...(manifest.version === version
      ? []
      : [`${manifest.name} has version ${manifest.version}, and the service ${version}.`]),
    ...(manifest.publishConfig?.access === "public" && manifest.publishConfig.provenance === true
      ? []
      : [`${manifest.name}: publishConfig must have access public and provenance true.`]),
  ]);
}

export const billOfMaterials = "countersign.cdx.json";

/**
 * Every package of the lock file, as CycloneDX: what the service runs, and, marked as development, what its pages are
 * made of and what builds it.
 */
export async function writeBillOfMaterials(folder: string): Promise<void> {
  const flags = ["--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
  const options = { cwd: root, env: environment(), maxBuffer: sbomBytesMax };
  const { stdout } = await execute("npm", ["sbom", ...flags], options);
  const bill = JSON.parse(stdout);
  // npm names it after the folder of the clone.
  const { name } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  bill.metadata.component.name = name;
  await writeFile(join(folder, billOfMaterials), `${JSON.stringify(bill, null, 2)}\n`);
}

const sbomBytesMax = 64 * 1024 * 1024;

export async function complaintsAboutPacked(folder: string): Promise<string[]> {
  const complaints: string[] = [];
  for (const { name, file } of await indexOf(folder)) {
    const found = await complaintsAbout(await readFile(join(folder, file)));
    complaints.push(...found.map((complaint) => `${name}: ${complaint}`));
  }
  return complaints;
}

/** These are run, and not imported. */
export const commands: ReadonlySet<string> = new Set([
  "@countersign/mcp",
  "@countersign/hook",
  "@countersign/action",
  "@countersign/n8n-nodes-countersign",
]);

/** Installs all of them together, loads each, and starts the commands. Answers with what it saw. */
export async function tryInFreshFolder(folder: string): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), "countersign-release-"));
  try {
    await writeFile(join(project, "package.json"), JSON.stringify(await projectManifest()));
    const index = await indexOf(folder);
    const files = index.map(({ file }) => join(folder, file));
    const options = [
      "--offline",
      "--legacy-peer-deps",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
    ];
    await execute("npm", ["install", ...options, ...files], { cwd: project, env: environment() });
    await lendFrameworks(project);
    const names = index.map(({ name }) => name).filter((name) => !commands.has(name));
    const program = `for (const name of ${JSON.stringify(names)}) console.log(name, Object.keys(await import(name)).length > 0);`;
    await writeFile(join(project, "program.js"), program);
    const loaded = await execute(process.execPath, ["program.js"], { cwd: project });
    const modules = join(project, "node_modules");
    const started = [
      `countersign-mcp ${await greetingOf(join(modules, ".bin", "countersign-mcp"))}`,
      `countersign-hook ${await refusalOf(join(modules, ".bin", "countersign-hook"))}`,
      `n8n ${await nodeIn(project)}`,
      `action ${await refusalOf(join(modules, "@countersign", "action", "dist", "index.mjs"))}`,
    ];
    return `${loaded.stdout}${started.join("\n")}`;
  } finally {
    await rm(project, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The dependencies of the packages are lent by this clone, in the versions of its lock file: no registry is asked. */
async function projectManifest(): Promise<object> {
  const names = (await manifests()).flatMap(({ dependencies = {} }) => Object.keys(dependencies));
  const lent = names.map((name) => [name, `file:${join(root, "node_modules", name)}`]);
  return { private: true, type: "module", overrides: Object.fromEntries(lent) };
}

/** The frameworks of the adapters are their users' choice. */
async function lendFrameworks(project: string): Promise<void> {
  for (const name of ["ai", "langchain", "@langchain", "@mastra", "@openai"]) {
    await symlink(
      join(root, "adapters", "node_modules", name),
      join(project, "node_modules", name),
    );
  }
  await symlink(
    join(root, "n8n", "node_modules", "n8n-workflow"),
    join(project, "node_modules", "n8n-workflow"),
  );
}

/** The command as a client starts it, with no service behind it. */
async function greetingOf(command: string): Promise<string> {
  const env = { ...environment(), COUNTERSIGN_API_KEY: "cs_none" };
  const running = execute(command, [], { env });
  const clientInfo = { name: "release", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const greeting = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  running.child.stdin?.write(`${JSON.stringify(greeting)}\n`);
  running.child.stdout?.once("data", () => running.child.stdin?.end());
  const { result } = JSON.parse((await running).stdout);
  return `${result.serverInfo.name} ${result.serverInfo.version}`;
}

/** What n8n's loader does with a node: it requires the file that the package names, and makes one. */
async function nodeIn(project: string): Promise<string> {
  const require = createRequire(join(project, "program.js"));
  const name = "@countersign/n8n-nodes-countersign";
  const path: string = require(`${name}/package.json`).n8n.nodes[0];
  const { Countersign } = require(`${name}/${path}`);
  return new Countersign().description.displayName;
}

/** A gate that knows no service and no key: it must say no, by its exit code. */
async function refusalOf(program: string): Promise<string> {
  const running = execute(process.execPath, [program], { env: environment() });
  running.child.stdin?.end("{}");
  const outcome = await running.catch((error: { code: number }) => error);
  return "code" in outcome ? `refuses with ${outcome.code}` : "lets pass";
}

async function waysToPublish(folder: string): Promise<string> {
  const homeless = (await manifests()).filter(({ repository }) => repository === undefined);
  const commands = (await indexOf(folder)).map(({ file }) => `  npm publish ${join(folder, file)}`);
  const note =
    homeless.length === 0
      ? "Publish them from the CI that built them, which signs where they come from:"
      : "A registry takes no provenance for a package without `repository`, and the names must be yours (decision 37). Once both are so, from CI:";
  return [note, ...commands].join("\n");
}

async function indexOf(folder: string): Promise<PackedPackage[]> {
  const all: PackedPackage[] = JSON.parse(await readFile(join(folder, "index.json"), "utf8"));
  return all.filter(isForNpm);
}

/** Nothing of the npm that runs this: its settings would be this one's. */
function environment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}
