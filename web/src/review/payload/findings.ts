// What of an agent's words deserves a second look: characters that cannot be seen, letters that look like others, long
// stretches of nothing. Each finding knows its place, so that the page can lead there.

import type { Review } from "../../../../sdk/src/review-contract.ts";
import {
  entriesOf,
  formatPath,
  type JsonNode,
  type JsonPath,
  rootOf,
  stringOf,
} from "../../../../server/src/domain/json-tree.ts";
import {
  type Segment,
  segmentsOf,
  toVisibleText,
} from "../../../../server/src/domain/visible-text.ts";
import { words } from "../words.ts";

export type Place =
  | { kind: "field"; id: string; name: string }
  | { kind: "payload"; path: JsonPath; name: string };

export type Finding = { kind: Exclude<Segment["kind"], "text">; count: number; place: Place };

type Words = Pick<Review, "summary" | "agentName" | "reasoning" | "recentActions" | "payload">;

export function findingsOf(review: Words): Finding[] {
  const { summary, agentName, reasoning, recentActions, payload } = review;
  const { places } = words;
  const fields = [
    { id: "summary", name: places.summary, text: summary },
    { id: "agent-name", name: places.agentName, text: agentName ?? "" },
    { id: "reasoning", name: places.reasoning, text: reasoning ?? "" },
    ...recentActions.map((text, at) => ({
      id: `action-${at}`,
      name: places.recentAction(at + 1),
      text,
    })),
  ];
  return [
    ...fields.flatMap(({ id, name, text }) => inText(text, { kind: "field", id, name })),
    ...(payload === null ? [] : inPayload(payload)),
  ];
}

export function inPayload(text: string): Finding[] {
  const findings: Finding[] = [];
  const visit = (path: JsonPath, node: JsonNode) => {
    const name = words.places.payload(shown(path));
    if (node.kind === "string") {
      findings.push(...inText(stringOf(text, node), { kind: "payload", path, name }));
    }
    for (const { step, node: child } of entriesOf(text, node)) {
      const childPath = [...path, step];
      if (typeof step === "string") findings.push(...inKey(step, childPath));
      visit(childPath, child);
    }
  };
  visit([], rootOf(text));
  return findings;
}

function inKey(key: string, path: JsonPath): Finding[] {
  const found = inText(key, { kind: "payload", path, name: "" }, false);
  if (found.length === 0) return found;
  const name = words.places.key(shown(path));
  return found.map((finding) => ({ ...finding, place: { kind: "payload", path, name } }));
}

function inText(text: string, place: Place, isMultiLine = true): Finding[] {
  const counts = new Map<Finding["kind"], number>();
  for (const segment of segmentsOf(text, { isMultiLine })) {
    if (segment.kind === "text") continue;
    const count = segment.kind === "hidden" ? segment.count : 1;
    counts.set(segment.kind, (counts.get(segment.kind) ?? 0) + count);
  }
  return [...counts].map(([kind, count]) => ({ kind, count, place }));
}

export function describeFinding({ kind, count, place }: Finding): string {
  switch (kind) {
    case "hidden":
      return words.hidden(count, place.name);
    case "mixed":
      return words.mixed(place.name);
    case "host":
      return words.host(place.name);
    case "space":
      return words.longSpace(place.name);
    default:
      return kind satisfies never;
  }
}

/** A key may hold hidden characters itself. */
function shown(path: JsonPath): string {
  return toVisibleText(formatPath(path));
}
