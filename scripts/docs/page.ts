// The HTML around the text of a documentation page: the bar above, the pages beside it, the contents of the page, and
// the links to the next. Addresses are relative, so that the pages work under any path.

import { escapeHtml } from "../../server/src/domain/mail/html-text.ts";
import { iconName } from "../../server/src/http/frame/assets.ts";
import { type DocsPage, type DocsReader, readers, reference } from "../../web/src/docs/contents.ts";
import type { Heading } from "./markdown.ts";
import type { RenderedReference } from "./reference.ts";

/** Names of built files, in the folder of assets. */
export type SiteFiles = {
  script: string;
  styles: string[];
  search: string;
  /** The modules that the script imports. */
  parts: string[];
};

export type Frame = {
  files: SiteFiles;
  /** The readers and their existing pages. */
  readers: readonly DocsReader[];
};

/** From a page's address to the root of the service. */
const fromIndex = ".";
const fromPage = "..";
/** The service fills it in, for pages that answer to any address. */
const basePlaceholder = "{{base}}";

/** Fewer headings need no list. */
const tocHeadingsMin = 3;
/** With more of them, only those of the second level are listed. */
const tocHeadingsMax = 16;

export type ArticleParts = {
  page: DocsPage;
  title: string;
  html: string;
  headings: Heading[];
};

export function articleHtml(frame: Frame, { page, title, html, headings }: ArticleParts): string {
  const reader = frame.readers.find(({ pages }) => pages.includes(page));
  const toc = tocOf(headings);
  const [head = "", ...rest] = html.split("</h1>\n");
  const inlineToc =
    toc === "" ? "" : `<details class="toc-inline"><summary>On this page</summary>${toc}</details>`;
  return htmlOf(frame, {
    title,
    description: page.about,
    toRoot: fromPage,
    current: page.slug,
    markdown: `${page.slug}.md`,
    body: `<main id="main" tabindex="-1">
<article class="prose">
<p class="eyebrow">${escapeHtml(reader?.name ?? "")}</p>
${head}</h1>
${inlineToc}
${rest.join("</h1>\n")}</article>
${wayOn(frame, page)}
<footer class="foot"><a href="${page.slug}.md">This page as Markdown</a><a href="../llms.txt">llms.txt, for agents</a></footer>
</main>
${toc === "" ? "" : `<nav class="toc" aria-labelledby="toc"><h2 id="toc">On this page</h2>${toc}</nav>`}`,
  });
}

export function indexHtml(frame: Frame): string {
  const groups = frame.readers.map((reader, at) => {
    const items = reader.pages.map((page) => cardOf(fromIndex, page)).join("\n");
    const more = at === 0 ? `\n${cardOf(fromIndex, reference)}` : "";
    return `<section class="group"><h2>${escapeHtml(reader.name)}</h2><p>${escapeHtml(reader.about)}</p>
<ul class="cards">
${items}${more}
</ul></section>`;
  });
  return htmlOf(frame, {
    title: "Documentation",
    description: "Countersign: an agent pauses before a sensitive action and waits for a person.",
    toRoot: fromIndex,
    current: null,
    markdown: "./llms.txt",
    body: `<main id="main" tabindex="-1" class="welcome">
<header class="lead">
<h1>An agent asks. A person decides.</h1>
<p>Before it moves money or deletes data, your agent says exactly what it wants to do, and waits. Somebody reads it, may correct it, and approves or rejects. What runs is what they saw.</p>
<p class="lead-links"><a class="lead-first" href="./docs/quickstart">Start in five minutes</a><a href="./docs/${reference.slug}">API reference</a></p>
</header>
${groups.join("\n")}
<footer class="foot"><a href="./llms.txt">llms.txt, for agents</a><a href="./v1/openapi.json">OpenAPI document</a></footer>
</main>`,
  });
}

export function referenceHtml(frame: Frame, { html, headings }: RenderedReference): string {
  const toc = tocOf(headings);
  return htmlOf(frame, {
    title: reference.name,
    description: reference.about,
    toRoot: fromPage,
    current: reference.slug,
    markdown: "http-api.md",
    body: `<main id="main" tabindex="-1" class="reference">
<article class="prose">
<p class="eyebrow">${escapeHtml(frame.readers[0]?.name ?? "")}</p>
<h1>${escapeHtml(reference.name)}</h1>
<details class="toc-inline"><summary>On this page</summary>${toc}</details>
${html}</article>
<footer class="foot"><a href="http-api.md">The API as Markdown</a><a href="../v1/openapi.json">OpenAPI document</a></footer>
</main>`,
  });
}

