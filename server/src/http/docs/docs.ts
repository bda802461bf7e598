// Serves the documentation: pages, their Markdown, and the files agents look for. The build renders them; this file
// only sends them, or a 304.

import { hash } from "node:crypto";
import { extname } from "node:path";
import { escapeHtml } from "../../domain/mail/html-text.ts";
import { type Assets, asAccepted } from "../frame/assets.ts";
import { type Answer, type Call, repeated } from "../frame/call.ts";
import { acceptedEncodings, compressed } from "../frame/compression.ts";
import { docsHeaders } from "../frame/page-headers.ts";
import { basePathOf } from "../frame/paths.ts";

export type DocsCalls = { assets: Assets; origin: { readonly publicUrl: string } };

const htmlType = "text/html; charset=utf-8";
const markdownType = "text/markdown; charset=utf-8";
const types: Readonly<Record<string, string>> = {
  ".md": markdownType,
  ".json": "application/json; charset=utf-8",
};
/** A browser and an agent get different answers at the same address. */
const negotiated = { vary: "Accept, Accept-Encoding" };
const etagCharacters = 20;
/** Files beside the pages without an address of this kind. */
const isNoPage: ReadonlySet<string> = new Set(["index", "not-found"]);

/** /docs: agents that ask for Markdown get the list of all pages. */
export function showIndex(calls: DocsCalls, call: Call): Answer | Promise<Answer> {
  return wantsMarkdown(call)
    ? showText(calls, call, "llms.txt", { type: markdownType, headers: negotiated })
    : showFile(calls, call, "index.html");
}

/** /docs/…: a page, or its Markdown, by the ending or by the Accept header. */
export function showPage(calls: DocsCalls, call: Call): Answer | Promise<Answer> {
  const name = call.params["*"] ?? "";
  if (name === "") return toIndex(calls);
  if (/^[a-z0-9-]+\.json$/.test(name)) return showFile(calls, call, name);
  const slug = name.replace(/\.md$/, "");
  if (!/^[a-z0-9-]+$/.test(slug) || isNoPage.has(slug)) return showNothing(calls, call);
  const isMarkdown = name.endsWith(".md") || wantsMarkdown(call);
  if (slug !== "api") return showFile(calls, call, `${slug}${isMarkdown ? ".md" : ".html"}`);
  // The reference's words in Markdown are a page of their own.
  return isMarkdown
    ? showFile(calls, call, "http-api.md")
    : showText(calls, call, "api.html", { type: htmlType, headers: negotiated });
}

const plainText = { type: "text/plain; charset=utf-8", headers: { vary: "Accept-Encoding" } };

/** A text with the service's own address filled in. */
export async function showText(
  { assets, origin }: DocsCalls,
  call: Call,
  name: "llms.txt" | "llms-full.txt" | "api.html",
  { type, headers }: { type: string; headers: { vary: string } } = plainText,
): Promise<Answer> {
  const { body, etag, forms } = textOf(assets, name, origin.publicUrl);
  const answer = { status: 200, headers: { ...docsHeaders, ...headers }, type, body };
  const told = unlessKnown(call, answer, etag);
  if (told.body === null || call.isHead) return compressed(call, told);
  const [encoding = "plain"] = acceptedEncodings(call.header("accept-encoding"));
  const form = forms.get(`${encoding} ${type}`) ?? compressed(call, told);
  forms.set(`${encoding} ${type}`, form);
  return form;
}

/** Filled in, hashed and compressed once, because anybody may ask for it at any rate. */
type Text = { body: string; etag: string; forms: Map<string, Promise<Answer>> };

const texts = new WeakMap<Assets, Map<string, Text>>();

function textOf(assets: Assets, name: string, url: string): Text {
  const known = texts.get(assets) ?? new Map<string, Text>();
  texts.set(assets, known);
  const text = known.get(`${name} ${url}`);
  if (text !== undefined) return text;
  const body = fill(assets, name, { url: name.endsWith(".html") ? escapeHtml(url) : url });
  const made: Text = { body, etag: etagOf(body), forms: new Map() };
  known.set(`${name} ${url}`, made);
  return made;
}

function showFile(calls: DocsCalls, call: Call, name: string): Answer | Promise<Answer> {
  const { docs } = calls.assets;
  const { body, headers } = asAccepted(docs, name, call);
  if (body === undefined) return showNothing(calls, call);
  return unlessKnown(call, {
    status: 200,
    headers: { ...docsHeaders, ...headers, ...negotiated },
    type: types[extname(name)] ?? htmlType,
    body,
  });
}

function showNothing({ assets, origin }: DocsCalls, call: Call): Promise<Answer> {
  const body = fill(assets, "not-found.html", { base: basePathOf(origin.publicUrl) });
  return compressed(call, { status: 404, headers: docsHeaders, type: htmlType, body });
}

function toIndex({ origin }: DocsCalls): Answer {
  return { status: 302, headers: { location: `${origin.publicUrl}/docs` }, body: null };
}

/** The values are ours: addresses of the service. */
function fill({ docs }: Assets, name: string, values: Record<string, string>): string {
  return String(docs.get(name) ?? "").replaceAll(
    /\{\{([a-z]+)\}\}/g,
    (all, key: string) => values[key] ?? all,
  );
}

/** Browsers may keep pages, but ask each time, so that nobody reads about an older version. */
function unlessKnown(call: Call, answer: Answer, etag = etagOf(answer.body ?? "")): Answer {
  const headers = { ...answer.headers, etag };
  const known = call.header("if-none-match");
  if (known === null || known === repeated) return { ...answer, headers };
  const tags = known.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) ? { status: 304, headers, body: null } : { ...answer, headers };
}

function etagOf(body: string | Uint8Array): string {
  return `"${hash("sha256", body, "hex").slice(0, etagCharacters)}"`;
}

/** Browsers never name text/markdown; agents name it first. */
function wantsMarkdown(call: Call): boolean {
  const accept = call.header("accept");
  if (accept === null || accept === repeated) return false;
  return accept.includes("text/markdown") && !accept.includes("text/html");
}
