// Turns a page's Markdown into HTML, its headings, and its words for the search. Flaws, such as a link that leads
// nowhere, are collected and reported at the end.

import MarkdownIt from "markdown-it";
import { escapeHtml } from "../../server/src/domain/mail/html-text.ts";
import { highlight } from "./highlight.ts";

export type Heading = { level: number; id: string; text: string };
/** The text below one heading. */
export type Section = { id: string; heading: string; text: string };

export type RenderedMarkdown = {
  title: string;
  html: string;
  headings: Heading[];
  sections: Section[];
  problems: string[];
};

/** The target of a link on the rendered page; null shows it as plain words. */
export type ResolveLink = (href: string) => { href: string } | { problem: string } | null;

/** The file of a picture, its size, and its twin for dark pages; null if it isn't there. */
export type ResolvePicture = (src: string) => Picture | null;
type Picture = { href: string; width: number; height: number; darkHref: string | null };

type Token = ReturnType<typeof parser.parse>[number];
/** The results beside the HTML. */
type Notes = {
  resolve: ResolveLink;
  resolvePicture: ResolvePicture;
  problems: string[];
  codeBlocks: number;
  tables: number;
};

const comment = /^\s*<!--[\s\S]*?-->\s*$/;
/** Enough of a block of code to be found by its content. */
const searchedCodeCharactersMax = 600;

/** HTML is recognised so that it can be refused, and its comments left out. */
const settings = { html: true, linkify: false, typographer: false };
const parser = new MarkdownIt(settings);

export function renderMarkdown(
  text: string,
  resolve: ResolveLink,
  resolvePicture: ResolvePicture,
): RenderedMarkdown {
  const notes: Notes = { resolve, resolvePicture, problems: [], codeBlocks: 0, tables: 0 };
  const tokens = parser.parse(text, {});
  const headings = nameHeadings(tokens);
  const titles = headings.filter(({ level }) => level === 1);
  if (titles.length !== 1) notes.problems.push("it needs exactly one heading of the first level");
  return {
    title: titles[0]?.text ?? "",
    html: makeRenderer(notes).render(tokens, parser.options, {}),
    headings,
    sections: toSections(tokens, headings),
    problems: notes.problems,
  };
}

/** One for each page, because its rules record what they find. */
function makeRenderer(notes: Notes) {
  const { renderer } = new MarkdownIt(settings);
  const { rules } = renderer;
  rules.fence = (tokens, at) => {
    const { info, content } = tokens[at] as Token;
    const language = info.trim().split(/\s+/)[0] ?? "";
    const code = content.replace(/\n$/, "");
    const highlighted = highlight(code, language === "" ? "text" : language);
    if (highlighted === null) notes.problems.push(`no colours for code in "${language}"`);
    const { label, html } = highlighted ?? { label: language, html: escapeHtml(code) };
    notes.codeBlocks += 1;
    const name = `${label}, example ${notes.codeBlocks}`;
    return `<figure class="code" data-language="${escapeHtml(language)}"><figcaption>${escapeHtml(label)}</figcaption><pre tabindex="0" role="group" aria-label="${escapeHtml(name)}"><code>${html}\n</code></pre></figure>\n`;
  };
  rules.table_open = () => {
    notes.tables += 1;
    return `<div class="table" tabindex="0" role="group" aria-label="Table ${notes.tables}"><table>\n`;
  };
  rules.table_close = () => "</table></div>\n";
  rules.heading_open = (tokens, at) => {
    const { tag, attrs } = tokens[at] as Token;
    const id = escapeHtml(idOf(attrs));
    return tag === "h1" ? "<h1>" : `<div class="heading"><${tag} id="${id}">`;
  };
  rules.heading_close = (tokens, at) => {
    const { tag } = tokens[at] as Token;
    if (tag === "h1") return "</h1>\n";
    const id = escapeHtml(idOf((tokens[at - 2] as Token).attrs));
    const text = escapeHtml(textOf(tokens[at - 1] as Token));
    return `</${tag}><a class="anchor" href="#${id}" aria-label="Link to “${text}”">#</a></div>\n`;
  };
  rules.html_block = rules.html_inline = (tokens, at) => {
    const { content } = tokens[at] as Token;
    if (comment.test(content)) return "";
    notes.problems.push(`HTML is not used here: ${content.trim().slice(0, 40)}`);
    return escapeHtml(content);
  };
  rules.link_open = (tokens, at) => {
    const token = tokens[at] as Token;
    const target = notes.resolve(String(token.attrGet("href")));
    if (target !== null && "problem" in target) notes.problems.push(target.problem);
    if (target === null || "problem" in target) return `<span class="elsewhere">`;
    const { href } = target;
    return /^https?:/.test(href)
      ? `<a href="${escapeHtml(href)}" rel="noreferrer">`
      : `<a href="${escapeHtml(href)}">`;
  };
  rules.link_close = (tokens, at) => {
    let open = at;
    for (let depth = 1; depth > 0; ) {
      open -= 1;
      if (tokens[open]?.type === "link_close") depth += 1;
      if (tokens[open]?.type === "link_open") depth -= 1;
    }
    const target = notes.resolve(String(tokens[open]?.attrGet("href")));
    return target === null || "problem" in target ? "</span>" : "</a>";
  };
  rules.image = (tokens, at) => {
    const token = tokens[at] as Token;
    const src = String(token.attrGet("src"));
    const picture = notes.resolvePicture(src);
    if (picture === null) notes.problems.push(`the picture ${src} is not there`);
    if (token.content === "") notes.problems.push(`the picture ${src} has no words for it`);
    return picture === null ? "" : pictureHtml(picture, token.content);
  };
  return renderer;
}

