// Renders the documentation: from the Markdown files of the repository to the files that the service serves below
// /docs. Flaws are written beside them, and a test fails on them; a link that leads nowhere is no reason not to start.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, glob, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, extname, join, posix } from "node:path";
import { type DocsPage, pages, reference } from "../../web/src/docs/contents.ts";
import type { SearchEntry } from "../../web/src/docs/search.ts";
import { type ImageSize, sizeOf } from "./image-size.ts";
import {
  headingsOf,
  type ResolveLink,
  type ResolvePicture,
  renderMarkdown,
  type Section,
  sectionsOf,
  servedMarkdown,
} from "./markdown.ts";
import {
  articleHtml,
  type Frame,
  indexHtml,
  notFoundHtml,
  readersWith,
  referenceHtml,
  type SiteFiles,
} from "./page.ts";
import { renderReference } from "./reference.ts";

type Source = { page: DocsPage; text: string; anchors: Set<string> };

export async function renderSite(root: string, dist: string): Promise<void> {
  const assets = join(dist, "assets");
  await mkdir(assets, { recursive: true });
  const problems: string[] = [];
  const sources = await readSources(root, problems);
  const images = await copyImages(root, assets);
  const data = await readData(root);
  const files = await builtFiles(dist);
  const rendered = sources.map((source) => {
    const links = linksFrom(source.page, { root, sources, images, data });
    const pictures = picturesFrom(source.page, images);
    return { ...source, ...renderMarkdown(source.text, links, pictures) };
  });
  const drawn = renderReference(errorCodesOf(sources));
  const entries = searchEntries([...rendered, { page: reference, ...drawn }]);
  const search = await writeNamed(assets, "docs-search.json", JSON.stringify(entries));
  const frame: Frame = {
    files: { ...files, search },
    readers: readersWith((page) => sources.some((source) => source.page === page)),
  };
  const written = new Map<string, string>();
  for (const { page, text, problems: flaws, ...parts } of rendered) {
    problems.push(...flaws.map((flaw) => `${page.file}: ${flaw}`));
    written.set(`${page.slug}.html`, articleHtml(frame, { page, ...parts }));
    written.set(
      `${page.slug}.md`,
      servedMarkdown(text, markdownLinksFrom(page, { sources, images })),
    );
  }
  for (const [file, text] of data) written.set(basename(file), text);
  written.set("index.html", indexHtml(frame));
  written.set(`${reference.slug}.html`, referenceHtml(frame, drawn));
  written.set("not-found.html", notFoundHtml(frame));
  written.set("llms.txt", llmsText(frame));
  written.set("llms-full.txt", fullText(sources, written));
  await writePages(join(dist, "pages"), written);
  await writeFile(join(dist, "problems.json"), `${JSON.stringify(problems, null, 2)}\n`);
  for (const problem of problems) process.stderr.write(`Documentation: ${problem}\n`);
  const pictures = [...images.values()].map(({ name }) => name);
  await dropStale(assets, [...Object.values(frame.files).flat(), ...pictures]);
}

/** What the search looks through, read from the sources alone. */
export async function readSearchEntries(root: string): Promise<SearchEntry[]> {
  const sources = await readSources(root, []);
  const rendered = sources.map(({ page, text }) => ({ page, sections: sectionsOf(text) }));
  const { sections } = renderReference(errorCodesOf(sources));
  return searchEntries([...rendered, { page: reference, sections }]);
}

async function readSources(root: string, problems: string[]): Promise<Source[]> {
  const listed = new Set(pages.map(({ file }) => file));
  for await (const file of glob("docs/*.md", { cwd: root })) {
    if (!listed.has(file)) problems.push(`${file} is not in web/src/docs/contents.ts`);
  }
  const found: Source[] = [];
  for (const page of pages) {
    const text = await readFile(join(root, page.file), "utf8").catch(() => null);
    if (text === null) problems.push(`${page.file} is not there`);
    else found.push({ page, text, anchors: new Set(headingsOf(text).map(({ id }) => id)) });
  }
  return found;
}

type Surroundings = {
  root: string;
  sources: Source[];
  images: Map<string, Image>;
  data: Map<string, string>;
};

/** Links from a page's HTML: to other pages, to answers of the service, to elsewhere. */
function linksFrom(page: DocsPage, { root, sources, images, data }: Surroundings): ResolveLink {
  return (href) => {
    if (/^(https?:|mailto:)/.test(href)) return { href };
    const [path = "", anchor] = href.split("#");
    // An address of the service itself.
    if (path.startsWith("/")) return { href: `..${href}` };
    const file = path === "" ? page.file : posix.join(posix.dirname(page.file), path);
    const image = images.get(file);
    if (image !== undefined) return { href: `../assets/${image.name}` };
    if (data.has(file)) return { href: basename(file) };
    const target = sources.find((source) => source.page.file === file);
    if (target === undefined) {
      if (existsSync(join(root, file))) return null;
      return { problem: `the link ${href} leads nowhere` };
    }
    if (anchor !== undefined && !target.anchors.has(anchor)) {
      return { problem: `the link ${href} names no heading of ${file}` };
    }
    const end = anchor === undefined ? "" : `#${anchor}`;
    return { href: path === "" ? end : `${target.page.slug}${end}` };
  };
}

/** Links from a page's Markdown to that of other pages, and to images. Others stay as written. */
function markdownLinksFrom(
  page: DocsPage,
  { sources, images }: Pick<Surroundings, "sources" | "images">,
): (href: string) => string {
  return (href) => {
    const [path = "", anchor] = href.split("#");
    if (path === "" || /^[a-z]+:/.test(path) || path.startsWith("/")) return href;
    const file = posix.join(posix.dirname(page.file), path);
    const image = images.get(file);
    if (image !== undefined) return `../assets/${image.name}`;
    const target = sources.find((source) => source.page.file === file);
    if (target === undefined) return href;
    return `${target.page.slug}.md${anchor === undefined ? "" : `#${anchor}`}`;
  };
}

