// The packages that users install, packed as `npm pack` does it in a fresh clone: from a copy of their sources, so that
// what this clone has built is neither used nor replaced.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";

export const packageFolders = [
  "sdk",
  "mcp",
  "hook",
  "action",
  "n8n",
  "adapters/ai-sdk",
  "adapters/langchain",
  "adapters/mastra",
  "adapters/openai-agents",
];

/** One row of `index.json`, beside the packed files. */
export type PackedPackage = {
  name: string;
  version: string;
  file: string;
  bytes: number;
  /** As npm writes it into lock files. */
  integrity: string;
};

/** Everything that can change a packed file. */
export const packageSources = [
  "LICENSE",
  "package-lock.json",
  "tsconfig.json",
  "adapters/tsconfig.build.json",
  "scripts/{packages.ts,prepack.mjs}",
  `{${packageFolders.join(",")}}/{README.md,package.json,tsconfig*.json,bundle.vite.mjs,action.yml}`,
  `{${packageFolders.join(",")}}/{bin,src,nodes,credentials}/**/*.{ts,mjs,svg}`,
  // The SDK's testing kit follows the service's own rules.
  "server/src/domain/**/*.ts",
  "verify/src/**/*.ts",
  "python/{README.md,pyproject.toml,build_backend.py}",
  "python/src/**/*.{py,typed}",
];

/** Of the packages in the index, those that npm installs. pip installs one, and one is a program by itself. */
export function isForNpm({ file }: PackedPackage): boolean {
  return file.endsWith(".tgz");
}

const execute = promisify(execFile);

/** Writes the packed files and their index into a folder that is emptied first. */
export async function packAll(root: string, destination: string): Promise<void> {
  const clone = await mkdtemp(join(tmpdir(), "countersign-packages-"));
  try {
    await copySources(root, clone);
    const folders = packageFolders.map((folder) => join(clone, folder));
    const prepack = join(clone, "scripts", "prepack.mjs");
    const built = await Promise.allSettled(
      folders.map((cwd) => execute(process.execPath, [prepack], { cwd })),
    );
    // Only now, because the others write to the folder that is removed below.
    for (const outcome of built) if (outcome.status === "rejected") throw outcome.reason;
    await rm(destination, { recursive: true, force: true });
    await mkdir(destination, { recursive: true });
    // Their scripts have run: a user's settings may forbid npm to run any.
    const options = ["--ignore-scripts", "--loglevel=error", "--pack-destination", destination];
    await execute("npm", ["pack", ...options, ...folders], { cwd: clone });
    const index = await Promise.all(folders.map((folder) => describe(folder, destination)));
    index.push(await packPython(root, clone, destination));
    index.push(await packVerifier(root, destination));
    await writeFile(join(destination, "index.json"), JSON.stringify(index, null, 2));
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}

async function copySources(root: string, clone: string): Promise<void> {
  const made = new Set(["node_modules", "dist", "LICENSE", "test", "runtimes"]);
  const options = { recursive: true, filter: (path: string) => !made.has(basename(path)) };
  for (const folder of packageFolders) {
    await cp(join(root, folder), join(clone, folder), options);
  }
  await cp(join(root, "server/src/domain"), join(clone, "server/src/domain"), options);
  const files = [
    "tsconfig.json",
    "adapters/tsconfig.build.json",
    "scripts/prepack.mjs",
    "server/package.json",
  ];
  for (const file of files) {
    await cp(join(root, file), join(clone, file));
  }
  await cp(join(root, "LICENSE"), join(clone, "LICENSE"));
  await symlink(join(root, "node_modules"), join(clone, "node_modules"));
}

/**
 * The Python SDK as its sources, of which pip builds the wheel by itself, without a registry. npm packs these, too: the
 * same archive each time, on machines without Python.
 */
async function packPython(
  root: string,
  clone: string,
  destination: string,
): Promise<PackedPackage> {
  const from = join(root, "python");
  const folder = join(clone, "python");
  const version = /^version = "(.*)"$/m.exec(await readFile(join(from, "pyproject.toml"), "utf8"));
  const manifest = { name: "countersign-python", version: version?.[1] };
  for (const file of ["README.md", "pyproject.toml", "build_backend.py"]) {
    await cp(join(from, file), join(folder, file));
  }
  const isSource = (path: string) => basename(path) !== "__pycache__";
  await cp(join(from, "src"), join(folder, "src"), { recursive: true, filter: isSource });
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const options = ["--ignore-scripts", "--loglevel=error", "--pack-destination", destination];
  await execute("npm", ["pack", ...options, folder], { cwd: clone });
  const file = `countersign-${manifest.version}.tar.gz`;
  await rename(
    join(destination, `countersign-python-${manifest.version}.tgz`),
    join(destination, file),
  );
  return describeFile("countersign", manifest.version ?? "", file, destination);
}

/** The verifier as one file without imports but Node's own: an auditor copies it, and reads what it runs. */
async function packVerifier(root: string, destination: string): Promise<PackedPackage> {
  const { version } = JSON.parse(await readFile(join(root, "sdk", "package.json"), "utf8"));
  const file = "countersign-verify.mjs";
  // Loaded only now: most starts pack nothing.
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({ input: join(root, "verify/src/main.ts"), platform: "node" });
  await bundle.write({
    file: join(destination, file),
    format: "esm",
    minify: false,
    banner: "#!/usr/bin/env node",
  });
  await bundle.close();
  return describeFile("countersign-verify", version, file, destination);
}

async function describe(folder: string, destination: string): Promise<PackedPackage> {
  const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
  return describeFile(name, version, file, destination);
}

async function describeFile(
  name: string,
  version: string,
  file: string,
  destination: string,
): Promise<PackedPackage> {
  const bytes = await readFile(join(destination, file));
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  return { name, version, file, bytes: bytes.length, integrity };
}
