// Reads a webhook as its receiver does: checks the signature, then takes what it says, to the letter.

import { createHmac, timingSafeEqual } from "node:crypto";
import { textOf } from "../approval/json-body.ts";
import { type JsonText, scanJson } from "../shown/json-text.ts";

export type Received = { signature: string; body: Uint8Array };

/** The fields that a person at a terminal wants to see. The payload is its exact text. */
export type ReceivedEvent = {
  event: string;
  requestId: string;
  status: string;
  summary: string;
  resolvedByEmail: string | null;
  resolutionNote: string | null;
  isEdited: boolean;
  effectivePayload: JsonText;
};

const toleranceSeconds = 300;

/** Says why a webhook can't be believed, or null when one of the secrets has signed it just now. */
export function flawOfSignature(
  { signature, body }: Received,
  secrets: readonly string[],
  now: Date,
): string | null {
  const pairs = signature.split(",").map((part) => part.trim().split("=", 2));
  const timestamp = pairs.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^[0-9]{1,12}$/.test(timestamp)) return "it has no signature of the form t=…,v1=…";
  const age = Math.abs(now.getTime() / 1_000 - Number(timestamp));
  if (age > toleranceSeconds) return `it was signed ${Math.round(age)} s from now`;
  const expected = secrets.map((secret) =>
    createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex"),
  );
  const given = pairs.filter(([name]) => name === "v1").map(([, hex = ""]) => hex);
  const isSigned = given.some((hex) => expected.some((right) => isSame(hex, right)));
  return isSigned ? null : "it is signed with another secret, or was changed on its way";
}

/** Null when the body is no event of ours. */
export function readEvent(body: Uint8Array): ReceivedEvent | null {
  const envelope = membersOf(textOf(body) ?? "");
  const data = membersOf(envelope.get("data") ?? "");
  const read = (members: Map<string, JsonText>, name: string): string | null => {
    const value: unknown = JSON.parse(members.get(name) ?? "null");
    return typeof value === "string" ? value : null;
  };
  const [event, requestId] = [read(envelope, "event"), read(data, "id")];
  if (event === null || requestId === null) return null;
  return {
    event,
    requestId,
    status: read(data, "status") ?? "",
    summary: read(data, "summary") ?? "",
    resolvedByEmail: read(data, "resolvedByEmail"),
    resolutionNote: read(data, "resolutionNote"),
    isEdited: (data.get("modifiedPayload") ?? "null") !== "null",
    effectivePayload: data.get("effectivePayload") ?? ("null" as JsonText),
  };
}

function membersOf(text: string): Map<string, JsonText> {
  const scanned = scanJson(text);
  const members = scanned.kind === "object" ? scanned.members : [];
  return new Map(members.map(({ name, text: value }) => [name, value]));
}

function isSame(given: string, right: string): boolean {
  // Compared as bytes: a header may hold characters that take more than one.
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
