// Holds the shape that ARCHITECTURE.md promises: layers, rooms, names and sizes. Each rule is a pure
// function over a list of files, so that it can be shown a small counterexample beside the real tree.

import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import { blanked, importsOf, relativeTargets, type SourceFile } from "./source-text.ts";
import {
  allows,
  breaks,
  holds,
  isInMcp,
  isInSdk,
  isTest,
  layerOf,
  layers,
  serverSources,
  source,
  sources,
  tree,
  wholeTree,
} from "./source-tree.ts";

const roomFilesMax = 27;
const fileLinesMax = 400;

test("the walk finds the sources, so that no rule holds for want of files", () => {
  for (const path of [
    "server/src/main.ts",
    "server/src/domain/approval/approval.ts",
    "sdk/src/contract.ts",
    "mcp/src/tools.ts",
    "web/src/review/main.tsx",
  ]) {
    assert.ok(
      tree.some((file) => file.path === path),
      `${path} was not found`,
    );
  }
  assert.ok(tree.flatMap((file) => importsOf(file)).length > 200);
});

test("imports go down the layers, never up nor to a neighbour", () => {
  holds(keepsLayers);
  breaks(keepsLayers, source("domain/a.ts", `import { x } from "../storage/x.ts";`));
  breaks(keepsLayers, source("domain/a.ts", `import type { X } from "../operations/x.ts";`));
  breaks(keepsLayers, source("storage/a.ts", `export { x } from "../operations/x.ts";`));
  breaks(keepsLayers, source("storage/a.ts", `export * from "../outbound/x.ts";`));
  breaks(keepsLayers, source("database/a.ts", `import { x } from "../storage/x.ts";`));
  breaks(keepsLayers, source("outbound/a.ts", `import "../storage/x.ts";`));
  breaks(keepsLayers, source("operations/a.ts", `import { x } from "../outbound/x.ts";`));
  breaks(keepsLayers, source("operations/a.ts", `const x = await import("../http/x.ts");`));
  breaks(keepsLayers, source("http/a.ts", `import { x } from "../worker/x.ts";`));
  breaks(keepsLayers, source("http/a.ts", `import { x } from "../outbound/x.ts";`));
  breaks(keepsLayers, source("http/a.ts", `import { x } from "../chat/x.ts";`));
  breaks(keepsLayers, source("chat/a.ts", `import { x } from "../worker/x.ts";`));
  breaks(keepsLayers, source("cli/a.ts", `import { x } from "../http/x.ts";`));
  breaks(keepsLayers, source("worker/a.ts", `import type { Config } from "../config.ts";`));
  breaks(keepsLayers, source("storage/a.ts", `import { openLog } from "../log.ts";`));
  breaks(keepsLayers, source("http/a.ts", `import { x } from "../../test/x.ts";`));
  breaks(keepsLayers, source("services/a.ts", ""));
  breaks(keepsLayers, source("another-start.ts", ""));
  allows(keepsLayers, source("serve.ts", `import { x } from "./http/x.ts";`));
  allows(keepsLayers, source("worker/a.ts", `import { x } from "../outbound/x.ts";`));
  allows(keepsLayers, source("domain/a.test.ts", `import { x } from "../../test/x.ts";`));
  allows(keepsLayers, source("domain/a.ts", `// import { x } from "../storage/x.ts";`));
  allows(keepsLayers, source("domain/a.ts", 'const text = `import "../storage/x.ts";`;'));
});

test("no two rooms import each other both ways", () => {
  holds(goesOneWay);
  const down = source("http/api/a.ts", `import { b } from "../frame/b.ts";`);
  const up = source("http/frame/c.ts", `import type { D } from "../api/d.ts";`);
  breaks(goesOneWay, down, up);
  breaks(
    goesOneWay,
    source("domain/a.ts", `import { b } from "./shown/b.ts";`),
    source("domain/shown/c.ts", `import { d } from "../d.ts";`),
  );
  breaks(
    goesOneWay,
    { path: "web/src/look/a.css", text: `@import "../payload/b.css";` },
    { path: "web/src/payload/c.tsx", text: `import "../look/d.css";` },
  );
  allows(goesOneWay, down, source("http/frame/c.test.ts", up.text));
  allows(goesOneWay, down, source("http/frame/c.ts", `import { b } from "./b.ts";`));
});

test(`a room holds at most ${roomFilesMax} files`, () => {
  holds(hasRoom);
  const full = Array.from({ length: roomFilesMax }, (_, at) => source(`http/api/${at}.ts`, ""));
  breaks(hasRoom, ...full, source("http/api/more.ts", ""));
  allows(hasRoom, ...full, source("http/api/a.test.ts", ""), source("http/api/more/a.ts", ""));
});

test(`no source file is longer than ${fileLinesMax} lines`, () => {
  holds(isShort, wholeTree);
  breaks(isShort, source("a.ts", "\n".repeat(fileLinesMax + 1)));
  allows(isShort, source("a.ts", "\n".repeat(fileLinesMax)));
  allows(isShort, source("a.test.ts", "\n".repeat(fileLinesMax + 1)));
});

