// What the rules say about one call. The first rule that fits counts.

import { isOwnSettings, type OwnFiles } from "./own-settings.ts";
import type { Outcome, Rule, Rules } from "./rules.ts";
import { isObject, type ToolCall } from "./tool-call.ts";

export type Choice = {
  action: Outcome;
  rule: Rule | null;
  /** The call mentions the rules, the key or the harness's settings, and asks because of that. */
  isOwnSettings: boolean;
};

export function choose(call: ToolCall, rules: Rules, own: OwnFiles): Choice {
  const rule = rules.rules.find((each) => fits(each, call)) ?? null;
  const action = rule?.action ?? rules.otherwise;
  const isOwn = action !== "deny" && isOwnSettings(call, own);
  return { action: isOwn ? "ask" : action, rule, isOwnSettings: isOwn };
}

function fits({ tools, where }: Rule, { tool, input }: ToolCall): boolean {
  if (!tools.some((pattern) => matches(pattern, tool))) return false;
  return [...where].every(([name, patterns]) => {
    const value = isObject(input) && Object.hasOwn(input, name) ? input[name] : undefined;
    return typeof value === "string" && patterns.some((pattern) => matches(pattern, value));
  });
}

/**
 * Whether a text is what a pattern says; `*` stands for any text. Not a regular expression: an agent could write a text
 * that one of them needs minutes for, and some harnesses let a call pass when its hook takes too long.
 */
export function matches(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const [first = "", ...rest] = parts;
  if (rest.length === 0) return text === first;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
