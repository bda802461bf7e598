// Gemini CLI's BeforeTool hook. Contract: docs/hooks/reference.md and packages/core/src/hooks of
// github.com/google-gemini/gemini-cli. It parses standard output whatever the exit code is, and lets a call pass when the
// hook is killed or takes longer than its limit.

import { notAnObject } from "./claude.ts";
import {
  approvedText,
  block,
  type Harness,
  isObject,
  noteText,
  notYet,
  optionalTextIn,
  removedKeys,
  say,
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
        return say("");
      case "deny":
        return block(verdict.reason);
      case "defer":
        return block(notYet);
      case "allow": {
        const edit = verdict.edit === undefined ? null : { tool_input: verdict.edit.input };
        const output = {
          decision: "allow",
          systemMessage: noteText(verdict) ?? approvedText(verdict),
          ...(edit === null
            ? {}
            : { hookSpecificOutput: { hookEventName: "BeforeTool", ...edit } }),
        };
        return say(JSON.stringify(output));
      }
    }
  },
};
