// Holds every package to what a registry and its users expect, as it was packed by the build.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { isForNpm, type PackedPackage } from "./packages.ts";
import { complaintsAbout } from "./publishing/checkers.ts";
import {
  billOfMaterials,
  commands,
  complaintsAboutPacked,
  complaintsAboutRelease,
  tryInFreshFolder,
  writeBillOfMaterials,
} from "./release.ts";

const packed = join(import.meta.dirname, "..", "web", "dist", "packages");
const all: PackedPackage[] = JSON.parse(readFileSync(join(packed, "index.json"), "utf8"));
const index = all.filter(isForNpm);

test("publint and arethetypeswrong have nothing to say about any package", async () => {
  assert.deepEqual(await complaintsAboutPacked(packed), []);
});

test("all packages have the version of the service, and are published with provenance", async () => {
  assert.deepEqual(await complaintsAboutRelease(), []);
});

test("a package that exports a file it does not have is noticed", async () => {
  const { file = "" } = index.find(({ name }) => name === "@countersign/sdk") ?? {};
  const tar = gunzipSync(readFileSync(join(packed, file)));
  // The same length, so that the archive stays whole.
  const broken = tar
    .toString("latin1")
    .replaceAll("./dist/tool-call.d.ts", "./dist/tool-cell.d.ts");
  const complaints = await complaintsAbout(gzipSync(Buffer.from(broken, "latin1")));
  assert.ok(
    complaints.some((complaint) => /tool-cell/.test(complaint)),
    complaints.join("\n"),
  );
});

test("all packages are installed together in a fresh folder, each loads there, and the gates say no", async () => {
  const said = await tryInFreshFolder(packed);
  assert.equal(said.match(/ true$/gm)?.length, index.length - commands.size, said);
  assert.match(said, /^countersign-mcp countersign 0\.1\.0$/m);
  assert.match(said, /^countersign-hook refuses with 2$/m);
  assert.match(said, /^action refuses with 1$/m);
  assert.match(said, /^n8n Countersign$/m);
});

test("the bill of materials names every package of the lock file, with its version and hash, and no place of this machine", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cs-bill-"));
  try {
    await writeBillOfMaterials(folder);
    const text = readFileSync(join(folder, billOfMaterials), "utf8");
    const root = join(import.meta.dirname, "..");
    assert.ok(!text.includes(root));
    const { bomFormat, metadata, components } = JSON.parse(text);
    assert.equal(bomFormat, "CycloneDX");
    assert.deepEqual(
      [metadata.component.name, metadata.component.version],
      ["countersign", "0.1.0"],
    );
    type Component = { purl: string; hashes?: { content: string }[]; licenses?: object[] };
    const byPurl = new Map<string, Component>(
      components.map((component: Component) => [decodeURIComponent(component.purl), component]),
    );
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
    type Locked = { version: string; integrity?: string; link?: boolean; name?: string };
    const locked = Object.entries<Locked>(lock.packages).filter(
      ([path, { link }]) => path.includes("node_modules/") && link !== true,
    );
    assert.ok(locked.length > 100);
    for (const [path, { version, integrity = "", name }] of locked) {
      const named = name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      const component = byPurl.get(`pkg:npm/${named}@${version}`);
      assert.ok(component !== undefined, `${named}@${version}`);
      const digest = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
      assert.ok(
        component.hashes?.some(({ content }) => content === digest),
        named,
      );
    }
    for (const name of ["fastify", "pg", "preact"]) {
      const component = components.find((each: { name: string }) => each.name === name);
      assert.ok(component?.licenses?.length > 0, name);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
