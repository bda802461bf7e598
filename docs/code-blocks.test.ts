// Runs the code blocks of the documentation against the real service, and holds each of them to a language whose
// treatment is known. docs/test/code-block.ts says how a page tells what happens while a block runs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { operations } from "../scripts/docs/operations.ts";
import { samplesOf } from "../scripts/docs/samples.ts";
import { openApi } from "../server/src/http/docs/openapi.ts";
import { type CodeBlock, codeBlocksOf, runLanguages, shownLanguages } from "./test/code-block.ts";
import {
  type DocumentedService,
  npxScript,
  startDocumentedService,
} from "./test/documented-service.ts";
import { missingFor, runBlock, saveBlock } from "./test/run-block.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..");
/** Calls that only an approved request answers. */
const approvedOnly = /redeem|receipt|effective-payload|\.effectivePayload\(|log-proof|\.logProof\(/;

const writtenPages = globSync(
  ["README.md", "{sdk,mcp,hook,action,n8n,python,adapters,adapters/*}/README.md", "docs/*.md"],
  {
    cwd: root,
  },
)
  // Their frameworks and engines are installed in adapters/ and examples/durable/, where tests of their own run them.
  .filter((path) => !["adapters.md", "durable.md"].some((name) => path === join("docs", name)))
  .sort()
  .map((path) => ({ path, blocks: codeBlocksOf(path, readFileSync(join(root, path), "utf8")) }));
const pages = [...writtenPages, ...referencePages()];
const blocks = pages.flatMap((page) => page.blocks);

let folder = "";
let service: DocumentedService;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-docs-"));
  await Promise.all([
    layOut(),
    startDocumentedService().then((started) => {
      service = started;
    }),
  ]);
});

