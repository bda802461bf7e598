// The HTML around the review page: what a browser needs before our script runs, and the page's data. The agent's words
// stand only in the data block.

import { reviewOutcomeDays } from "../../domain/limits.ts";
import { escapeHtml } from "../../domain/mail/html-text.ts";
import type { ReviewPage } from "../../wire/review-contract.ts";
import type { PageFiles } from "../frame/assets.ts";
import { dataBlock } from "./data-block.ts";

export type PageFrame = { files: PageFiles; basePath: string };

export async function reviewHtml(frame: PageFrame, data: ReviewPage): Promise<Buffer> {
  const { files } = frame;
  const script = `<script type="module" src="${addressOf(frame, files.script)}"></script>`;
  // They run as soon as they have arrived, before the script that imports them.
  const parts = files.parts.map(
    (file) => `<script type="module" async src="${addressOf(frame, file)}"></script>\n`,
  );
  const html = htmlOf(frame, {
    title: "Review request",
    head: `${parts.join("")}${script}\n`,
    body: `<div id="root"><main class="page"><header class="masthead">${brand}</header>
<p class="loading">Loading the request … If nothing appears, load it again or use a current browser. Nothing was decided.</p>
<noscript><div class="notice">
<p>This page needs JavaScript, so that you can see exactly what you decide about. Nothing was decided. Allow JavaScript for this address, or open the link in another browser.</p>
</div></noscript></main></div>
<script type="application/json" id="review-data">${dataMark}</script>`,
  });
  const [before = "", after = ""] = html.split(dataMark);
  return Buffer.concat([Buffer.from(before), await dataBlock(data), Buffer.from(after)]);
}

/** A placeholder for the data while the page around it is written. */
const dataMark = "{data}";

/** One page for every link that leads nowhere, so that trying links out teaches nothing. */
export function deadLinkHtml(frame: PageFrame): string {
  return noticeHtml(frame, {
    title: "This link does not work",
    paragraphs: [
      `It may be mistyped or cut off, the request may have been decided more than ${reviewOutcomeDays} days ago, or you are no longer asked.`,
      "Nothing was decided by opening it. If somebody waits for your decision, open the link in the newest mail, all of it.",
    ],
  });
}

/** For faults on our side. */
export function faultHtml(frame: PageFrame): string {
  return noticeHtml(frame, {
    title: "The request cannot be shown just now",
    paragraphs: [
      "Something is wrong on the service's side. Nothing was decided by opening this page.",
      "Load it again in a moment. If that doesn’t help, tell the operator of this service.",
    ],
  });
}

/** For a page or a network that asked too often. */
export function tooManyHtml(frame: PageFrame): string {
  return noticeHtml(frame, {
    title: "Please wait a moment",
    paragraphs: [
      "This page was opened very often within a short time, by you or from your network. Nothing was decided by opening it.",
      "Wait a few seconds, then load it again.",
    ],
  });
}

/** For many large requests that are opened at the same moment. The answer tells the browser when to load again. */
export function busyHtml(frame: PageFrame): string {
  return noticeHtml(frame, {
    title: "Please wait a moment",
    paragraphs: [
      "Many large requests are opened just now. Nothing was decided by opening this page.",
      "It loads again by itself in a few seconds.",
    ],
  });
}

function noticeHtml(
  frame: PageFrame,
  { title, paragraphs }: { title: string; paragraphs: string[] },
): string {
  return htmlOf(frame, {
    title,
    head: "",
    body: `<main class="page page-narrow">
<header class="masthead">${brand}</header>
<div class="notice">
<h1>${title}</h1>
${paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join("\n")}
</div></main>`,
  });
}

const brand = `<span class="brand"><svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M8 3H3.5v14H8"/><path class="brand-second" d="M9.5 6.5h7v7h-7"/></svg>countersign</span>`;

function htmlOf(
  frame: PageFrame,
  { title, head, body }: { title: string; head: string; body: string },
): string {
  const { files } = frame;
  const styles = files.styles.map(
    (file) => `<link rel="stylesheet" href="${addressOf(frame, file)}">\n`,
  );
  const icon = `<link rel="icon" type="image/svg+xml" href="${addressOf(frame, files.icon)}">\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Countersign</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${icon}${styles.join("")}${head}</head>
<body>
${body}
</body>
</html>
`;
}

function addressOf({ basePath }: PageFrame, file: string): string {
  return escapeHtml(`${basePath}/${file}`);
}
