// One name for one thing: holds documentation, pages, mails, messages and tools to the words of docs/concepts.md.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

/** A word that we don't use, and the one that we use instead. */
const unused: readonly { pattern: RegExp; instead: string }[] = [
  { pattern: /\bwithdr(?:aw|ew)\w*/i, instead: "cancel" },
  { pattern: /\breviewers?\b/i, instead: "approver" },
  { pattern: /\bweb ?callbacks?\b/i, instead: "webhook, or callback" },
  { pattern: /\bdestinations?\b/i, instead: "endpoint, or mailbox" },
  { pattern: /\b(?:log|logs|logged|logging) in\b|(?<!\/\/)\blog-?in\b/i, instead: "sign in" },
  { pattern: /\b(?:log|logs|logged|logging) out\b|\blog-?out\b/i, instead: "sign out" },
  { pattern: /\bmagic links?\b/i, instead: "review link" },
  {
    pattern: /\b(?:den(?:y|ies|ied)|declin(?:e|es|ed)) (?:the |a |this )?request/i,
    instead: "reject",
  },
  { pattern: /\bdeactivat\w+/i, instead: "disable" },
  { pattern: /\b(?:turn|switch)(?:ed|es|s)? off (?:the |an |this )?endpoint/i, instead: "disable" },
  { pattern: /\btenants?\b(?!; common|:)/i, instead: "workspace" },
  { pattern: /\bredeliver\w*/i, instead: "resend" },
  { pattern: /(?<!--|<|openid )\bemails?\b(?!:)/i, instead: "mail, or e-mail address" },
  { pattern: /\be-mails?\b(?! addresse?s?)/i, instead: "mail, or e-mail address" },
  { pattern: /\btime-outs?\b/i, instead: "timeout" },
  { pattern: /\bone-time links?\b/i, instead: "sign-in link" },
  { pattern: /\bcodes? beside the link\b/i, instead: "review code" },
];

test("the documentation uses one word for each thing", () => {
  const pages = globSync(
    [
      "README.md",
      "SECURITY.md",
      "docs/*.md",
      "{sdk,mcp,hook,action,n8n,python,adapters,examples}/**/README.md",
    ],
    {
      cwd: root,
      exclude: (path) => path.includes("node_modules"),
    },
  );
  assert.ok(pages.length > 15);
  assert.deepEqual(
    pages.flatMap((page) => flaws(page, proseOf(read(page)))),
    [],
  );
});

test("pages, mails, messages and tools use the same words", () => {
  const sources = globSync(
    [
      "server/src/{*,chat/*,cli/*,domain/**/*,http/**/*,operations/**/*,outbound/*,wire/*,worker/*}.ts",
      "{action,hook,mcp,sdk}/src/**/*.ts",
      "web/src/{look,review,inbox,dashboard,editor,payload}/**/*.{ts,tsx}",
    ],
    { cwd: root },
  ).filter((path) => !path.includes(".test."));
  assert.ok(sources.length > 250);
  assert.deepEqual(
    sources.flatMap((path) => flaws(path, sentencesOf(read(path)))),
    [],
  );
});

test("a word that we don't use is noticed, in prose and in sentences of the code", () => {
  assert.equal(flaws("a.md", proseOf("The agent withdrew it.\n")).length, 1);
  assert.equal(flaws("a.md", proseOf("Run `login` or\n```\nlogin\n```\n")).length, 0);
  assert.equal(flaws("a.ts", sentencesOf('const a = "The reviewer has decided.";')).length, 1);
  assert.equal(
    flaws("a.ts", sentencesOf('const a = "reviewer"; // The reviewer decides.')).length,
    0,
  );
  assert.equal(flaws("a.tsx", sentencesOf("<p>\n  Ask the reviewer again.\n</p>")).length, 1);
});

function flaws(path: string, text: string): string[] {
  return text.split("\n").flatMap((line, at) =>
    unused
      .filter(({ pattern }) => pattern.test(line))
      .map(({ pattern, instead }) => {
        const [word] = pattern.exec(line) ?? [];
        return `${path}:${at + 1}: say "${instead}" instead of "${word}": ${line.trim().slice(0, 90)}`;
      }),
  );
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Without code, addresses and remarks, with as many lines. */
function proseOf(markdown: string): string {
  return blank(markdown, /^```[\s\S]*?^```$|`[^`\n]*`|\]\([^)\s]*\)|<!--[\s\S]*?-->|https?:\S+/gm);
}

/** Texts of more than one word, and what stands between tags: names of things in the code are not for readers. */
function sentencesOf(code: string): string {
  const remark = /^\s*(?:\/\/|\/?\*|import |export \{|} from)|(?<=[\s;])\/\/ .*$/;
  const text =
    /"([^"]* [^"]*)"|`([^`]* [^`]*)`|(?:^\s*|>)([A-Z][^<>{}=;()"`]* [^<>{}=;()"`]*)(?=<|$)/g;
  return code
    .split("\n")
    .map((line) => {
      if (/^\s*(?:\/\/|\/?\*|import |export \{|} from)/.test(line)) return "";
      const found = line.replace(remark, "").matchAll(text);
      const told = [...found].map(([, quoted, template, bare]) => quoted ?? template ?? bare ?? "");
      return told
        .filter((each) => !each.includes("&&"))
        .join(" | ")
        .replaceAll(/\$\{[^}]*\}/g, "…");
    })
    .join("\n");
}

function blank(text: string, pattern: RegExp): string {
  return text.replaceAll(pattern, (found) => found.replaceAll(/[^\n]/g, " "));
}
