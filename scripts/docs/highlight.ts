// Colours code when the documentation is built: each piece gets a class that names its kind, and the page's style gives
// it a colour in light and dark. An inline style would break the Content-Security-Policy.

import { createOnigurumaEngine } from "@shikijs/engine-oniguruma";
import console from "@shikijs/langs/console";
import go from "@shikijs/langs/go";
import http from "@shikijs/langs/http";
import ini from "@shikijs/langs/ini";
import json from "@shikijs/langs/json";
import nginx from "@shikijs/langs/nginx";
import python from "@shikijs/langs/python";
import shell from "@shikijs/langs/shellscript";
import sql from "@shikijs/langs/sql";
import typescript from "@shikijs/langs/typescript";
import yaml from "@shikijs/langs/yaml";
import { codeToTokensBase, createShikiPrimitive } from "@shikijs/primitive";
import { escapeHtml } from "../../server/src/domain/mail/html-text.ts";

/** By the name at the fence: the readers' name of the language, and the grammar's. */
const languages: Readonly<Record<string, { label: string; grammar: string | null }>> = {
  console: { label: "Terminal", grammar: "console" },
  go: { label: "Go", grammar: "go" },
  http: { label: "HTTP", grammar: "http" },
  ini: { label: "Settings", grammar: "ini" },
  js: { label: "JavaScript", grammar: "typescript" },
  json: { label: "JSON", grammar: "json" },
  nginx: { label: "nginx", grammar: "nginx" },
  python: { label: "Python", grammar: "python" },
  sh: { label: "Shell", grammar: "shellscript" },
  sql: { label: "SQL", grammar: "sql" },
  text: { label: "Text", grammar: null },
  ts: { label: "TypeScript", grammar: "typescript" },
  yaml: { label: "YAML", grammar: "yaml" },
};

/** The colours stand for classes and are never seen. */
const kinds = [
  { name: "comment", color: "#000001", scope: ["comment", "punctuation.definition.comment"] },
  {
    name: "string",
    color: "#000002",
    scope: ["string", "punctuation.definition.string", "constant.other.symbol"],
  },
  {
    name: "constant",
    color: "#000003",
    scope: ["constant.numeric", "constant.language", "constant.character", "support.constant"],
  },
  {
    name: "keyword",
    color: "#000004",
    scope: ["keyword", "storage", "keyword.operator.expression", "keyword.operator.new"],
  },
  {
    name: "name",
    color: "#000005",
    scope: [
      "entity.name.function",
      "support.function",
      "entity.name.command",
      "keyword.other.special-method",
      "entity.name.type",
      "support.class",
      "support.type.primitive",
      "entity.name.tag",
    ],
  },
  {
    name: "key",
    color: "#000006",
    scope: [
      "support.type.property-name",
      "meta.object-literal.key",
      "variable.other.constant",
      "variable.other.normal.shell",
      "punctuation.definition.variable.shell",
      "keyword.other.definition.ini",
    ],
  },
  {
    name: "quiet",
    color: "#000007",
    scope: ["punctuation.separator.prompt", "keyword.operator", "punctuation.separator"],
  },
] as const;

const themeName = "kinds";
const shiki = createShikiPrimitive({
  // Twice as fast as the one that needs no WebAssembly.
  engine: await createOnigurumaEngine(import("@shikijs/engine-oniguruma/wasm-inlined")),
  langs: [...[console, go, http, ini, json], ...[nginx, python, shell, sql, typescript, yaml]],
  themes: [
    {
      name: themeName,
      type: "light",
      fg: "#000000",
      bg: "#ffffff",
      settings: kinds.map(({ color, scope }) => ({
        scope: [...scope],
        settings: { foreground: color },
      })),
    },
  ],
});

export type Highlighted = { label: string; html: string };

/** Null for a language without a rule here. */
export function highlight(code: string, language: string): Highlighted | null {
  const known = languages[language];
  if (known === undefined) return null;
  const { label, grammar } = known;
  if (grammar === null) return { label, html: escapeHtml(code) };
  const lines = codeToTokensBase(shiki, code, { lang: grammar, theme: themeName });
  const html = lines.map((line) =>
    line.map(({ content, color }) => piece(content, color)).join(""),
  );
  return { label, html: html.join("\n") };
}

function piece(text: string, color: string | undefined): string {
  const kind = kinds.find((each) => each.color === color?.toLowerCase());
  const escaped = escapeHtml(text);
  return kind === undefined ? escaped : `<span class="code-${kind.name}">${escaped}</span>`;
}
