// The inbox at /dev/mail: without a mail server, every mail can be read here, and only from this machine. Nothing is
// stored for it. It composes each mail again from the same rows.

import type { Database } from "../../database/database.ts";
import type { ComposedMail } from "../../operations/deliveries/composed-mail.ts";
import type * as mails from "../../storage/deliveries/mails.ts";
import * as sentMails from "../../storage/deliveries/sent-mails.ts";
import type { Answer, Call } from "../frame/call.ts";
import { problem } from "../frame/problems.ts";
import {
  inboxPage,
  messagePage,
  missingPage,
  type ShownMail,
  type View,
  viewNames,
} from "./dev-mail-pages.ts";
import { devMailStyle } from "./dev-mail-style.ts";

export type DevMail = {
  compose: (mail: mails.Mail) => ComposedMail | null;
  /** The exact bytes that a mail server would get. */
  toRaw: (mail: ComposedMail) => Promise<Buffer>;
};

type DevMailCalls = { db: Database; devMail: DevMail };

const mailsPerPage = 50;

/** No foreign page may frame these, keep their window, or load them as its own. */
const isolation = {
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const pageHeaders = {
  ...isolation,
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Only the mail's own inline styles work here. Links open in a new tab. */
const bodyHeaders = {
  ...isolation,
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'self'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
};

const plainHeaders = {
  ...isolation,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

export async function list({ db, devMail }: DevMailCalls, call: Call): Promise<Answer> {
  const beforeId = call.query.get("before");
  if (beforeId !== null && !isDeliveryId(beforeId)) return unknownMail(call);
  const found = await sentMails.listSent(db, { limit: mailsPerPage + 1, beforeId });
  const kept = found.slice(0, mailsPerPage);
  // A mail whose key is gone can't be made again, but older ones can.
  const mails = kept.flatMap((mail) => toShown(devMail, mail) ?? []);
  const nextBefore = found.length > mailsPerPage ? (kept.at(-1)?.deliveryId ?? null) : null;
  if (accepts(call, "application/json")) {
    const body = JSON.stringify({ data: mails, nextBefore });
    return { status: 200, headers: plainHeaders, body };
  }
  const address = `http://${String(call.header("host"))}`;
  const held = await sentMails.readHeld(db);
  return page(inboxPage(mails, { nextBefore, isFirst: beforeId === null, address, held }));
}

export async function show(calls: DevMailCalls, call: Call): Promise<Answer> {
  const found = await findMail(calls, call);
  if (found === null) return unknownMail(call);
  const view = toView(call.query.get("view"));
  const mail = toShownMail(found);
  const text = view === "raw" ? (await calls.devMail.toRaw(found.mail)).toString() : mail.text;
  return page(messagePage(mail, { view, text }));
}

/** The frame's content. */
export async function showHtml(calls: DevMailCalls, call: Call): Promise<Answer> {
  const found = await findMail(calls, call);
  if (found === null) return unknownMail(call);
  const body = found.mail.html.replace(/<head[^>]*>/i, (head) => `${head}<base target="_blank">`);
  return { status: 200, headers: bodyHeaders, type: "text/html; charset=utf-8", body };
}

export async function showRaw(calls: DevMailCalls, call: Call): Promise<Answer> {
  const found = await findMail(calls, call);
  if (found === null) return unknownMail(call);
  const body = (await calls.devMail.toRaw(found.mail)).toString();
  return { status: 200, headers: plainHeaders, type: "text/plain; charset=utf-8", body };
}

export function style(): Answer {
  return {
    status: 200,
    headers: isolation,
    type: "text/css; charset=utf-8",
    body: devMailStyle,
  };
}

type FoundMail = { id: string; mail: ComposedMail };

async function findMail({ db, devMail }: DevMailCalls, call: Call): Promise<FoundMail | null> {
  const id = call.params.id ?? "";
  if (!isDeliveryId(id)) return null;
  const found = await sentMails.findSent(db, id);
  const mail = found === null ? null : devMail.compose(found);
  return mail === null ? null : { id, mail };
}

function toShown(devMail: DevMail, found: mails.Mail): ShownMail | null {
  const mail = devMail.compose(found);
  return mail === null ? null : toShownMail({ id: found.deliveryId, mail });
}

function toShownMail({ id, mail }: FoundMail): ShownMail {
  const { to, subject, date, messageId, text, html, reviewUrl } = mail;
  return { id, to, subject, date, messageId, text, html, reviewUrl };
}

function toView(text: string | null): View {
  return viewNames.find((name) => name === text) ?? "html";
}

/** Anything else there is no id. PostgreSQL even refuses some of it, such as U+0000. */
function isDeliveryId(text: string): boolean {
  return /^dlv_[0-9a-f]{32}$/.test(text);
}

function accepts(call: Call, type: string): boolean {
  const accepted = call.header("accept");
  return typeof accepted === "string" && accepted.includes(type);
}

function page(body: string, status = 200): Answer {
  return { status, headers: pageHeaders, type: "text/html; charset=utf-8", body };
}

function unknownMail(call: Call): Answer {
  return accepts(call, "text/html")
    ? page(missingPage(), 404)
    : problem("not_found", "There is no such mail. /dev/mail lists all that were kept.");
}
