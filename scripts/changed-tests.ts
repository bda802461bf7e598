// Chooses the tests for `npm test -- --changed`: the files that import a changed file, through any number of others.
// Tests that reach a change only by starting the whole service are counted, and left to `npm test`.

import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { importsOf, type SourceFile, targetOf } from "../server/test/source-text.ts";

export type Choice = {
  /** Test files that the change can break. */
  chosen: string[];
  /** Test files that meet the change only in a running service or a browser. */
  leftOut: string[];
  /** Changed files that no chosen test imports or reads. */
  unmet: string[];
};

type Reader = {
  reads: RegExp;
  /** They take seconds. */
  quick: readonly string[];
  /** They start a service, and are left out. */
  slow: readonly string[];
};

const pages = /\.md$/;

/** Tests that read files which they don't import. */
const readers: readonly Reader[] = [
  {
    reads: /\.(?:tsx?|css|sql)$/,
    quick: ["architecture", "packages", "effects"].map((name) => `server/test/${name}.test.ts`),
    slow: [],
  },
  {
    reads: pages,
    quick: [
      ...["links", "error-codes", "configuration"].map((name) => `docs/${name}.test.ts`),
      "server/test/submitted-fields.test.ts",
    ],
    slow: ["docs/code-blocks.test.ts", "server/test/docs.test.ts"],
  },
  { reads: /^server\/migrations\//, quick: ["server/test/migrating.test.ts"], slow: [] },
  { reads: /^deploy\//, quick: ["docs/deploying.test.ts"], slow: [] },
];

/** The files that differ from where this branch left main; on main itself, the files with uncommitted changes. */
export async function changedFiles(root: string): Promise<string[]> {
  const git = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)("git", args, { cwd: root });
    return stdout.split("\n").filter((line) => line !== "");
  };
  const main = await git("rev-parse", "--verify", "main")
    // A clone of a branch alone has no main of its own.
    .catch(() => git("rev-parse", "--verify", "origin/main"))
    .catch(() => ["HEAD"]);
  const [base = "HEAD"] = await git("merge-base", "HEAD", ...main).catch(() => []);
  const [changed, added] = await Promise.all([
    git("diff", "--name-only", "--relative", base),
    git("ls-files", "--others", "--exclude-standard"),
  ]);
  return [...new Set([...changed, ...added])].sort();
}

/** The source of each module that our packages export, by the name under which it is imported. */
export type PackageSources = ReadonlyMap<string, string>;

type Manifest = { name: string; exports?: Record<string, string | Record<string, string>> };

/** `text` is the package.json of a package in this folder. */
export function sourcesOf(folder: string, text: string): [name: string, path: string][] {
  const { name, exports = {} } = JSON.parse(text) as Manifest;
  return Object.entries(exports).flatMap(([place, module]): [string, string][] => {
    const source = typeof module === "string" ? undefined : module["countersign:source"];
    return source === undefined ? [] : [[join(name, place), join(folder, source)]];
  });
}

/** `files` are all TypeScript files of the repository, by their paths in it. */
export function chooseTests(
  files: SourceFile[],
  changed: readonly string[],
  packages: PackageSources = new Map(),
): Choice {
  const imports = new Map(files.map((file) => [file.path, importedBy(file, packages)]));
  const isChanged = new Set(changed);
  /** The changed files that a test reaches. */
  const touched = (path: string, follows: (from: string, to: string) => boolean) => {
    const reached = new Set([path]);
    for (const from of reached) {
      for (const to of imports.get(from) ?? []) if (follows(from, to)) reached.add(to);
    }
    return [...reached].filter((each) => isChanged.has(each));
  };
  const tests = files.map(({ path }) => path).filter((path) => path.endsWith(".test.ts"));
  const met = new Map(tests.map((path) => [path, touched(path, isNearby)]));
  const reading = readers.filter(({ reads }) => changed.some((path) => reads.test(path)));
  const quick = new Set(reading.flatMap((reader) => reader.quick));
  const slow = new Set(reading.flatMap((reader) => reader.slow));
  const chosen = tests.filter((path) => met.get(path)?.length || quick.has(path));
  const isPageChanged = changed.some((path) => path.startsWith("web/"));
  const leftOut = tests
    .filter((path) => !chosen.includes(path))
    .filter(
      (path) =>
        slow.has(path) ||
        touched(path, () => true).length > 0 ||
        (isPageChanged && isJourney(path)),
    );
  const imported = new Set([...met.values()].flat());
  const unmet = changed.filter((path) => !imported.has(path) && !pages.test(path));
  return { chosen, leftOut, unmet };
}

/** Types are gone when a program runs; `tsc` looks after them. */
function importedBy(file: SourceFile, packages: PackageSources): string[] {
  return importsOf(file).flatMap((each) =>
    each.isType ? [] : (targetOf(file, each) ?? packages.get(each.specifier) ?? []),
  );
}

/** Follows no import of a file that starts the service, nor out of the test helpers: through them tests reach all. */
function isNearby(from: string, to: string): boolean {
  if (dirname(from) === "server/src") return false;
  return !isHelper(from) || isHelper(to) || dirname(to) === "server/src";
}

function isHelper(path: string): boolean {
  return /^(?:[a-z]+\/test|e2e)\//.test(path) && !path.endsWith(".test.ts");
}

function isJourney(path: string): boolean {
  return path.startsWith(join("e2e", "/"));
}
