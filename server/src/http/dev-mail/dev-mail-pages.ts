// The pages of the inbox at /dev/mail: the list, and one mail as HTML, as text, and as its source.

import { escapeHtml } from "../../domain/mail/html-text.ts";
import { firstOwnerEmail } from "../../operations/workspaces/first-run.ts";

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

export const viewNames = ["html", "text", "raw"] as const;
export type View = (typeof viewNames)[number];

const viewLabels: Record<View, string> = { html: "HTML", text: "Text", raw: "Raw" };

type InboxPlace = {
  nextBefore: string | null;
  /** The newest mails, not a later page. */
  isFirst: boolean;
  /** The address at which this service was called. */
  address: string;
  /** Mails that wait for the next digest. */
  held: { count: number; until: Date | null };
};

export function inboxPage(
  mails: readonly ShownMail[],
  { nextBefore, isFirst, address, held }: InboxPlace,
): string {
  const days = Map.groupBy(mails, ({ date }) => date.toISOString().slice(0, 10));
  const list = [...days].map(([day, its]) => dayOf(day, its)).join("");
  const isEmpty = mails.length === 0 && isFirst;
  const waiting =
    held.until === null
      ? ""
      : `<p class="lead">${held.count} more ${held.count === 1 ? "is" : "are"} held, because one person was asked very often. The next digest appears here at <time datetime="${held.until.toISOString()}">${clockTime(held.until)} UTC</time>.</p>\n`;
  const links = [
    isFirst ? "" : `<a class="quiet" href="/dev/mail">Newest mails</a>`,
    nextBefore === null
      ? ""
      : `<a class="quiet" href="/dev/mail?before=${escapeHtml(nextBefore)}" rel="next">Older mails</a>`,
  ].join("");
  return pageOf({
    title: "Kept mails",
    main: `<h1>Kept mails</h1>
<p class="lead">There is no mail server, so nothing is sent. Every mail is kept here instead, for people at this machine. Set <code>SMTP_URL</code> to send them.</p>
${waiting}${isEmpty ? emptyInbox(address) : list}
${links === "" ? "" : `<nav class="pages" aria-label="Pages">${links}</nav>`}`,
  });
}

export function messagePage(mail: ShownMail, { view, text }: { view: View; text: string }): string {
  const tabs = viewNames.map((name) => {
    const current = name === view ? ` aria-current="page"` : "";
    return `<a href="?view=${name}"${current}>${viewLabels[name]}</a>`;
  });
  const path = `/dev/mail/${escapeHtml(mail.id)}`;
  const alone =
    view === "text" ? "" : `<a class="alone" href="${path}/${view}" target="_blank">Open alone</a>`;
  const body =
    view === "html"
      ? `<iframe class="${frameSize(mail.text)}" src="${path}/html" title="The mail as its reader sees it" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`
      : `<pre tabindex="0" role="region" aria-label="${view === "raw" ? "The mail as it is sent" : "The text of the mail"}">${escapeHtml(text)}</pre>`;
  const open =
    mail.reviewUrl === null
      ? ""
      : `<p class="action"><a class="button" href="${escapeHtml(mail.reviewUrl)}" target="_blank" rel="noreferrer">Open the review link</a></p>`;
  return pageOf({
    title: mail.subject,
    main: `<p class="back"><a class="quiet" href="/dev/mail"><span aria-hidden="true">←</span> Kept mails</a></p>
<div class="head">
<div>
<h1>${subject(mail.subject)}</h1>
<dl>
<div><dt>To</dt><dd>${escapeHtml(mail.to)}</dd></div>
<div><dt>Date</dt><dd><time datetime="${mail.date.toISOString()}">${dayInWords(mail.date)}, ${clockTime(mail.date)} UTC</time></dd></div>
<div><dt>Message-ID</dt><dd><code>${escapeHtml(mail.messageId)}</code></dd></div>
</dl>
</div>
${open}
</div>
<nav class="views" aria-label="Views of this mail">${tabs.join("")}${alone}</nav>
${body}`,
  });
}

export function missingPage(): string {
  return pageOf({
    title: "No such mail",
    main: `<h1>No such mail</h1>
<p class="lead">It was not kept here, or the key that made its link is no longer in <code>SECRET_KEY</code>.</p>
<p class="action"><a class="button" href="/dev/mail">See all kept mails</a></p>`,
  });
}

function dayOf(day: string, mails: readonly ShownMail[]): string {
  const rows = mails.map(
    (mail) => `<li><a href="/dev/mail/${escapeHtml(mail.id)}">
<span class="subject">${subject(mail.subject)}</span>
<span class="to">${escapeHtml(mail.to)}</span>
<time datetime="${mail.date.toISOString()}">${clockTime(mail.date)}</time>
</a></li>`,
  );
  return `<section>
<h2>${dayInWords(new Date(day))}<span>UTC</span></h2>
<ol class="inbox">${rows.join("")}</ol>
</section>`;
}

/** Teaches the next step. The reader fills in the key: it was shown once, and not to this page. */
function emptyInbox(address: string): string {
  const body = `{"summary":"Refund order 1042 (49.00 EUR)","notify":"${firstOwnerEmail}"}`;
  const key = "$COUNTERSIGN_API_KEY";
  const command = `curl ${address}/v1/requests \\\n  -H "Authorization: Bearer ${key}" \\\n  -d '${body}'`;
  return `<div class="empty">
<p><strong>No mail yet.</strong> Create a request, and what its approver would get appears here:</p>
<pre tabindex="0" role="region" aria-label="A command that creates a request">${escapeHtml(command)}</pre>
</div>`;
}

/** Our own words come first and end with a colon. Text of others is isolated, so that its direction stays inside it. */
function subject(text: string): string {
  const at = text.indexOf(": ");
  // All words of a digest's subject are ours.
  const end = at === -1 ? text.length : at + 2;
  return `<span class="ours">${escapeHtml(text.slice(0, end))}</span><bdi>${escapeHtml(text.slice(end))}</bdi>`;
}

/** A frame doesn't grow with its content, so its height on a phone follows the length of the mail. */
function frameSize(text: string): "short" | "medium" | "long" {
  const rows = text.split("\n").map((line) => Math.max(1, Math.ceil(line.length / 40)));
  const count = rows.reduce((sum, each) => sum + each, 0);
  if (count <= 37) return "short";
  return count <= 52 ? "medium" : "long";
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });

function dayInWords(date: Date): string {
  return dayFormat.format(date);
}

function clockTime(date: Date): string {
  return date.toISOString().slice(11, 19);
}

// One bracket, and the second that closes over it.
const markPath = "M6.5 2.5h-4v11h4M5.5 5.5v5M9.5 2.5h4v11h-4";
const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="${markPath}" fill="none" stroke="#2f4fa8" stroke-width="2"/></svg>`,
)}`;

function pageOf({ title, main }: { title: string; main: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · countersign</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/dev/mail/style.css">
</head>
<body>
<header><a href="/dev/mail"><svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="${markPath}" fill="none" stroke="currentColor" stroke-width="1.75"/></svg>countersign</a><span>mails on this machine</span></header>
<main>
${main}
</main>
</body>
</html>
`;
}
