// Gemini CLI's BeforeTool hook. Contract: docs/hooks/reference.md and packages/core/src/hooks of
// github.com/google-gemini/gemini-cli. It parses standard output whatever the exit code is, and lets a call pass when the
// hook is killed or takes longer than its limit.

import { notAnObject } from "./claude.ts";
import {
  approvedText,
  type Harness,
  isObject,
  noteText,
  optionalTextIn,
  removedKeys,
  textIn,
} from "./tool-call.ts";

export const gemini: Harness = {
  name: "gemini",
  title: "Gemini CLI",
  events: ["BeforeTool"],
  // Its own default is 60.
  waitSeconds: 50,
  read(input, event) {
    const tool = textIn(input, "tool_name");
    const shown = input.tool_input ?? null;
    // There is no id of the call: the time to the millisecond stands for it.
    const when = textIn(input, "timestamp");
    return {
      harness: "gemini",
      event,
      tool,
      input: shown,
      identity: [textIn(input, "session_id"), when, tool, JSON.stringify(shown)],
      cwd: optionalTextIn(input, "cwd"),
      mode: null,
    };
  },
  editProblem(call, edited) {
    if (!isObject(edited)) return notAnObject;
    const removed = removedKeys(call.input, edited);
    const kept = `Gemini CLI merges a changed input into the first one, and would keep ${removed.join(", ")}.`;
    return removed.length === 0 ? null : kept;
  },
  write(verdict) {
    switch (verdict.kind) {
      case "pass":
        return "";
      case "deny":
        return JSON.stringify({ decision: "deny", reason: verdict.reason });
      case "defer":
        return JSON.stringify({ decision: "deny", reason: "Nobody has approved this action yet." });
      case "allow":
        return JSON.stringify({
          decision: "allow",
          systemMessage: noteText(verdict) ?? approvedText(verdict),
          ...(verdict.edit === undefined
            ? {}
            : {
                hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: verdict.edit.input },
              }),
        });
    }
  },
};
