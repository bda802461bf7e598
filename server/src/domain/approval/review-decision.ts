// Turns the review page's body into a decision, or into the one refusal that its reader should see.

import { isRefusal, type Refusal, refuse } from "../refusal.ts";
import type { SignedAnswer } from "../shown/decision-statement.ts";
import { inboxDecisionsMax, resolutionNoteCharactersMax } from "../shown/field-limits.ts";
import { isSameJson } from "../shown/json-diff.ts";
import { describeFlaw, type JsonText } from "../shown/json-text.ts";
import { flawOfEmailAddress } from "../workspace/email-address.ts";
import { flawOfText, isBlank } from "../workspace/plain-text.ts";
import { describeType, type Members, membersOf } from "./json-body.ts";
import { signedAnswerOf } from "./signed-answer.ts";

export type ReviewDecision = {
  verdict: "approve" | "reject";
  /** The digest of the shown content, as the page says it. */
  digest: string;
  ticket: string;
  /** Where the vote would count, as the page showed it. */
  place: string | null;
  note: string | null;
  /** As it was typed; null when none was. */
  code: string | null;
  /** The exact text of the edited payload; null when it was not edited. */
  edit: JsonText | null;
  /** What the reader's passkey made of it; null when they didn't sign. */
  signed: SignedAnswer | null;
};

/** With what the page says of itself. */
export type PageDecision = ReviewDecision & {
  /** The ticket that came with its data. */
  opened: string | null;
  /** The hash in the name of its program; null when it says none, or something else. */
  page: string | null;
};

const digestPattern = /^[0-9a-f]{64}$/;
const pagePattern = /^[A-Za-z0-9_-]{6,64}$/;

export function parseReviewDecision(body: Uint8Array): PageDecision | Refusal {
  const members = membersOf(body, { what: "verdict, digest and ticket", undone: "decided" });
  if (isRefusal(members)) return members;
  const verdict = verdictOf(members);
  if (isRefusal(verdict)) return verdict;
  const digest = requiredText(members, "digest");
  if (isRefusal(digest)) return digest;
  if (!digestPattern.test(digest)) {
    return flawed("digest", "must be a SHA-256 in 64 lower-case hex digits. Load the page again");
  }
  const ticket = requiredText(members, "ticket");
  if (isRefusal(ticket)) return ticket;
  const opened = optionalText(members, "opened");
  if (isRefusal(opened)) return opened;
  const place = optionalText(members, "place");
  if (isRefusal(place)) return place;
  const note = noteOf(members);
  if (isRefusal(note)) return note;
  const code = optionalText(members, "code");
  if (isRefusal(code)) return code;
  const edit = editOf(members, verdict);
  if (isRefusal(edit)) return edit;
  const signed = signedOf(members);
  if (isRefusal(signed)) return signed;
  const page = pageIn(members);
  const flaw = firstFlaw(members);
  return flaw ?? { verdict, digest, ticket, opened, place, page, note, code, edit, signed };
}

/** Other white space, or another spelling of the same value, is no edit. */
export function realEdit(payload: JsonText | null, edit: JsonText | null): JsonText | null {
  if (edit === null || payload === null) return edit;
  return isSameJson(payload, edit) ? null : edit;
}

/** The body of the calls that ask how things stand: at most a code. */
export function parseReviewCode(body: Uint8Array): { code: string | null } | Refusal {
  const what = "the code from the mail, or an empty one";
  const members = membersOf(body, { what, undone: "decided" });
  if (isRefusal(members)) return members;
  const code = optionalText(members, "code");
  return isRefusal(code) ? code : (firstFlaw(members) ?? { code });
}

/** Which state the page has: it waits for another. Null for pages that don't wait. */
export function parseSince(body: Uint8Array): { since: string | null } | Refusal {
  const members = membersOf(body, { what: "since", undone: "decided" });
  if (isRefusal(members)) return members;
  const since = optionalText(members, "since");
  return isRefusal(since) ? since : { since };
}

/** A vote that is passed to a colleague. */
export type HandOverWish = {
  ticket: string;
  code: string | null;
  to: string;
  /** What is passed on, as the page showed it; null where it showed none, or says nothing. */
  place: string | null;
};

export function parseHandOver(body: Uint8Array): HandOverWish | Refusal {
  const members = membersOf(body, { what: "ticket and to", undone: "handed over" });
  if (isRefusal(members)) return members;
  const ticket = requiredText(members, "ticket");
  if (isRefusal(ticket)) return ticket;
  const code = optionalText(members, "code");
  if (isRefusal(code)) return code;
  const to = requiredText(members, "to");
  if (isRefusal(to)) return to;
  const flaw = flawOfEmailAddress(to);
  if (flaw !== null) return flawed("to", flaw);
  const place = optionalText(members, "place");
  if (isRefusal(place)) return place;
  return firstFlaw(members) ?? { ticket, code, to, place };
}

