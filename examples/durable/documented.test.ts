// The page shows these files, and not what they once were.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { codeBlocksOf } from "../../docs/test/code-block.ts";

const root = join(import.meta.dirname, "..", "..");
const page = "docs/durable.md";
const markdown = readFileSync(join(root, page), "utf8");

test("every program on the page about engines is a file that runs in a test, to the letter", () => {
  const lines = markdown.split("\n");
  const blocks = codeBlocksOf(page, markdown);
  assert.equal(blocks.length, 7);
  for (const { line, text } of blocks) {
    const [, path = ""] = /^\[(.+)\]\(\.\.\/\1\):$/.exec(lines[line - 3] ?? "") ?? [];
    assert.notEqual(path, "", `${page}:${line} names no file`);
    assert.equal(text, readFileSync(join(root, path), "utf8"), path);
  }
});
