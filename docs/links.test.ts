// Every link from one page of the documentation to another leads somewhere, to the heading if it names one.

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const pages = globSync(
  [
    "*.md",
    "{sdk,mcp,hook,action,n8n,python,adapters,adapters/*,examples,bench}/*.md",
    "docs/**/*.md",
  ],
  {
    cwd: root,
  },
).sort();

test("no link within the documentation is dead", () => {
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  );
  assert.deepEqual(dead, []);
});

/** Without code, in which brackets and parentheses mean other things. */
function prose(page: string): string {
  return readFileSync(join(root, page), "utf8")
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ""));
}

function linksOf(page: string): string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(([, link, source]) => link ?? source ?? "")
    .filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? page : relative(root, join(root, dirname(page), path));
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || headingsOf(target).includes(heading);
}

/** As GitHub and the site name them. */
function headingsOf(page: string): string[] {
  return [...prose(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}
