// The HTML around the dashboard, and around other pages of signed-in people, with its content security policy. It holds no
// data of any workspace. What it shows until the program has arrived needs no file: on a slow network those take long.

import { randomBytes } from "node:crypto";
import { escapeHtml } from "../../domain/mail/html-text.ts";
import type { PageFiles } from "../frame/assets.ts";
import type { Answer } from "../frame/call.ts";
import { basePathOf } from "../frame/paths.ts";
import type { DashboardCalls } from "./visit.ts";

const nonceBytes = 16;

export function dashboardHtml(calls: PageCalls): Answer {
  return bootHtml(calls, {
    files: calls.assets.dashboard,
    title: "Countersign",
    loading: "Loading the dashboard …",
    withoutScript:
      "The dashboard needs JavaScript. Allow it for this address, or use the countersign command.",
  });
}

export type PageCalls = Pick<DashboardCalls, "assets" | "origin">;

/** `head` and `sources` are what a page has beyond the dashboard. */
export type BootPage = {
  files: PageFiles;
  title: string;
  loading: string;
  withoutScript: string;
  head?: string;
  sources?: readonly string[];
};

/** A page that shows that it loads, until its program has arrived. */
export function bootHtml(
  { origin }: PageCalls,
  { files, title, loading, withoutScript, head = "", sources = [] }: BootPage,
): Answer {
  const basePath = basePathOf(origin.publicUrl);
  const nonce = randomBytes(nonceBytes).toString("base64");
  const at = (file: string) => escapeHtml(`${basePath}/${file}`);
  const styles = files.styles.map((file) => `<link rel="stylesheet" href="${at(file)}">\n`);
  const parts = files.parts.map((file) => `<link rel="modulepreload" href="${at(file)}">\n`);
  return {
    status: 200,
    headers: { "content-security-policy": contentSecurityPolicy(nonce, sources) },
    type: "text/html; charset=utf-8",
    body: `<!doctype html>
<html lang="en" data-base="${escapeHtml(basePath)}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta property="csp-nonce" nonce="${nonce}">
<style nonce="${nonce}">${bootStyle}</style>
<link rel="icon" type="image/svg+xml" href="${at(files.icon)}">
${head}${parts.join("")}<script type="module" src="${at(files.script)}"></script>
</head>
<body>
<div id="root">${bootBody(loading)}</div>
${styles.join("")}<noscript><p>${withoutScript}</p></noscript>
</body>
</html>
`,
  };
}

/** Style sheets stand behind it, because a browser draws nothing that follows a style sheet it still waits for. */
const bootBody = (loading: string) => `<main class="boot" id="boot">
<svg viewBox="0 0 20 20" width="28" height="28" fill="none" stroke="currentColor" stroke-width="1.75" aria-hidden="true"><path d="M8 3H3.5v14H8M9.5 6.5h7v7h-7"/></svg>
<p id="boot-words" role="status">${loading}</p>
<p class="boot-late"><span class="boot-wait">If nothing happens: </span><a href="">Load again</a></p>
</main>`;

/** The colours are those of web/src/look/tokens.css. The link appears when loading takes long or has failed. */
const bootStyle = `
.boot{display:grid;justify-items:center;gap:12px;max-width:30rem;margin:0 auto;padding:36vh 16px 0;font:16px/1.5 system-ui,sans-serif;text-align:center;color:oklch(46% .02 260)}
.boot p{margin:0}
.boot a{color:oklch(41% .13 264)}
.boot-late{animation:boot-late 0s 10s both}
.boot-failed .boot-late{animation:none}
.boot-failed .boot-wait{display:none}
@keyframes boot-late{from{visibility:hidden}}
html{background:oklch(98.6% .003 255)}
body{margin:0}
@media screen and (prefers-color-scheme:dark){html{background:oklch(18.5% .016 262)}.boot{color:oklch(75% .014 258)}.boot a{color:oklch(76% .11 262)}}
`;

/** The nonce is for the style above, and for one that a library sets while a dialog is open. */
function contentSecurityPolicy(nonce: string, sources: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}
