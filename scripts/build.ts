// Builds the pages, the SDK and the packages when their sources have changed since they were last built. Beside each
// file of a page it puts a compressed copy, so that the service compresses nothing that it sends twice. The service
// itself is not built, but has Node compile it ahead of its first start.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { compileCacheFolder } from "../server/bin/compile-cache.mjs";
import { packAll, packageSources } from "./packages.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "web/dist");
const docsDist = join(dist, "docs");
/** Everything that can end up in a page, or that decides how it is built. */
const pageSources = [
  "package-lock.json",
  "scripts/build.ts",
  "web/vite.config.ts",
  "web/dashboard.vite.config.ts",
  "web/app.vite.config.ts",
  "web/src/{look,payload,editor,review,inbox,dashboard}/**/*.{ts,tsx,css,png}",
  "server/src/domain/shown/**/*.ts",
  "sdk/src/**/*.ts",
];
/** The same for the documentation. */
const docsSources = [
  "package-lock.json",
  "scripts/build.ts",
  "scripts/docs/*.ts",
  "web/docs.vite.config.ts",
  "web/src/look/tokens.css",
  "web/src/docs/**/*.{ts,css}",
  "docs/*.{md,json}",
  "docs/images/*",
  "server/src/http/docs/openapi*.ts",
  "server/src/domain/**/*.ts",
  "sdk/README.md",
  "SECURITY.md",
];
/** The SDK is built so that programs beside it can import it by its name. */
const sdkDist = join(root, "sdk/dist");
const sdkSources = [
  "package-lock.json",
  "tsconfig.json",
  "sdk/tsconfig*.json",
  "sdk/src/**/*.ts",
  // The testing kit follows the service's own rules.
  "server/src/domain/**/*.ts",
];
/** The service hands them out, so that nobody has to look for them in a registry. */
const packagesDist = join(dist, "packages");
/** Everything that the service loads. The lock file names the Node that compiles it. */
const serviceSources = ["package-lock.json", "{server,mcp,sdk}/{bin,src}/**/*.{ts,mjs}"];
/** Smaller files fit one packet as they are. */
const compressedBytesMin = 1_024;
/** Above this size the best compression takes seconds for a few percent. */
const bestQualityBytesMax = 1024 * 1024;
const largeQuality = 9;

await buildWhenChanged(dist, pageSources, async () => {
  // One after the other: the first empties the folder that all write to.
  await bundle("vite.config.ts");
  await bundle("dashboard.vite.config.ts");
  await bundle("app.vite.config.ts");
  await compressAll("assets/*.{js,css}", dist);
});
await buildWhenChanged(docsDist, docsSources, async () => {
  await bundle("docs.vite.config.ts");
  const { renderSite } = await import("./docs/site.ts");
  await renderSite(root, docsDist);
  await compressAll("assets/*.{js,css,json}", docsDist);
  await compressAll("pages/*.{html,md}", docsDist);
});

await buildWhenChanged(sdkDist, sdkSources, async () => {
  for (const project of ["tsconfig.json", "tsconfig.testing.json"]) {
    await promisify(execFile)(join(root, "node_modules/.bin/tsc"), [
      "-p",
      join(root, "sdk", project),
    ]);
  }
});

await buildWhenChanged(packagesDist, packageSources, () => packAll(root, packagesDist));

// The service starts without it as well, only slower: if the folder can't be written, or the process ends early, the
// start continues, and reports errors of its sources itself.
await buildWhenChanged(compileCacheFolder, serviceSources, compileService).catch(() => {});

async function buildWhenChanged(
  folder: string,
  sources: string[],
  build: () => Promise<void>,
): Promise<void> {
  const stamp = join(folder, "built-from");
  const wanted = await digestOf(sources);
  if ((await readFile(stamp, "utf8").catch(() => null)) === wanted) return;
  await build();
  await writeFile(stamp, wanted);
}

async function bundle(config: string): Promise<void> {
  // Loaded only now: most starts build nothing, and need not wait for the builder.
  const { build } = await import("vite");
  await build({ configFile: join(root, "web", config), logLevel: "warn" });
}

/** In its own process, which finds no other cache in use. */
async function compileService(): Promise<void> {
  // The remains of other versions, or of a process that was killed while it wrote.
  await rm(compileCacheFolder, { recursive: true, force: true });
  await mkdir(compileCacheFolder, { recursive: true });
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const program = join(root, "server/bin/warm-compile-cache.mjs");
  await promisify(execFile)(process.execPath, [program], { env });
}

async function digestOf(sources: string[]): Promise<string> {
  const files: string[] = [];
  for await (const file of glob(sources, { cwd: root })) files.push(file);
  const digest = createHash("sha256");
  for (const file of files.sort())
    digest.update(`${file}\0`).update(await readFile(join(root, file)));
  return digest.digest("hex");
}

/** A file whose name changes with its content is compressed once. */
async function compressAll(pattern: string, folder: string): Promise<void> {
  const files: string[] = [];
  for await (const file of glob(pattern, { cwd: folder })) files.push(join(folder, file));
  const isDone = (file: string) => existsSync(`${file}.br`) && existsSync(`${file}.gz`);
  await Promise.all(files.filter((file) => !isDone(file)).map(compress));
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length < compressedBytesMin) return;
  const level = bytes.length > bestQualityBytesMax ? largeQuality : constants.BROTLI_MAX_QUALITY;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: level } };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, quality));
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
