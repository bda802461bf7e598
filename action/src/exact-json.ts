// JSON that keeps its text: a person approves digits, and JSON.parse would round some of them.

import { scanJson } from "../../server/src/domain/shown/json-text.ts";

/** One JSON value as somebody wrote it. */
export class ExactJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const exactNames: readonly string[] = ["payload", "modifiedPayload", "effectivePayload"];

/** As `JSON.parse`, with the payloads of a request as their texts. */
export function readExactly(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  const scanned = scanJson(text);
  if (scanned.kind !== "object") return parsed;
  const exact = scanned.members
    .filter(({ name, text: value }) => exactNames.includes(name) && value !== "null")
    .map(({ name, text: value }) => [name, new ExactJson(value)]);
  return { ...(parsed as object), ...Object.fromEntries(exact) };
}

/** As `JSON.stringify`, for an object that may have such texts as members. */
export function writeExactly(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => {
      const text = member instanceof ExactJson ? member.text : JSON.stringify(member);
      return `${JSON.stringify(name)}:${text}`;
    });
  return `{${members.join(",")}}`;
}
