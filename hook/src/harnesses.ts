// Which harness has called, and its call as we read it.

import { roundedNumberIn } from "../../sdk/src/exactness.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import {
  type Harness,
  type HarnessName,
  InputError,
  isObject,
  refuseRepeated,
  type ToolCall,
} from "./tool-call.ts";

export const harnesses: Record<HarnessName, Harness> = { claude, codex, cursor, gemini };

export function isHarnessName(name: string): name is HarnessName {
  return Object.hasOwn(harnesses, name);
}

/** The call, and whether it is told to the last digit. Throws an `InputError` for everything that is no call. */
export function readCall(text: string, expected: HarnessName | null): ToolCall {
  const input = parse(text);
  refuseRepeated(text);
  const event = input.hook_event_name;
  if (typeof event !== "string") throw new InputError("the harness sent no hook_event_name");
  const name = detect(event, input);
  if (name === null) throw new InputError(`there is no known harness with the event ${event}`);
  if (expected !== null && name !== expected) {
    throw new InputError(`--format is ${expected}, but this is a call of ${name}`);
  }
  return harnesses[name].read(input, event);
}

/** A number of the input that an approver would not see as it is; null if there is none. */
export function inexactNumberIn(text: string): string | null {
  const input = parse(text);
  // Cursor sends the parameters of MCP tools as a text inside the text.
  const inner = typeof input.tool_input === "string" ? roundedNumberIn(input.tool_input) : null;
  return inner ?? roundedNumberIn(text);
}

function parse(text: string): Record<string, unknown> {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    throw new InputError("what the harness sent is no JSON");
  }
  if (!isObject(input)) throw new InputError("what the harness sent is no JSON object");
  return input;
}

/** Claude Code and Codex name the event alike; only Codex tells the turn. */
function detect(event: string, input: Record<string, unknown>): HarnessName | null {
  if (event === "PreToolUse") return "turn_id" in input ? "codex" : "claude";
  const found = Object.values(harnesses).find(({ events }) => events.includes(event));
  return found?.name ?? null;
}