/** One page for every address below /docs that leads nowhere. */
export function notFoundHtml(frame: Frame): string {
  return htmlOf(frame, {
    title: "There is no such page",
    description: "",
    toRoot: basePlaceholder,
    current: null,
    markdown: null,
    body: `<main id="main" tabindex="-1">
<article class="prose">
<p class="eyebrow">Not found</p>
<h1>There is no such page</h1>
<p>It may have been renamed, or the address may be mistyped. All pages are in the list of pages, and the search looks through them.</p>
<p><a href="${basePlaceholder}/docs">To the documentation’s beginning</a></p>
</article>
</main>`,
  });
}

type HtmlParts = {
  title: string;
  description: string;
  toRoot: string;
  /** Null if it isn't one of the listed pages. */
  current: string | null;
  markdown: string | null;
  body: string;
};

function htmlOf(frame: Frame, parts: HtmlParts): string {
  const { files } = frame;
  const { title, description, toRoot, markdown } = parts;
  const asset = (name: string) => `${toRoot}/assets/${name}`;
  const links = [
    ...files.styles.map((name) => `<link rel="stylesheet" href="${asset(name)}">`),
    ...(markdown === null
      ? []
      : [`<link rel="alternate" type="text/markdown" href="${markdown}" title="Markdown">`]),
    `<script type="module" src="${asset(files.script)}"></script>`,
  ];
  return `<!doctype html>
<html lang="en" data-root="${toRoot}" data-search="${asset(files.search)}">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)} · Countersign</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
${description === "" ? "" : `<meta name="description" content="${escapeHtml(description)}">\n`}<link rel="icon" type="image/svg+xml" href="${asset(iconName)}">
${links.join("\n")}
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
${barOf(toRoot, parts.current)}
<div class="frame">
${railOf(frame, parts)}
${parts.body}
</div>
</body>
</html>
`;
}

const brand = `<span class="brand"><svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M8 3H3.5v14H8"/><path class="brand-second" d="M9.5 6.5h7v7h-7"/></svg>countersign</span>`;
const glass = `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/></svg>`;
const lines = `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/></svg>`;

function barOf(toRoot: string, current: string | null): string {
  return `<header class="bar">
<button type="button" class="bar-menu" popovertarget="pages">${lines}<span class="sr-only">All pages</span></button>
<a class="bar-brand" href="${toRoot}/docs">${brand}<span class="bar-docs">docs</span></a>
<button type="button" class="find" hidden>${glass}<span class="find-word">Search</span><kbd aria-hidden="true">/</kbd></button>
<nav class="bar-links" aria-label="Elsewhere"><a href="${toRoot}/docs/${reference.slug}"${current === reference.slug ? ' aria-current="page"' : ""}>API reference</a><a href="${toRoot}/app">Dashboard</a></nav>
</header>`;
}

/** On a small screen it opens over the page. */
function railOf(frame: Frame, { toRoot, current }: HtmlParts): string {
  const groups = frame.readers.map(({ name, pages }, at) => {
    const entries = [...pages, ...(at === 0 ? [reference] : [])];
    const items = entries.map(
      (page) =>
        `<li><a href="${toRoot}/docs/${page.slug}"${page.slug === current ? ' aria-current="page"' : ""}>${escapeHtml(page.name)}</a></li>`,
    );
    return `<h2>${escapeHtml(name)}</h2>\n<ul>${items.join("")}</ul>`;
  });
  return `<nav class="rail" id="pages" popover aria-label="Pages">
${groups.join("\n")}
</nav>`;
}

function tocOf(headings: Heading[]): string {
  const upTo = headings.filter(({ level }) => level === 2 || level === 3);
  const levelMax = upTo.length > tocHeadingsMax ? 2 : 3;
  const listed = upTo.filter(({ level }) => level <= levelMax);
  if (listed.length < tocHeadingsMin) return "";
  const items = listed.map(
    ({ level, id, text }) =>
      `<li class="toc-${level}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<ul>${items.join("")}</ul>`;
}

function cardOf(
  toRoot: string,
  { slug, name, about }: Pick<DocsPage, "slug" | "name" | "about">,
): string {
  return `<li><a href="${toRoot}/docs/${slug}">${escapeHtml(name)}</a><p>${escapeHtml(about)}</p></li>`;
}

function wayOn({ readers: shown }: Frame, page: DocsPage): string {
  const all = shown.flatMap(({ pages }) => pages);
  const at = all.indexOf(page);
  const link = (to: DocsPage | undefined, word: string) =>
    to === undefined
      ? ""
      : `<a class="way-${word.toLowerCase()}" href="${to.slug}"><span>${word}</span>${escapeHtml(to.name)}</a>`;
  return `<nav class="way" aria-label="Neighbouring pages">${link(all[at - 1], "Previous")}${link(all[at + 1], "Next")}</nav>`;
}

/** The contents without pages whose file is missing. */
export function readersWith(isThere: (page: DocsPage) => boolean): DocsReader[] {
  return readers.map((reader) => ({ ...reader, pages: reader.pages.filter(isThere) }));
}