after(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

test("every code block is of a language whose treatment is known, and JSON is JSON", (t) => {
  for (const { page, line, language, text, notRun } of blocks) {
    const place = `${page}:${line}`;
    if (language === "json") assert.doesNotThrow(() => JSON.parse(text), place);
    else if (notRun !== null) assert.ok(notRun.length > 10, `${place}: say why it is not run`);
    else
      assert.ok(
        [...runLanguages, ...shownLanguages].includes(language),
        `${place}: "${language}" is neither run (${runLanguages}) nor only shown (${shownLanguages})`,
      );
  }
  const runnable = blocks.filter(isRun);
  const missing = runnable.filter((block) => missingFor(block) !== null);
  const shown = blocks.filter(({ language }) => shownLanguages.includes(language));
  const parsed = blocks.filter(({ language }) => language === "json");
  const excused = blocks.filter(({ notRun }) => notRun !== null);
  t.diagnostic(
    `${blocks.length} code blocks: ${runnable.length - missing.length} run, ${parsed.length} parsed, ${shown.length} shown only, ${excused.length} excused, ${missing.length} skipped`,
  );
  for (const { page, line, notRun } of excused) t.diagnostic(`${page}:${line}: ${notRun}`);
});

test("every TypeScript block type-checks as it stands", async () => {
  const config = join(folder, "tsconfig.json");
  try {
    await execute(join(root, "node_modules", ".bin", "tsc"), ["-p", config]);
  } catch (error) {
    assert.fail((error as { stdout?: string }).stdout ?? String(error));
  }
});

describe("the code blocks run, in their order", { concurrency: 3 }, () => {
  for (const { path, blocks: own } of pages) {
    const runnable = own.filter(isRun);
    if (runnable.length === 0) continue;
    test(path, async (t) => {
      const page = await service.openPage();
      const place = {
        folder: folderOf(path),
        page,
        environment: { ...environment(), ...page.environment },
      };
      for (const block of runnable) {
        const missing = missingFor(block);
        const name = `line ${block.line}: ${block.fileName ?? block.language}`;
        const skip = missing === null ? false : `${missing} is not installed here`;
        await t.test(name, { skip }, () => runBlock(block, place));
      }
    });
  }
});

/** The samples of the API reference, a page for each language: both use the same idempotency key, with other bytes. */
function referencePages() {
  const { id } = openApi.paths["/v1/requests"].post.responses["201"].content["application/json"]
    .example as { id: string };
  return (["sh", "ts"] as const).map((language) => {
    const path = `reference-${language}`;
    const samples = operations.flatMap((operation) =>
      samplesOf(operation).filter((sample) => sample.language === language),
    );
    const own = samples.map(({ code }, at): CodeBlock => {
      const text = code
        .replaceAll("{{url}}", "http://localhost:3000")
        .replaceAll(id, approvedOnly.test(code) ? "approved_…" : "req_…");
      const isDecided = text.includes("?wait=") || text.includes("waitForDecision");
      const meanwhile = isDecided
        ? ({ kind: "approve", edit: null } as const)
        : ({ kind: "nothing" } as const);
      return {
        page: path,
        line: at + 1,
        language,
        text: `${text}\n`,
        meanwhile,
        needs: [],
        notRun: null,
        fileName: null,
      };
    });
    return { path, blocks: own };
  });
}

function isRun({ language, notRun }: CodeBlock): boolean {
  return runLanguages.includes(language) && notRun === null;
}

function folderOf(page: string): string {
  return join(folder, "pages", page.replaceAll("/", "-").replace(/\.md$/, ""));
}

/** Nothing of ours but the way to programs: a block must do with what its page says. */
function environment(): Record<string, string> {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env;
  return {
    PATH: `${join(folder, "bin")}:${PATH}`,
    HOME,
    NODE_COMPILE_CACHE,
    // So that a block fails when a call is refused.
    CURL_HOME: folder,
    PYTHONDONTWRITEBYTECODE: "1",
    // As if it were installed. python/test/package.test.ts installs it.
    PYTHONPATH: join(root, "python", "src"),
  };
}

/** The folder of a reader who has installed the SDK, once for all pages. */
async function layOut(): Promise<void> {
  const bin = join(folder, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "npx"), npxScript);
  await chmod(join(bin, "npx"), 0o755);
  await symlink(process.execPath, join(bin, "node"));
  await writeFile(join(folder, ".curlrc"), "fail-with-body\n");
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(compilerConfig()));
  await Promise.all([
    installPackages(),
    ...blocks
      .filter((block) => block.language === "ts")
      .map((block) => saveBlock(folderOf(block.page), block, block.text)),
    ...pages.map(({ path }) => layOutCommand(folderOf(path))),
  ]);
}

/** Commands on a page are for the folder of a clone, where the operator's command is. */
async function layOutCommand(place: string): Promise<void> {
  await mkdir(join(place, "bin"), { recursive: true });
  await symlink(join(root, "bin", "countersign"), join(place, "bin", "countersign"));
}

/** The SDK as it is published, and whatever else of ours a page imports. */
async function installPackages(): Promise<void> {
  const modules = join(folder, "node_modules");
  const sdk = join(modules, "@countersign", "sdk");
  await mkdir(sdk, { recursive: true });
  await writeFile(
    join(sdk, "package.json"),
    readFileSync(join(root, "sdk", "package.json"), "utf8"),
  );
  await symlink(join(root, "node_modules", "fastify"), join(modules, "fastify"));
  // Installed beside the frameworks that there are adapters for, because nothing of ours needs it.
  await symlink(join(root, "adapters", "node_modules", "express"), join(modules, "express"));
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const build = (project: string, outDir: string) =>
    execute(tsc, ["-p", join(root, "sdk", project), "--outDir", join(sdk, outDir)]);
  await Promise.all([
    build("tsconfig.json", "dist"),
    build("tsconfig.testing.json", join("dist", "testing")),
  ]);
}

function compilerConfig() {
  return {
    compilerOptions: {
      strict: true,
      target: "es2024",
      module: "nodenext",
      types: ["node"],
      typeRoots: [join(root, "node_modules", "@types")],
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
    },
    include: ["pages/**/*.ts"],
  };
}