/** Several decisions of one kind, each about what its own request shows. */
export type SeveralDecisions = Pick<PageDecision, "verdict" | "note" | "page"> & {
  decisions: (Pick<PageDecision, "digest" | "ticket" | "opened" | "place"> & { id: string })[];
};

export function parseSeveralDecisions(body: Uint8Array): SeveralDecisions | Refusal {
  const members = membersOf(body, { what: "verdict and decisions", undone: "decided" });
  if (isRefusal(members)) return members;
  const verdict = verdictOf(members);
  if (isRefusal(verdict)) return verdict;
  const note = noteOf(members);
  if (isRefusal(note)) return note;
  const flaw = firstFlaw(members);
  if (flaw !== null) return flaw;
  const decisions = decisionsIn(JSON.parse(members.get("decisions")?.text ?? "null"));
  return isRefusal(decisions) ? decisions : { verdict, note, page: pageIn(members), decisions };
}

function decisionsIn(value: unknown): SeveralDecisions["decisions"] | Refusal {
  if (!Array.isArray(value) || value.length === 0 || value.length > inboxDecisionsMax) {
    return flawed("decisions", `must be an array of 1 to ${inboxDecisionsMax}`);
  }
  const decisions: SeveralDecisions["decisions"] = [];
  for (const each of value as ({ [name: string]: unknown } | null)[]) {
    const { id, digest, ticket, opened = null, place = null } = each ?? {};
    if (typeof id !== "string" || typeof digest !== "string" || typeof ticket !== "string") {
      return flawed("decisions", "must each have an id, a digest and a ticket");
    }
    if (!digestPattern.test(digest)) {
      return flawed("decisions", "must each have a SHA-256 in 64 lower-case hex digits");
    }
    if (opened !== null && typeof opened !== "string") {
      return flawed("decisions", "must each have a string in opened, if anything");
    }
    if (place !== null && typeof place !== "string") {
      return flawed("decisions", "must each have a string in place, if anything");
    }
    decisions.push({ id, digest, ticket, opened, place });
  }
  if (new Set(decisions.map(({ id }) => id)).size < decisions.length) {
    return flawed("decisions", "must name each request once");
  }
  return decisions;
}

function verdictOf(members: Members): ReviewDecision["verdict"] | Refusal {
  const verdict = requiredText(members, "verdict");
  if (isRefusal(verdict) || verdict === "approve" || verdict === "reject") return verdict;
  return flawed("verdict", "must be approve or reject");
}

/** Only a fact about the page: one that nobody understands is no reason to refuse a decision. */
function pageIn(members: Members): string | null {
  const { text = "null", flaw = null } = members.get("page") ?? {};
  const said: unknown = flaw === null ? JSON.parse(text) : null;
  return typeof said === "string" && pagePattern.test(said) ? said : null;
}

/** A note in which nothing is visible is none. */
function noteOf(members: Members): string | null | Refusal {
  const note = optionalText(members, "note");
  if (note === null || isRefusal(note)) return note;
  const flaw = flawOfText(note, resolutionNoteCharactersMax);
  if (flaw !== null) return flawed("note", flaw);
  return isBlank(note) ? null : note;
}

function editOf(members: Members, verdict: ReviewDecision["verdict"]): JsonText | null | Refusal {
  const member = members.get("edit");
  if (member === undefined) return null;
  if (member.flaw !== null) return flawed(member.flaw.path, describeFlaw(member.flaw));
  if (verdict === "reject") {
    return flawed("edit", "goes with an approval only: what is rejected is not executed. Undo it");
  }
  if (member.text === "null") {
    return flawed(
      "edit",
      'cannot be null, because null means "not edited" and the original would be executed. Choose another value, such as {}, or reject',
    );
  }
  return member.text;
}

/** One that can't be read is refused, and never taken for a decision without a signature. */
function signedOf(members: Members): SignedAnswer | null | Refusal {
  const member = members.get("signed");
  if (member === undefined || member.text === "null") return null;
  const signed = member.flaw === null ? signedAnswerOf(JSON.parse(member.text)) : null;
  return signed ?? flawed("signed", "is not as our page sends it. Load the page again");
}

function requiredText(members: Members, name: string): string | Refusal {
  return optionalText(members, name) ?? flawed(name, "is required and must be a string");
}

function optionalText(members: Members, name: string): string | null | Refusal {
  const member = members.get(name);
  if (member === undefined) return null;
  if (member.flaw !== null) return flawed(member.flaw.path, describeFlaw(member.flaw));
  const value: unknown = JSON.parse(member.text);
  if (value === null || typeof value === "string") return value;
  return flawed(name, `must be a string, not ${describeType(value)}`);
}

/** Unknown fields are ignored, but not their duplicates: two readers must never disagree about a body. */
function firstFlaw(members: Members): Refusal | null {
  for (const { flaw } of members.values()) {
    if (flaw !== null) return flawed(flaw.path, describeFlaw(flaw));
  }
  return null;
}

function flawed(name: string, what: string): Refusal {
  return refuse("validation_error", `${name}: ${what}.`);
}
