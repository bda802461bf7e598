// Claude Code's PreToolUse hook. Contract: https://code.claude.com/docs/en/hooks#pretooluse

import {
  type Answer,
  type Approved,
  approvedText,
  block,
  type Harness,
  isObject,
  noteText,
  optionalTextIn,
  say,
  type ToolCall,
  textIn,
} from "./tool-call.ts";

export const claude: Harness = {
  name: "claude",
  title: "Claude Code",
  events: ["PreToolUse"],
  // Its own default is 600.
  waitSeconds: 570,
  read: (input, event) => readToolUse("claude", input, event),
  editProblem: (_call, edited) => (isObject(edited) ? null : notAnObject),
  write(verdict) {
    switch (verdict.kind) {
      case "pass":
        return say("");
      case "deny":
        return block(verdict.reason);
      case "defer":
        return answer({ permissionDecision: "defer" });
      case "allow":
        return answer({
          permissionDecision: "allow",
          permissionDecisionReason: approvedText(verdict),
          ...changes(verdict),
        });
    }
  },
};

export const notAnObject = "A tool's input is a JSON object, and theirs is not.";

/** The fields that Claude Code and Codex share. */
export function readToolUse(
  harness: "claude" | "codex",
  input: Record<string, unknown>,
  event: string,
): ToolCall {
  return {
    harness,
    event,
    tool: textIn(input, "tool_name"),
    input: input.tool_input ?? null,
    identity: [textIn(input, "session_id"), textIn(input, "tool_use_id")],
    cwd: optionalTextIn(input, "cwd"),
    mode: optionalTextIn(input, "permission_mode"),
  };
}

export function answer(output: Record<string, unknown>): Answer {
  return say(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...output } }));
}

function changes(verdict: Approved): Record<string, unknown> {
  const told = noteText(verdict);
  return {
    ...(verdict.edit === undefined ? {} : { updatedInput: verdict.edit.input }),
    ...(told === null ? {} : { additionalContext: told }),
  };
}