/** Pictures of a page: `name-light.webp` has its twin for the dark beside it. */
function picturesFrom(page: DocsPage, images: Map<string, Image>): ResolvePicture {
  return (src) => {
    const file = posix.join(posix.dirname(page.file), src);
    const image = images.get(file);
    if (image === undefined) return null;
    const dark = images.get(file.replace(/-light(?=\.\w+$)/, "-dark"));
    const darkHref = dark === undefined || dark === image ? null : `../assets/${dark.name}`;
    return { ...image, href: `../assets/${image.name}`, darkHref };
  };
}

/** Each code has a heading on the page of errors. */
function errorCodesOf(sources: Source[]): Set<string> {
  return sources.find(({ page }) => page.slug === "errors")?.anchors ?? new Set();
}

/** Sections that name everything and explain nothing. */
const asides: ReadonlySet<string> = new Set(["Where next", "Words"]);
/** Pages that compare. They have the words of every other page. */
const asidePages: ReadonlySet<string> = new Set(["performance", "native-gates"]);

type Searched = { page: Pick<DocsPage, "name" | "slug">; sections: Section[] };

function searchEntries(rendered: Searched[]): SearchEntry[] {
  return rendered.flatMap(({ page, sections }) =>
    sections.map(({ id, heading, text: words }) => ({
      page: page.name,
      heading: id === "" ? page.name : heading,
      href: id === "" ? page.slug : `${page.slug}#${id}`,
      text: words,
      ...(asidePages.has(page.slug) || asides.has(heading) ? { isAside: true } : {}),
    })),
  );
}

type Image = ImageSize & { name: string };

/** By the file's path in the repository: its name among the assets, and its size on the page. */
async function copyImages(root: string, assets: string): Promise<Map<string, Image>> {
  const images = new Map<string, Image>();
  for await (const file of glob("docs/images/*.{png,svg,webp}", { cwd: root })) {
    const bytes = await readFile(join(root, file));
    const name = nameOf(basename(file), bytes);
    await copyFile(join(root, file), join(assets, name));
    images.set(file, { name, ...sizeOf(file, bytes) });
  }
  return images;
}

/** Files for programs, served beside the pages under their own names: by path in the repository. */
async function readData(root: string): Promise<Map<string, string>> {
  const data = new Map<string, string>();
  for await (const file of glob("docs/*.json", { cwd: root })) {
    data.set(file, await readFile(join(root, file), "utf8"));
  }
  return data;
}

type Chunk = { file: string; css?: string[]; imports?: string[] };

async function builtFiles(dist: string): Promise<Omit<SiteFiles, "search">> {
  const manifest: Record<string, Chunk> = JSON.parse(
    await readFile(join(dist, "manifest.json"), "utf8"),
  );
  const chunk = manifest["src/docs/main.ts"];
  if (chunk === undefined) throw new Error("The documentation is built without its script.");
  const shared = (chunk.imports ?? []).flatMap((name) => manifest[name] ?? []);
  const styles = new Set([...shared, chunk].flatMap(({ css = [] }) => css));
  return {
    script: basename(chunk.file),
    styles: [...styles].map((file) => basename(file)),
    parts: shared.map(({ file }) => basename(file)),
  };
}

async function writeNamed(assets: string, name: string, text: string): Promise<string> {
  const named = nameOf(name, text);
  await writeFile(join(assets, named), text);
  return named;
}

/** It changes with the content, so that browsers may keep the file for ever. */
function nameOf(name: string, content: string | Buffer): string {
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 8);
  return `${basename(name, extname(name))}-${digest}${extname(name)}`;
}

async function writePages(folder: string, written: Map<string, string>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, text] of written) await writeFile(join(folder, name), text);
}

/** Compressed copies of unchanged files are kept, so that large files are compressed once. */
async function dropStale(assets: string, kept: string[]): Promise<void> {
  const names = new Set(kept.flatMap((name) => [name, `${name}.br`, `${name}.gz`]));
  for (const name of await readdir(assets)) {
    if (!names.has(name)) await rm(join(assets, name));
  }
}

/** The form of llmstxt.org. The service fills in its own address. */
function llmsText(frame: Frame): string {
  const groups = frame.readers.map(({ name, pages: listed }) => {
    const items = listed.map(
      (page) => `- [${page.name}]({{url}}/docs/${page.slug}.md): ${page.about}`,
    );
    return `## ${name}\n\n${items.join("\n")}\n`;
  });
  return `# Countersign

> An automated agent that is about to do something sensitive asks first: it creates an approval request, waits until a person approves, rejects or lets it expire, and executes exactly the effective payload, only when the status is APPROVED.

Every call is made to {{url}} with \`Authorization: Bearer <API key>\`. No API key can decide a request: only the person behind the mailed link can. EXPIRED is not a rejection, and neither is a timeout of your own.

${groups.join("\n")}
## Optional

- [OpenAPI document]({{url}}/v1/openapi.json): every call, field and error, for programs.
- [Everything in one file]({{url}}/llms-full.txt): all pages one after the other.
`;
}

function fullText(sources: Source[], written: Map<string, string>): string {
  const texts = sources.map(
    ({ page }) => `<!-- {{url}}/docs/${page.slug}.md -->\n\n${written.get(`${page.slug}.md`)}`,
  );
  return texts.join("\n");
}
