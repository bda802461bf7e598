// Turns the body of a create call into a new approval, or into the one refusal that its sender should read.
// Fields are looked at in the order of the contract; the first that fails is named.

import { isRefusal, type Refusal, refuse } from "../refusal.ts";
import {
  agentNameCharactersMax,
  agentStateBytesMax,
  reasoningCharactersMax,
  recentActionCharactersMax,
  recentActionsMax,
  summaryCharactersMax,
  ttlMinutesMax,
  ttlMinutesMin,
} from "../shown/field-limits.ts";
import type { JsonFlaw, JsonText } from "../shown/json-text.ts";
import { flawOfEmailAddress } from "../workspace/email-address.ts";
import { isGroupKey } from "../workspace/group.ts";
import { flawOfText, isBlank } from "../workspace/plain-text.ts";
import { describeFlaw, describeType, type Members, membersOf } from "./json-body.ts";

export type Notify = { kind: "address"; email: string } | { kind: "group"; key: string };

export type NewApproval = {
  summary: string;
  payload: JsonText | null;
  notify: Notify;
  agentName: string | null;
  metadata: JsonText | null;
  agentState: JsonText | null;
  reasoning: string | null;
  recentActions: readonly string[];
  ttlMinutes: number | null;
};

export function parseNewApproval(body: Uint8Array): NewApproval | Refusal {
  const members = membersOf(body, { what: "summary and notify", undone: "created" });
  if (isRefusal(members)) return members;
  try {
    return readFields(members);
  } catch (error) {
    if (error instanceof FieldFlaw) return error.refusal;
    throw error;
  }
}

/** The first flawed field ends the reading; caught in parseNewApproval and never seen outside. */
class FieldFlaw extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

function readFields(members: Members): NewApproval {
  const approval: NewApproval = {
    summary: requiredText(members, "summary", summaryCharactersMax),
    payload: opaque(members, "payload"),
    notify: notify(members),
    agentName: optionalText(members, "agentName", agentNameCharactersMax),
    metadata: opaque(members, "metadata"),
    agentState: agentState(members),
    reasoning: optionalText(members, "reasoning", reasoningCharactersMax),
    recentActions: recentActions(members),
    ttlMinutes: ttlMinutes(members),
  };
  // Unknown fields are ignored, but not their duplicates: two readers must never disagree about a body.
  for (const member of members.values()) refuseFlaw(member.flaw);
  return approval;
}

/** The text of a field as it was sent, or null when it is absent or null. */
function opaque(members: Members, name: string): JsonText | null {
  const member = members.get(name);
  if (member === undefined) return null;
  refuseFlaw(member.flaw);
  return member.text === "null" ? null : member.text;
}

function requiredText(members: Members, name: string, charactersMax: number): string {
  const text = optionalText(members, name, charactersMax);
  if (text === null) fail(name, "is required and must be a string");
  if (isBlank(text)) fail(name, "must not be blank");
  return text;
}

function optionalText(members: Members, name: string, charactersMax: number): string | null {
  const value = parsed(opaque(members, name));
  if (value === null) return null;
  if (typeof value !== "string") fail(name, `must be a string, not ${describeType(value)}`);
  const flaw = flawOfText(value, charactersMax);
  if (flaw !== null) fail(name, flaw);
  return value;
}

const groupPrefix = "group:";

function notify(members: Members): Notify {
  const value = parsed(opaque(members, "notify"));
  if (value === null) fail("notify", "is required: an e-mail address, or group:<key>");
  if (typeof value !== "string") fail("notify", `must be a string, not ${describeType(value)}`);
  if (isBlank(value)) fail("notify", "must not be blank: give an e-mail address, or group:<key>");
  if (!value.startsWith(groupPrefix)) {
    const flaw = flawOfEmailAddress(value);
    if (flaw !== null) fail("notify", `${flaw}; or group:<key> for an approver group`);
    return { kind: "address", email: value };
  }
  const key = value.slice(groupPrefix.length);
  if (!isGroupKey(key)) {
    fail(
      "notify",
      "names a group whose key is not valid: a key has 1 to 64 characters, lower-case letters, digits, _ and -, and begins with a letter or digit",
    );
  }
  return { kind: "group", key };
}

function agentState(members: Members): JsonText | null {
  const text = members.get("agentState")?.text;
  if (text !== undefined && isLongerThanBytes(text, agentStateBytesMax)) {
    const bytes = Buffer.byteLength(text);
    throw new FieldFlaw(
      refuse(
        "state_too_large",
        `agentState: must be at most ${agentStateBytesMax} bytes of JSON (256KB), but has ${bytes}. Store the state elsewhere and send a reference to it.`,
      ),
    );
  }
  return opaque(members, "agentState");
}

function recentActions(members: Members): readonly string[] {
  const value = parsed(opaque(members, "recentActions"));
  if (value === null) return [];
  if (!Array.isArray(value)) {
    fail("recentActions", `must be an array of strings, not ${describeType(value)}`);
  }
  if (value.length > recentActionsMax) {
    fail("recentActions", `must have at most ${recentActionsMax} items, but has ${value.length}`);
  }
  return value.map((action: unknown, index) => {
    const name = `recentActions[${index}]`;
    if (typeof action !== "string") fail(name, `must be a string, not ${describeType(action)}`);
    const flaw = flawOfText(action, recentActionCharactersMax);
    if (flaw !== null) fail(name, flaw);
    return action;
  });
}

function ttlMinutes(members: Members): number | null {
  const value = parsed(opaque(members, "ttlMinutes"));
  if (value === null) return null;
  const allowed = `must be a whole number of minutes from ${ttlMinutesMin} to ${ttlMinutesMax}`;
  if (typeof value !== "number") fail("ttlMinutes", `${allowed}, not ${describeType(value)}`);
  if (!Number.isInteger(value) || value < ttlMinutesMin || value > ttlMinutesMax) {
    fail("ttlMinutes", allowed);
  }
  return value;
}

/** Only for fields that we understand. Opaque ones are never parsed. */
function parsed(text: JsonText | null): unknown {
  return text === null ? null : JSON.parse(text);
}

function refuseFlaw(flaw: JsonFlaw | null): void {
  if (flaw !== null) fail(flaw.path, describeFlaw(flaw));
}

function fail(name: string, what: string): never {
  throw new FieldFlaw(refuse("validation_error", `${name}: ${what}.`));
}

function isLongerThanBytes(text: string, bytesMax: number): boolean {
  // UTF-8 needs one to three bytes per UTF-16 unit, so most texts need no counting.
  if (text.length > bytesMax) return true;
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax;
}
