// The name of a place in the payload for labels and lists: its path, made visible and cut to a readable length. The
// work is bounded by that length, however long the keys are and however deep they stand.

import { formatStep } from "../../../server/src/domain/shown/json-text.ts";
import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import { toVisibleText } from "../../../server/src/domain/shown/text/visible-text.ts";
import { words } from "../look/words.ts";

type Step = JsonPath[number];

/** The root has a name in our words; all others are the agent's. */
export function pathName(path: JsonPath, charactersMax = 80): string {
  if (path.length === 0) return words.wholePayload;
  return wholeName(path, charactersMax) ?? shortName(path, charactersMax);
}

/** A stranger's text, made visible and cut in the middle. */
export function visibleCut(text: string, charactersMax: number): string {
  // More is left out here than below, so that only one gap shows.
  return cutMiddle(toVisibleText(cutMiddle(text, 2 * charactersMax)), charactersMax);
}

/** Null if it would be too long. */
function wholeName(path: JsonPath, charactersMax: number): string | null {
  let name = "";
  for (const step of path) {
    if (typeof step === "string" && step.length > charactersMax) return null;
    name += toVisibleText(formatStep(step, name === ""));
    if (name.length > charactersMax) return null;
  }
  return name;
}

/** Its start, and as much of its end as fits. */
function shortName(path: JsonPath, charactersMax: number): string {
  const stepMax = Math.floor((charactersMax - 1) / Math.min(path.length, 3));
  const first = stepName(path[0] ?? 0, true, stepMax);
  let left = charactersMax - 1 - first.length;
  const last: string[] = [];
  for (const step of path.slice(1).reverse()) {
    const name = stepName(step, false, stepMax);
    if (name.length > left) break;
    last.unshift(name);
    left -= name.length;
  }
  const gap = last.length < path.length - 1 ? "…" : "";
  return first + gap + last.join("");
}

function stepName(step: Step, isFirst: boolean, charactersMax: number): string {
  const cut = typeof step === "string" ? cutMiddle(step, 2 * charactersMax) : step;
  return cutMiddle(toVisibleText(formatStep(cut, isFirst)), charactersMax);
}

export function cutMiddle(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  let head = Math.ceil((charactersMax - 1) / 2);
  let tail = text.length - Math.floor((charactersMax - 1) / 2);
  // Half of a character would show as a hidden one.
  if (isHighSurrogate(text.charCodeAt(head - 1))) head -= 1;
  if (isHighSurrogate(text.charCodeAt(tail - 1))) tail += 1;
  return `${text.slice(0, head)}…${text.slice(tail)}`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
