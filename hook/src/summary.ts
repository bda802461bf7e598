// The summary that an approver reads first, from a rule's template. What the agent wrote is put in as it is, on one line:
// the payload shows all of it.

import { isObject, type ToolCall } from "./tool-call.ts";

/** The service's limits. */
const summaryCharactersMax = 500;
const reasoningCharactersMax = 2_000;

const placeholder = /\{([^{}]*)\}/g;

/** Why a template can't be filled; null if it can. */
export function placeholderProblem(template: string): string | null {
  for (const [whole, name = ""] of template.matchAll(placeholder)) {
    const isKnown = ["tool", "cwd", "harness"].includes(name) || /^input\.\w+$/.test(name);
    if (!isKnown) return `${whole} is unknown: there are {tool}, {cwd}, {harness} and {input.name}`;
  }
  return null;
}

export function summaryOf(call: ToolCall, template: string | null, title: string): string {
  const filled =
    template === null
      ? `${call.tool}: ${mainText(call)}`
      : template.replaceAll(placeholder, (_whole, name: string) => filling(call, name, title));
  return oneLine(filled, summaryCharactersMax);
}

export function reasoningOf(call: ToolCall, title: string, isOwnSettings: boolean): string {
  const where = call.cwd === null ? "" : ` in ${JSON.stringify(call.cwd)}`;
  const warning = isOwnSettings
    ? " It mentions the settings of this gate: after such a change, the agent may act without asking."
    : "";
  return oneLine(
    `${title} is about to use its tool ${call.tool}${where}.${warning}`,
    reasoningCharactersMax,
  );
}

function filling(call: ToolCall, name: string, title: string): string {
  if (name === "tool") return call.tool;
  if (name === "harness") return title;
  if (name === "cwd") return call.cwd ?? "an unknown folder";
  return textOf(isObject(call.input) ? call.input[name.slice("input.".length)] : undefined);
}

function textOf(value: unknown): string {
  if (value === undefined) return "(nothing)";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a tool of the harness does is in one field. What an MCP tool does is in all of them, and a model may add some. */
function mainText({ tool, input }: ToolCall): string {
  if (!isObject(input) || /^mcp[_:]/i.test(tool)) return textOf(input);
  const name = ["command", "file_path", "path", "url"].find(
    (key) => typeof input[key] === "string",
  );
  return name === undefined ? JSON.stringify(input) : String(input[name]);
}

/**
 * The service takes no control characters here. A line that ends is marked, because `ls` and `rm -rf ~` on two lines are
 * not `ls rm -rf ~`; characters that turn the order of what follows are replaced.
 */
function oneLine(text: string, charactersMax: number): string {
  const line = text
    .trim()
    // One pattern for all of them: a text of blanks must not take quadratic time.
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, (gap) =>
      /[\n\r\u2028\u2029]/.test(gap) ? " ⏎ " : " ",
    )
    .replaceAll(/\p{Bidi_Control}/gu, "\ufffd")
    .trim();
  const characters = Array.from((line || "(nothing)").toWellFormed());
  return characters.length <= charactersMax
    ? characters.join("")
    : `${characters.slice(0, charactersMax - 1).join("")}…`;
}
