// The built files, read once at the start: the pages and the packages. The names of a page's files change with their
// content, so browsers may keep them for ever.

import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { OperatorFault } from "../../domain/operator-fault.ts";
import type { Answer, Call } from "./call.ts";
import { acceptedEncodings, type Encoding } from "./compression.ts";
import { problem } from "./problems.ts";

/** The files of one page, as names below the base path. */
export type PageFiles = { script: string; parts: string[]; styles: string[]; icon: string };

/** The inbox as an app. Icons are names below the base path, by the name that they were built under. */
export type AppFiles = { serviceWorker: Buffer; icons: ReadonlyMap<string, string> };

export type Assets = {
  /** By name, without a folder. */
  files: ReadonlyMap<string, Buffer>;
  review: PageFiles;
  inbox: PageFiles;
  dashboard: PageFiles;
  app: AppFiles;
  /** The documentation's pages, by name. */
  docs: ReadonlyMap<string, Buffer>;
  /** The packed packages, and `index.json`, by name. */
  packages: ReadonlyMap<string, Buffer>;
};

const builtFolder = join(import.meta.dirname, "..", "..", "..", "..", "web", "dist");
const reviewEntry = "src/review/main.tsx";
const inboxEntry = "src/inbox/main.tsx";
const dashboardEntry = "src/dashboard/boot.ts";
/** The dashboard's first script only begins this one. */
const dashboardProgram = "src/dashboard/main.tsx";

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};
const suffixes: Record<Encoding, string> = { br: ".br", gzip: ".gz" };

export function loadAssets(folder: string = builtFolder): Assets {
  try {
    const files = [...readAll(join(folder, "assets")), ...readAll(join(folder, "docs/assets"))];
    const manifest = (name: string) => readFileSync(join(folder, name), "utf8");
    return toAssets(
      manifest("manifest.json"),
      new Map(files),
      manifest("dashboard-manifest.json"),
      readAll(join(folder, "docs/pages")),
      readAll(join(folder, "packages")),
      readAll(join(folder, "app")),
    );
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new OperatorFault("The pages are not built. Run npm run build, then start again.");
  }
}

function readAll(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder);
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

/** A bracket countersigned by a second one, in a colour that stands out on light and dark tabs. */
const iconBytes = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="none" stroke="#4f74d9" stroke-width="2.5"><path d="M8 3H3.5v14H8M9.5 6.5h7v7h-7"/></svg>\n`,
);
export const iconName = `icon-${hash("sha256", iconBytes, "hex").slice(0, 8)}.svg`;

/** One entry of the builder's manifest: a file, its styles, and the entries it cannot begin without. */
type Chunk = { file: string; css?: string[]; imports?: string[] };

/** The dashboard is built by itself and has a manifest of its own; the review page and the inbox share parts. */
export function toAssets(
  reviewManifest: string,
  files: ReadonlyMap<string, Buffer>,
  dashboardManifest: string,
  docs: ReadonlyMap<string, Buffer> = new Map(),
  packages: ReadonlyMap<string, Buffer> = new Map(),
  app: ReadonlyMap<string, Buffer> = new Map(),
): Assets {
  const { serviceWorker, icons, iconFiles } = toApp(app);
  return {
    files: new Map([...files, [iconName, iconBytes], ...iconFiles]),
    review: toPageFiles(reviewManifest, reviewEntry, reviewEntry),
    inbox: toPageFiles(reviewManifest, inboxEntry, inboxEntry),
    dashboard: toPageFiles(dashboardManifest, dashboardEntry, dashboardProgram),
    app: { serviceWorker, icons },
    docs,
    packages,
  };
}

const serviceWorkerName = "service-worker.js";

/** Icons get names that change with their content, as other files have them from the builder. */
function toApp(built: ReadonlyMap<string, Buffer>) {
  const icons = [...built].filter(([name]) => extname(name) === ".png");
  const named = icons.map(([name, bytes]) => {
    const digest = hash("sha256", bytes, "hex").slice(0, 8);
    return { name, bytes, file: name.replace(/\.png$/, `-${digest}.png`) };
  });
  return {
    serviceWorker: built.get(serviceWorkerName) ?? Buffer.alloc(0),
    icons: new Map(named.map(({ name, file }) => [name, `assets/${file}`])),
    iconFiles: named.map(({ file, bytes }): [string, Buffer] => [file, bytes]),
  };
}

function toPageFiles(manifestText: string, entryName: string, programName: string): PageFiles {
  const manifest = new Map(Object.entries<Chunk>(JSON.parse(manifestText)));
  const named = (name: string): Chunk => {
    const chunk = manifest.get(name);
    if (chunk !== undefined) return chunk;
    throw new OperatorFault(`The pages are built without ${name}. Run npm run build.`);
  };
  const entry = named(entryName);
  const chunks = new Set([entry, named(programName)]);
  for (const { imports = [] } of chunks) {
    for (const name of imports) chunks.add(manifest.get(name) ?? { file: name });
  }
  const [, ...imported] = chunks;
  const styles = new Set([...chunks].flatMap(({ css = [] }) => css));
  return {
    script: entry.file,
    parts: imported.map(({ file }) => file),
    styles: [...styles],
    icon: `assets/${iconName}`,
  };
}

export function showAsset({ files }: Assets, call: Call): Answer {
  const name = call.params.file ?? "";
  const type = types[extname(name)];
  const plain = files.get(name);
  if (plain === undefined || type === undefined) {
    return problem("not_found", "There is no such file. Load the page again.");
  }
  const { body, headers } = asAccepted(files, name, call);
  return {
    status: 200,
    headers: {
      "cache-control": "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "same-origin",
      ...headers,
    },
    type,
    body: body ?? plain,
  };
}

/** The caller's preferred one of a file and its compressed copies. */
export function asAccepted(
  files: ReadonlyMap<string, Buffer>,
  name: string,
  call: Call,
): { body: Buffer | undefined; headers: Record<string, string> } {
  const encoding = acceptedEncodings(call.header("accept-encoding")).find((each) =>
    files.has(name + suffixes[each]),
  );
  const body = files.get(encoding === undefined ? name : name + suffixes[encoding]);
  const headers = { vary: "Accept-Encoding" };
  return encoding === undefined
    ? { body, headers }
    : { body, headers: { ...headers, "content-encoding": encoding } };
}
