// Everything that was installed comes from a package whose hash is in a lock file, and no install script brings more.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

type Locked = { version?: string; integrity?: string; resolved?: string; link?: true };

/** With the packages that each has to be installed by: those of its own node_modules. */
const folders = globSync("**/package-lock.json", {
  cwd: root,
  exclude: (name) => /(^|[\\/])(node_modules|data)$/.test(String(name)),
}).map((file) => {
  const folder = join(root, file, "..");
  const { packages } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
    packages: Record<string, Locked>;
  };
  return { folder, name: relative(root, folder) || ".", packages };
});

test("each package of each lock file has a hash, and none names a registry", () => {
  assert.ok(folders.length >= 5);
  for (const { name, packages } of folders) {
    for (const [path, { integrity, resolved, link }] of Object.entries(packages)) {
      if (link || !path.includes("node_modules/")) continue;
      assert.match(integrity ?? "", /^sha512-/, `${name}: ${path}`);
      assert.equal(resolved, undefined, `${name}: ${path}`);
    }
  }
});

test("nothing is installed that the lock file does not hold", () => {
  for (const { folder, name, packages } of folders) {
    for (const path of installedIn(folder, "node_modules")) {
      assert.ok(packages[path] !== undefined, `${name}: ${path} is not locked`);
    }
  }
});

test("each command leads into a locked package or a folder of the project", () => {
  for (const { folder, name, packages } of folders) {
    const commands = join(folder, "node_modules", ".bin");
    for (const command of existsSync(commands) ? readdirSync(commands) : []) {
      const path = relative(folder, realpathSync(join(commands, command)))
        .split(sep)
        .join("/");
      const isLocked = Object.keys(packages).some((each) => each && path.startsWith(`${each}/`));
      assert.ok(isLocked, `${name}: ${command} is ${path}`);
    }
  }
});

test("the Node that runs everything is the pinned program of a locked package", (t) => {
  const pinned = join(root, "node_modules", ".bin", "node");
  if (!existsSync(pinned)) return t.skip("no Node is pinned for this platform");
  assert.equal(realpathSync(process.execPath), realpathSync(pinned));
  const [, name = ""] = realpathSync(pinned).split(join(root, "node_modules") + sep);
  const locked = folders.find((each) => each.name === ".")?.packages;
  const { version } = locked?.[`node_modules/${name.split(sep)[0]}`] ?? {};
  assert.equal(process.version, `v${version}`);
});

test("no package may run an install script", () => {
  const setup = readFileSync(join(root, "scripts", "setup.mjs"), "utf8");
  assert.match(setup, /"--ignore-scripts"/);
  for (const { folder } of folders) {
    const { allowScripts = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    assert.deepEqual(
      Object.entries(allowScripts).filter(([, allowed]) => allowed !== false),
      [],
    );
  }
});

test("the registry has signed what is installed, where it hands out its keys", async (t) => {
  if (!(await hasKeys())) return t.skip("the registry hands out no keys, or is out of reach");
  const audit = ["audit", "signatures", "--json", "--fetch-retries=0"];
  const outcome = await run("npm", audit, { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  const found = readReport(outcome.stdout);
  if (found === null) return t.skip("npm could not get the registry's keys");
  assert.deepEqual(found, { invalid: [], missing: [] });
});

async function hasKeys(): Promise<boolean> {
  const { stdout: registry } = await run("npm", ["config", "get", "registry"], { cwd: root });
  const signal = AbortSignal.timeout(60_000);
  const answer = await fetch(new URL("-/npm/v1/keys", registry.trim()), { signal }).catch(
    () => null,
  );
  return answer?.ok ?? false;
}

/** Null when npm had nothing to compare with: it then answers with an error of its own. */
function readReport(text: string): { invalid: unknown[]; missing: unknown[] } | null {
  const report = text.trim() === "" ? {} : JSON.parse(text);
  const { invalid, missing } = report;
  return Array.isArray(invalid) && Array.isArray(missing) ? { invalid, missing } : null;
}

function installedIn(folder: string, path: string): string[] {
  const absolute = join(folder, path);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap(({ name }) => {
      const names = name.startsWith("@")
        ? readdirSync(join(absolute, name)).map((each) => `${name}/${each}`)
        : [name];
      return names.map((each) => `${path}/${each}`);
    })
    .filter((each) => existsSync(join(folder, each, "package.json")))
    .flatMap((each) => [each, ...installedIn(folder, `${each}/node_modules`)]);
}
