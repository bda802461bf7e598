// Whether a request must be read on the page, because the page would warn its reader. Slack has no place to lead somebody
// to what a warning is about, and can't keep right-to-left letters from moving their neighbours. So whatever deserves a
// warning isn't decided in Slack. A test holds this rule to the page's own findings.

import {
  comma,
  decodeString,
  isClosing,
  isOpening,
  openBrace,
  stringEnd,
} from "../shown/json-tree.ts";
import { type ShownName, type Submitted, shownAdditionsOf } from "../shown/submitted-fields.ts";
import { imitationIn, type TrustedNames } from "../shown/text/imitated-names.ts";
import { twinKeys } from "../shown/text/twin-keys.ts";
import { segmentsOf } from "../shown/text/visible-text.ts";
import { mayReorder, mixesDirections } from "../shown/text/writing-order.ts";

export type WarnedWords = Pick<Submitted, ShownName> & TrustedNames;

export function pageWarns(request: WarnedWords): boolean {
  const { summary, agentName, reasoning, recentActions, payload } = request;
  const additions = shownAdditionsOf(request);
  const textsOf = (isList: boolean) =>
    additions.flatMap((addition) => (addition.isList === isList ? addition.texts : []));
  const prose = [summary, reasoning, ...textsOf(false), ...recentActions].filter(isGiven);
  return (
    prose.some((text) => misleads(text, true) || mixesDirections(text)) ||
    // A name is one line, where a line break is a hidden character.
    (agentName !== null && (misleads(agentName, false) || mixesDirections(agentName))) ||
    imitationIn(agentName ?? "", request) !== null ||
    // Executors compare these byte by byte, so they are read like values of the payload.
    textsOf(true).some((name) => misleads(name, false) || mayReorder(name)) ||
    (payload !== null && jsonMisleads(payload))
  );
}

/** Strings stand between the signs of JSON, so no letter of them may move anything. */
export function jsonMisleads(text: string): boolean {
  const open: (string[] | null)[] = [];
  let isKeyNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(text, at);
      const string = decodeString(text, at, end);
      const keys = open.at(-1);
      const isKey = isKeyNext && keys != null;
      if (isKey) keys.push(string);
      isKeyNext = false;
      if (mayReorder(string) || misleads(string, !isKey)) return true;
      if (isKey && string !== string.trim()) return true;
      at = end - 1;
    } else if (code === comma) isKeyNext = open.at(-1) != null;
    else if (isOpening(code)) {
      isKeyNext = code === openBrace;
      open.push(isKeyNext ? [] : null);
    } else if (isClosing(code)) {
      isKeyNext = false;
      if (twinKeys(open.pop() ?? []).length > 0) return true;
    }
  }
  return false;
}

const quote = 0x22;

function misleads(text: string, isMultiLine: boolean): boolean {
  return segmentsOf(text, { isMultiLine }).some(
    (segment) => segment.kind !== "text" && !(segment.kind === "marked" && segment.isQuiet),
  );
}

function isGiven(text: string | null): text is string {
  return text !== null;
}