test("every file and folder is named for what is in it", () => {
  holds(isNamedForContent);
  for (const name of vagueNames) {
    breaks(isNamedForContent, source(`${name}.ts`, ""));
    breaks(isNamedForContent, source(`domain/${name}.test.ts`, ""));
    breaks(isNamedForContent, source(`${name}/a.ts`, ""));
  }
  allows(isNamedForContent, source("domain/common-name.ts", ""));
  allows(isNamedForContent, { path: publishedSurface, text: "" });
});

test("Node can run the source: no decorator, and .tsx for the web alone", () => {
  holds(isRunnable, wholeTree);
  breaks(isRunnable, source("a.ts", "@sealed\nclass A {}"));
  breaks(isRunnable, source("a.ts", "class A {\n  @logged() run() {}\n}"));
  breaks(isRunnable, source("a.tsx", ""));
  allows(isRunnable, source("a.ts", "/** @see b */\nconst a = 'ann@example.com @b';"));
  allows(isRunnable, { path: "web/src/review/a.tsx", text: "" });
});

test("every source file opens with a comment that says what it is for", () => {
  holds(opensWithComment);
  breaks(opensWithComment, source("a.ts", `import "./b.ts";\n// A comment, but too late.`));
  breaks(opensWithComment, source("a.ts", "//\nexport const a = 1;"));
  breaks(opensWithComment, source("a.ts", ""));
  allows(opensWithComment, source("a.ts", "// What it is for.\n"));
  allows(opensWithComment, source("a.test.ts", `import assert from "node:assert/strict";`));
  allows(opensWithComment, source("a.ts", "/** What it is for. */\n"));
});

function keepsLayers(files: SourceFile[]): string[] {
  const program = serverSources(files).filter(({ path }) => !isTest(path));
  return program.flatMap((file) => {
    const layer = layerOf(file.path);
    if (layer === null) return [`${file.path} is in no layer`];
    return relativeTargets(file)
      .filter((target) => !isInSdk(target) && !isInMcp(target))
      .filter((target) => {
        const other = layerOf(target);
        return other === null || (other !== layer && !layers[layer]?.includes(other));
      })
      .map((target) => `${file.path} (${layer}) may not import ${target}`);
  });
}

function goesOneWay(files: SourceFile[]): string[] {
  const imports = new Map<string, string>();
  for (const file of sources(files).filter(({ path }) => !isTest(path))) {
    for (const target of relativeTargets(file)) {
      const [from, to] = [posix.dirname(file.path), posix.dirname(target)];
      if (from !== to) imports.set(`${from} ${to}`, `${file.path} imports ${target}`);
    }
  }
  return [...imports].flatMap(([rooms, there]) => {
    const [from = "", to = ""] = rooms.split(" ");
    const back = from < to ? imports.get(`${to} ${from}`) : undefined;
    return back === undefined ? [] : [`${there}, and ${back}`];
  });
}

function hasRoom(files: SourceFile[]): string[] {
  const program = sources(files).filter(({ path }) => !isTest(path));
  const rooms = Object.groupBy(program, ({ path }) => posix.dirname(path));
  return Object.entries(rooms)
    .filter(([, held = []]) => held.length > roomFilesMax)
    .map(([room, held = []]) => `${room} holds ${held.length} files: divide it by family`);
}

function isShort(files: SourceFile[]): string[] {
  return files
    .filter(({ path }) => !isTest(path))
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > fileLinesMax)
    .map(({ path, lines }) => `${path} has ${lines} lines: it holds more than one idea`);
}

const vagueNames = "utils helpers common shared types constants misc lib index".split(" ");
const publishedSurface = "sdk/src/index.ts";

function isNamedForContent(files: SourceFile[]): string[] {
  const others = files.filter(({ path }) => path !== publishedSurface);
  return others.flatMap(({ path }) => {
    const names = path.split("/").map((part) => part.replace(/(\.test)?\.tsx?$/, ""));
    const vague = names.find((name) => vagueNames.includes(name));
    return vague === undefined ? [] : [`${path}: "${vague}" does not say what is in it`];
  });
}

/** The rest of what Node can't strip is refused by `tsc` (erasableSyntaxOnly) and Biome. */
function isRunnable(files: SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (file.path.endsWith(".css")) return [];
    if (file.path.endsWith(".tsx") && !file.path.startsWith("web/"))
      return [`${file.path}: .tsx is for the web alone`];
    const isDecorated = /(?:^|[;{}\s])@[A-Za-z_$]/.test(blanked(file).code);
    return isDecorated ? [`${file.path} holds a decorator, which Node can't strip`] : [];
  });
}

function opensWithComment(files: SourceFile[]): string[] {
  return sources(files)
    .filter(({ path }) => !isTest(path)) // these are named for the file beside them
    .filter(({ text }) => !/^(?:#!.*\n)?(?:\/\/[^\n]*\w|\/\*[\s*]*\w)/.test(text))
    .map(({ path }) => `${path} does not open with a comment that says what it is for`);
}
