// No process wrote a secret down, in any spelling in which secrets get into logs.

import type { Evidence, Flaw } from "../evidence.ts";

/** A shorter one would be found by chance. */
const secretLengthMin = 8;

export function flawsOfOutputs({ outputs, secrets }: Evidence): Flaw[] {
  const isSearchable = ({ value }: { value: string }) => value.length >= secretLengthMin;
  const spelled = secrets
    .filter(isSearchable)
    .flatMap(({ name, value }) => spellingsOf(value).map((spelling) => ({ name, spelling })));
  // A run has thousands of secrets, and writes megabytes: each place of a text is looked at once.
  const byStart = Map.groupBy(spelled, ({ spelling }) => spelling.slice(0, secretLengthMin));
  return [
    ...secrets
      .filter((secret) => !isSearchable(secret))
      .map(({ name }) => ({
        promise: "there is something to judge",
        what: `${name} is too short to be looked for`,
      })),
    ...outputs.flatMap(({ process, text }) =>
      [...namesIn(text, byStart)].map((name) => ({
        promise: "no secret in any log",
        what: `${process} wrote ${name} down`,
      })),
    ),
  ];
}

type Spelled = { name: string; spelling: string };

function namesIn(text: string, byStart: Map<string, Spelled[]>): Set<string> {
  const names = new Set<string>();
  for (let at = 0; at <= text.length - secretLengthMin; at += 1) {
    for (const { name, spelling } of byStart.get(text.slice(at, at + secretLengthMin)) ?? []) {
      if (text.startsWith(spelling, at)) names.add(name);
    }
  }
  return names;
}

function spellingsOf(value: string): string[] {
  const withoutKind = value.replace(/^(?:whsec|cs)_/, "");
  const bytes = Buffer.from(value);
  const decoded = Buffer.from(withoutKind, "base64");
  return [
    ...[value, withoutKind, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)],
    ...[bytes.toString("base64"), bytes.toString("hex"), decoded.toString("hex")],
  ].filter((spelling) => spelling.length >= secretLengthMin);
}
