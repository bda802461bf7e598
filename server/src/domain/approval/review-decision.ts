// Turns the review page's body into a decision, or into the one refusal that its reader should see.

import { isRefusal, type Refusal, refuse } from "../refusal.ts";
import { resolutionNoteCharactersMax } from "../shown/field-limits.ts";
import { isSameJson } from "../shown/json-diff.ts";
import { describeFlaw, type JsonText } from "../shown/json-text.ts";
import { flawOfText, isBlank } from "../workspace/plain-text.ts";
import { describeType, type Members, membersOf } from "./json-body.ts";

export type ReviewDecision = {
  verdict: "approve" | "reject";
  /** The digest of the shown content, as the page says it. */
  digest: string;
  ticket: string;
  note: string | null;
  /** As it was typed; null when none was. */
  code: string | null;
  /** The exact text of the edited payload; null when it was not edited. */
  edit: JsonText | null;
};

const digestPattern = /^[0-9a-f]{64}$/;

export function parseReviewDecision(body: Uint8Array): ReviewDecision | Refusal {
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
  const note = noteOf(members);
  if (isRefusal(note)) return note;
  const code = optionalText(members, "code");
  if (isRefusal(code)) return code;
  const edit = editOf(members, verdict);
  if (isRefusal(edit)) return edit;
  return firstFlaw(members) ?? { verdict, digest, ticket, note, code, edit };
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

function verdictOf(members: Members): ReviewDecision["verdict"] | Refusal {
  const verdict = requiredText(members, "verdict");
  if (isRefusal(verdict) || verdict === "approve" || verdict === "reject") return verdict;
  return flawed("verdict", "must be approve or reject");
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