/** With its size, so that the text below doesn't move when the picture comes. */
function pictureHtml({ href, width, height, darkHref }: Picture, words: string): string {
  const image = `<img src="${escapeHtml(href)}" alt="${escapeHtml(words)}" width="${width}" height="${height}" loading="lazy" decoding="async">`;
  if (darkHref === null) return image;
  return `<picture><source media="(prefers-color-scheme: dark)" srcset="${escapeHtml(darkHref)}">${image}</picture>`;
}

/** The headings alone: the targets of other pages' links. */
export function headingsOf(text: string): Heading[] {
  return nameHeadings(parser.parse(text, {}));
}

/** The sections alone: what the search looks through. */
export function sectionsOf(text: string): Section[] {
  const tokens = parser.parse(text, {});
  return toSections(tokens, nameHeadings(tokens));
}

/** Gives each heading the same anchor as GitHub, so that links work here and there. */
function nameHeadings(tokens: Token[]): Heading[] {
  const seen = new Map<string, number>();
  return tokens.flatMap((token, at) => {
    if (token.type !== "heading_open") return [];
    const text = textOf(tokens[at + 1] as Token);
    const slug = slugOf(text);
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    const id = times === 0 ? slug : `${slug}-${times}`;
    token.attrSet("id", id);
    return [{ level: Number(token.tag.slice(1)), id, text }];
  });
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

function toSections(tokens: Token[], headings: Heading[]): Section[] {
  const sections: Section[] = [];
  const left = [...headings];
  for (const [at, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const heading = left.shift();
      if (heading !== undefined) {
        const { level, id, text } = heading;
        sections.push({ id: level === 1 ? "" : id, heading: text, text: "" });
      }
    }
    const section = sections.at(-1);
    if (section === undefined) continue;
    const isHeading = tokens[at - 1]?.type === "heading_open";
    if (token.type === "inline" && !isHeading) section.text += `${textOf(token)} `;
    if (token.type === "fence") {
      section.text += `${token.content.slice(0, searchedCodeCharactersMax)} `;
    }
  }
  return sections.map(({ text, ...rest }) => ({ ...rest, text: oneLine(text) }));
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function textOf({ children }: Token): string {
  return (children ?? [])
    .map(({ type, content }) => {
      if (type === "text" || type === "code_inline") return content;
      return type === "softbreak" || type === "hardbreak" ? " " : "";
    })
    .join("");
}

function idOf(attrs: Token["attrs"]): string {
  return String(attrs?.find(([name]) => name === "id")?.[1] ?? "");
}

/** The Markdown for agents: without comments to its writers, and with links that work where it is served. */
export function servedMarkdown(text: string, resolve: (href: string) => string): string {
  let isCode = false;
  const lines = text.replaceAll(/^<!--[\s\S]*?-->\n/gm, "").split("\n");
  return lines
    .map((line) => {
      if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
      if (isCode) return line;
      return line.replaceAll(/\]\(([^()\s]+)\)/g, (_all, href: string) => `](${resolve(href)})`);
    })
    .join("\n");
}
