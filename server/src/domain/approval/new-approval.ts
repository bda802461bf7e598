// Turns the body of a create call into a new approval, or into the one refusal that its sender should read.
// Fields are looked at in the order of the contract; the first that fails is named.

import { isRefusal, type Refusal, refuse } from "../refusal.ts";
import { ttlMinutesMax, ttlMinutesMin } from "../shown/field-limits.ts";
import { describeFlaw, type JsonFlaw, type JsonText } from "../shown/json-text.ts";
import { type Submitted, type SubmittedField, submittedFields } from "../shown/submitted-fields.ts";
import type { Notify } from "../workspace/notify.ts";
import { flawOfText, isBlank } from "../workspace/plain-text.ts";
import { readCallbackUrl } from "./callback-url.ts";
import { describeType, type Members, membersOf } from "./json-body.ts";
import { readChannels } from "./new-channels.ts";
import { readAudience, readFlag } from "./new-proof.ts";
import {
  type Flaw,
  type NewStage,
  type NewStep,
  readAddress,
  readEscalations,
  readNotify,
  readQuorum,
  readStages,
} from "./new-voting.ts";

export type NewApproval = Submitted<JsonText> & {
  notify: Notify;
  ttlMinutes: number | null;
  /** In the one spelling that is called. */
  callbackUrl: string | null;
  /** How many people must approve in the first stage; null when it wasn't said. */
  quorum: number | null;
  then: readonly NewStage[];
  escalate: readonly NewStep[];
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
  const approval: Record<string, unknown> = {};
  for (const { name, field } of fields) approval[name] = readField(members, name, field);
  // Unknown fields are ignored, but not their duplicates: two readers must never disagree about a body.
  for (const member of members.values()) refuseFlaw(member.flaw);
  return approval as NewApproval;
}

const fields = Object.entries<SubmittedField>(submittedFields).map(([name, field]) => ({
  name,
  field,
}));

/** Each kind is read as the type that `Submitted` gives it. */
function readField(members: Members, name: string, field: SubmittedField) {
  switch (field.kind) {
    case "required_text":
      return requiredText(members, name, field.charactersMax);
    case "text":
      return optionalText(members, name, field.charactersMax);
    case "texts":
      return texts(members, name, field);
    case "json":
      return opaque(members, name, field.bytesMax);
    case "approver":
      return notify(members, name);
    case "minutes":
      return minutes(members, name);
    case "url":
      return url(members, name, field.charactersMax);
    case "address":
      return read(members, name, readAddress);
    case "count":
      return read(members, name, readQuorum);
    case "stages":
      return read(members, name, readStages);
    case "escalations":
      return read(members, name, readEscalations);
    case "channels":
      return read(members, name, readChannels);
    case "names":
      return read(members, name, readAudience);
    case "flag":
      return read(members, name, readFlag);
    default:
      return field satisfies never;
  }
}

/** The text of a field as it was sent, or null when it is absent or null. */
function opaque(members: Members, name: string, bytesMax = Infinity): JsonText | null {
  const member = members.get(name);
  if (member === undefined) return null;
  refuseSize(name, member.text, bytesMax);
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

function notify(members: Members, name: string): Notify {
  return read(members, name, readNotify);
}

function read<Value>(
  members: Members,
  name: string,
  reader: (value: unknown, place: string) => Value | Flaw,
): Value {
  const value = reader(parsed(opaque(members, name)), name);
  return isFlaw(value) ? fail(value.place, value.flaw) : value;
}

function isFlaw(value: unknown): value is Flaw {
  return typeof value === "object" && value !== null && "flaw" in value;
}

function texts(
  members: Members,
  name: string,
  { itemsMax, charactersMax }: { itemsMax: number; charactersMax: number },
): readonly string[] {
  const value = parsed(opaque(members, name));
  if (value === null) return [];
  if (!Array.isArray(value)) {
    fail(name, `must be an array of strings, not ${describeType(value)}`);
  }
  if (value.length > itemsMax) {
    fail(name, `must have at most ${itemsMax} items, but has ${value.length}`);
  }
  return value.map((item: unknown, index) => {
    const place = `${name}[${index}]`;
    if (typeof item !== "string") fail(place, `must be a string, not ${describeType(item)}`);
    const flaw = flawOfText(item, charactersMax);
    if (flaw !== null) fail(place, flaw);
    return item;
  });
}

function minutes(members: Members, name: string): number | null {
  const value = parsed(opaque(members, name));
  if (value === null) return null;
  const allowed = `must be a whole number of minutes from ${ttlMinutesMin} to ${ttlMinutesMax}`;
  if (typeof value !== "number") fail(name, `${allowed}, not ${describeType(value)}`);
  if (!Number.isInteger(value) || value < ttlMinutesMin || value > ttlMinutesMax) {
    fail(name, allowed);
  }
  return value;
}

function url(members: Members, name: string, charactersMax: number): string | null {
  const value = parsed(opaque(members, name));
  if (value === null) return null;
  if (typeof value !== "string") fail(name, `must be a string, not ${describeType(value)}`);
  const read = readCallbackUrl(value, charactersMax);
  return "flaw" in read ? fail(name, read.flaw) : read.url;
}

/** Only for fields that we understand. Opaque ones are never parsed. */
function parsed(text: JsonText | null): unknown {
  return text === null ? null : JSON.parse(text);
}

function refuseSize(name: string, text: JsonText, bytesMax: number): void {
  if (!isLongerThanBytes(text, bytesMax)) return;
  const bytes = countBytes(text);
  throw new FieldFlaw(
    refuse(
      "state_too_large",
      `${name}: must be at most ${bytesMax} bytes of JSON (${bytesMax / 1024}KB), but has ${bytes}. Store the state elsewhere and send a reference to it.`,
    ),
  );
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
  return text.length * 3 > bytesMax && countBytes(text) > bytesMax;
}

/** Without Node's Buffer: the SDK's testing kit runs these rules in browsers, too. */
function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
