// Holds every package to what a registry and its users expect, as it was packed by the build.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { isForNpm, type PackedPackage } from "./packages.ts";
import { complaintsAbout } from "./publishing/checkers.ts";
import {
  commands,
  complaintsAboutPacked,
  complaintsAboutRelease,
  tryInFreshFolder,
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
