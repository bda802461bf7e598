// What the inbox at /dev/mail looks like: a list, and one mail as its reader sees it, as text, and as it is sent.

import { escapeHtml } from "../domain/html-text.ts";

export type ShownMail = {
  id: string;
  to: string;
  subject: string;
  date: Date;
  messageId: string;
  text: string;
  html: string;
  reviewUrl: string | null;
};

export type View = "html" | "text" | "raw";

export function inboxPage(mails: readonly ShownMail[], nextBefore: string | null): string {
  const rows = mails.map(
    (mail) => `
      <li><a href="mail/${escapeHtml(mail.id)}">
        <span class="subject">${escapeHtml(mail.subject)}</span>
        <span class="to">${escapeHtml(mail.to)}</span>
        ${time(mail.date)}
      </a></li>`,
  );
  const older =
    nextBefore === null
      ? ""
      : `<p><a class="quiet" href="mail?before=${escapeHtml(nextBefore)}">Older mails</a></p>`;
  const list =
    rows.length === 0
      ? `<p class="empty">No mail yet. Create a request, and what its approver would get appears here.</p>`
      : `<ol class="inbox">${rows.join("")}</ol>${older}`;
  return document(
    "Kept mails",
    "mail/style.css",
    `<h1>Kept mails</h1>
    <p class="lead">There is no mail server (<code>SMTP_URL</code>), so nothing was sent. Every mail is kept here instead,
    readable from this machine only.</p>
    ${list}`,
  );
}

export function messagePage(
  mail: ShownMail,
  { view, raw }: { view: "html" | "text"; raw: string | null },
): string {
  const shown: View = raw === null ? view : "raw";
  const tabs = (["html", "text", "raw"] as const).map((name) => {
    const current = name === shown ? ` aria-current="page"` : "";
    return `<a href="?view=${name}"${current}>${tabNames[name]}</a>`;
  });
  const body =
    shown === "html"
      ? `<iframe src="${escapeHtml(mail.id)}/html" title="The mail as its reader sees it" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`
      : `<pre tabindex="0">${escapeHtml(raw ?? mail.text)}</pre>`;
  const open =
    mail.reviewUrl === null
      ? ""
      : `<p><a class="button" href="${escapeHtml(mail.reviewUrl)}" target="_blank" rel="noreferrer">Open the review link</a></p>`;
  return document(
    mail.subject,
    "style.css",
    `<p><a class="quiet" href="../mail">All kept mails</a></p>
    <h1>${escapeHtml(mail.subject)}</h1>
    <dl>
      <div><dt>To</dt><dd>${escapeHtml(mail.to)}</dd></div>
      <div><dt>Date</dt><dd>${time(mail.date)}</dd></div>
      <div><dt>Message-ID</dt><dd><code>${escapeHtml(mail.messageId)}</code></dd></div>
    </dl>
    ${open}
    <nav aria-label="Views of this mail">${tabs.join("")}</nav>
    ${body}`,
  );
}

const tabNames: Record<View, string> = { html: "HTML", text: "Text", raw: "Raw" };

function document(title: string, styleUrl: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · countersign</title>
<link rel="stylesheet" href="${styleUrl}">
</head>
<body>
<header><a href="/dev/mail">countersign</a><span>development inbox</span></header>
<main>
${main}
</main>
</body>
</html>
`;
}

function time(date: Date): string {
  const iso = date.toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

export const devMailStyle = `
:root {
  color-scheme: light dark;
  --ground: oklch(0.985 0.003 250); --card: oklch(1 0 0); --ink: oklch(0.25 0.02 260);
  --quiet: oklch(0.48 0.02 260); --line: oklch(0.9 0.008 260); --accent: oklch(0.4 0.13 262);
  --on-accent: oklch(0.99 0 0); --hover: oklch(0.965 0.006 260);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: oklch(0.18 0.012 260); --card: oklch(0.22 0.014 260); --ink: oklch(0.93 0.008 260);
    --quiet: oklch(0.72 0.015 260); --line: oklch(0.33 0.015 260); --accent: oklch(0.8 0.09 262);
    --on-accent: oklch(0.18 0.03 262); --hover: oklch(0.26 0.016 260);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 880px; margin: 0 auto; padding: 16px; }
header { display: flex; gap: 12px; align-items: baseline; padding-top: 24px; font-size: 14px; }
header a { font-weight: 650; font-size: 16px; color: inherit; text-decoration: none; }
header span { color: var(--quiet); }
h1 { font-size: 28px; line-height: 1.25; font-weight: 650; margin: 8px 0; overflow-wrap: anywhere; }
.lead, .empty { color: var(--quiet); max-width: 68ch; }
.empty { padding: 48px 16px; text-align: center; border: 1px dashed var(--line); border-radius: 8px; margin: 24px auto; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 14px; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.inbox { list-style: none; margin: 24px 0 16px; padding: 0; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.inbox li + li { border-top: 1px solid var(--line); }
.inbox a { display: grid; grid-template-columns: 1fr auto; gap: 0 16px; padding: 12px 16px;
  color: inherit; text-decoration: none; min-height: 44px; }
.inbox a:hover { background: var(--hover); }
.inbox a:focus-visible { outline-offset: -2px; }
.subject { font-weight: 500; overflow-wrap: anywhere; grid-column: 1 / -1; }
.to, time { color: var(--quiet); font-size: 14px; overflow-wrap: anywhere; }
time { font-variant-numeric: tabular-nums; white-space: nowrap; }
dl { margin: 16px 0; font-size: 14px; }
dl div { display: flex; gap: 16px; padding: 4px 0; }
dt { flex: 0 0 96px; color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
dd time { color: inherit; white-space: normal; }
.quiet { color: var(--quiet); font-size: 14px; display: inline-block; padding: 12px 0; }
.button { display: inline-flex; align-items: center; min-height: 44px; padding: 0 20px; border-radius: 6px;
  background: var(--accent); color: var(--on-accent); font-weight: 500; text-decoration: none; }
nav { display: flex; gap: 4px; border-bottom: 1px solid var(--line); margin-top: 24px; }
nav a { padding: 10px 16px; min-height: 44px; color: var(--quiet); text-decoration: none;
  border-bottom: 2px solid transparent; margin-bottom: -1px; }
nav a[aria-current] { color: var(--ink); font-weight: 500; border-color: var(--accent); }
iframe { width: 100%; height: 860px; border: 1px solid var(--line); border-top: 0; border-radius: 0 0 8px 8px;
  background: var(--card); }
pre { margin: 0; padding: 16px; background: var(--card); border: 1px solid var(--line); border-top: 0;
  border-radius: 0 0 8px 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  h1 { font-size: 20px; }
  .inbox a { grid-template-columns: 1fr; }
}
`;
