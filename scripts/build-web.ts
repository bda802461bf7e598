// Builds the pages when their sources have changed since they were last built, and puts a compressed copy beside each
// file, so that the service compresses nothing that it sends twice.

import { createHash } from "node:crypto";
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const root = join(import.meta.dirname, "..");
const dist = join(root, "web/dist");
const stamp = join(dist, "built-from");
/** Everything that can end up in a page, or decides how it is built. */
const sources = [
  "package-lock.json",
  "scripts/build-web.ts",
  "web/vite.config.ts",
  "web/dashboard.vite.config.ts",
  "web/src/**/*.{ts,tsx,css}",
  "server/src/domain/**/*.ts",
  "sdk/src/**/*.ts",
];
/** Smaller files fit one packet as they are. */
const compressedBytesMin = 1_024;

const wanted = await digestOfSources();
if ((await readFile(stamp, "utf8").catch(() => null)) !== wanted) {
  // Only now: most starts build nothing, and need not wait for the builder to load.
  const { build } = await import("vite");
  // One after the other: the first empties the folder that both write to.
  for (const config of ["vite.config.ts", "dashboard.vite.config.ts"])
    await build({ configFile: join(root, "web", config), logLevel: "warn" });
  for await (const file of glob("assets/*.{js,css}", { cwd: dist }))
    await compress(join(dist, file));
  await writeFile(stamp, wanted);
}

async function digestOfSources(): Promise<string> {
  const files: string[] = [];
  for await (const file of glob(sources, { cwd: root })) files.push(file);
  const digest = createHash("sha256");
  for (const file of files.sort())
    digest.update(`${file}\0`).update(await readFile(join(root, file)));
  return digest.digest("hex");
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length < compressedBytesMin) return;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, quality));
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
