// The inbox at /dev/mail: while there is no mail server, every mail can be read here, and only from this machine.
// Nothing is stored for it. A mail is made anew from the rows it was made from.

import type { ComposedMail } from "../operations/compose-mail.ts";
import type { Database } from "../storage/database.ts";
import * as dueMails from "../storage/due-mails.ts";
import type { Answer, Call } from "./call.ts";
import { devMailStyle, inboxPage, messagePage, type ShownMail } from "./dev-mail-pages.ts";
import { problem } from "./problems.ts";

export type DevMail = {
  compose: (mail: dueMails.Mail) => ComposedMail | null;
  /** The very bytes that a mail server would get. */
  toRaw: (mail: ComposedMail) => Promise<Buffer>;
};

type DevMailCalls = { db: Database; devMail: DevMail };

const mailsPerPage = 50;

const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** The mail's own HTML: its inline styles, and nothing else of it, may act. Links open in a tab of their own. */
const bodyHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'self'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
  "referrer-policy": "no-referrer",
};

export async function list({ db, devMail }: DevMailCalls, call: Call): Promise<Answer> {
  const beforeId = call.query.get("before");
  const found = await dueMails.listSent(db, { limit: mailsPerPage + 1, beforeId });
  const mails = found.slice(0, mailsPerPage).flatMap((mail) => toShown(devMail, mail) ?? []);
  const nextBefore = found.length > mailsPerPage ? (mails.at(-1)?.id ?? null) : null;
  const accepted = call.header("accept");
  if (typeof accepted === "string" && accepted.includes("application/json")) {
    return { status: 200, body: JSON.stringify({ data: mails, nextBefore }) };
  }
  return page(inboxPage(mails, nextBefore));
}

export async function show(calls: DevMailCalls, call: Call): Promise<Answer> {
  const found = await findMail(calls, call);
  if (found === null) return unknownMail();
  const view = call.query.get("view");
  const raw = view === "raw" ? (await calls.devMail.toRaw(found.mail)).toString() : null;
  return page(messagePage(toShownMail(found), { view: view === "text" ? "text" : "html", raw }));
}

/** What the page above frames. */
export async function showHtml(calls: DevMailCalls, call: Call): Promise<Answer> {
  const found = await findMail(calls, call);
  if (found === null) return unknownMail();
  const body = found.mail.html.replace(/<head[^>]*>/i, (head) => `${head}<base target="_blank">`);
  return { status: 200, headers: bodyHeaders, type: "text/html; charset=utf-8", body };
}

export async function showRaw(calls: DevMailCalls, call: Call): Promise<Answer> {
  const found = await findMail(calls, call);
  if (found === null) return unknownMail();
  const body = (await calls.devMail.toRaw(found.mail)).toString();
  return { status: 200, type: "text/plain; charset=utf-8", body };
}

export function style(): Answer {
  return { status: 200, type: "text/css; charset=utf-8", body: devMailStyle };
}

type FoundMail = { id: string; mail: ComposedMail };

async function findMail({ db, devMail }: DevMailCalls, call: Call): Promise<FoundMail | null> {
  const id = call.params.id ?? "";
  const found = await dueMails.findSent(db, id);
  const mail = found === null ? null : devMail.compose(found);
  return mail === null ? null : { id, mail };
}

function toShown(devMail: DevMail, found: dueMails.Mail): ShownMail | null {
  const mail = devMail.compose(found);
  return mail === null ? null : toShownMail({ id: found.deliveryId, mail });
}

function toShownMail({ id, mail }: FoundMail): ShownMail {
  const { to, subject, date, messageId, text, html, reviewUrl } = mail;
  return { id, to, subject, date, messageId, text, html, reviewUrl };
}

function page(body: string): Answer {
  return { status: 200, headers: pageHeaders, type: "text/html; charset=utf-8", body };
}

function unknownMail(): Answer {
  return problem("not_found", "There is no such mail. /dev/mail lists all that were kept.");
}
