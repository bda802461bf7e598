// Cursor's hooks before a tool runs. Contract: https://cursor.com/docs/hooks. `preToolUse` sees every tool, tells a call's
// id and takes a changed input; `beforeShellExecution` and `beforeMCPExecution` do neither.

import { notAnObject } from "./claude.ts";
import {
  type Answer,
  approvedText,
  type Harness,
  InputError,
  isObject,
  noteText,
  notYet,
  optionalTextIn,
  refuseRepeated,
  removedKeys,
  say,
  type ToolCall,
  textIn,
} from "./tool-call.ts";

export const cursor: Harness = {
  name: "cursor",
  title: "Cursor",
  events: ["preToolUse", "beforeShellExecution", "beforeMCPExecution"],
  // Its own default is not documented: "platform default".
  waitSeconds: 25,
  read(input, event) {
    const conversation = textIn(input, "conversation_id");
    const common = {
      harness: "cursor",
      event,
      cwd: optionalTextIn(input, "cwd"),
      mode: null,
    } as const;
    if (event === "preToolUse") {
      return {
        ...common,
        tool: textIn(input, "tool_name"),
        input: input.tool_input ?? null,
        identity: [conversation, textIn(input, "tool_use_id")],
      };
    }
    const { tool, shown } = event === "beforeShellExecution" ? readShell(input) : readMcp(input);
    // There is no id of the call: the same input in the same generation is the same call.
    const identity = [conversation, textIn(input, "generation_id"), event, tool];
    return { ...common, tool, input: shown, identity: [...identity, JSON.stringify(shown)] };
  },
  editProblem(call, edited) {
    if (call.event !== "preToolUse") return `Cursor takes no changed input from ${call.event}.`;
    if (!isObject(edited)) return notAnObject;
    const removed = removedKeys(call.input, edited);
    return removed.length === 0 ? null : `Cursor may keep what was removed: ${removed.join(", ")}.`;
  },
  write(verdict) {
    switch (verdict.kind) {
      case "pass":
        return say(verdict.saysAllow ? JSON.stringify({ permission: "allow" }) : "{}");
      case "deny":
        return deny(verdict.reason);
      case "defer":
        return deny(notYet);
      case "allow": {
        const output = {
          permission: "allow",
          ...(verdict.edit === undefined ? {} : { updated_input: verdict.edit.input }),
          ...messages(noteText(verdict) ?? approvedText(verdict)),
        };
        return say(JSON.stringify(output));
      }
    }
  },
};

/** As JSON: of exit code 2 Cursor tells nobody why. With failClosed, what it can't read is a "no", too. */
function deny(reason: string): Answer {
  return say(JSON.stringify({ permission: "deny", ...messages(reason) }));
}

/** Both, because which of them reaches the model differs between what is documented and what was seen. */
function messages(text: string): Record<string, string> {
  return { user_message: text, agent_message: text };
}

type Shown = { tool: string; shown: Record<string, unknown> };

function readShell(input: Record<string, unknown>): Shown {
  const cwd = optionalTextIn(input, "cwd");
  const shown = { command: textIn(input, "command"), ...(cwd === null ? {} : { cwd }) };
  return { tool: "Shell", shown };
}

/** Its parameters come as a JSON text. The server belongs to what is approved. */
function readMcp(input: Record<string, unknown>): Shown {
  const parameters = parametersOf(input.tool_input);
  const server = optionalTextIn(input, "url") ?? optionalTextIn(input, "command");
  const shown = { input: parameters, ...(server === null ? {} : { server }) };
  return { tool: `MCP:${textIn(input, "tool_name")}`, shown };
}

function parametersOf(text: unknown): ToolCall["input"] {
  if (typeof text !== "string") return text ?? null;
  let parameters: unknown;
  try {
    parameters = JSON.parse(text);
  } catch {
    throw new InputError("the harness sent a tool_input that is no JSON");
  }
  refuseRepeated(text);
  return parameters;
}
