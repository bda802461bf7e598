// Codex CLI's PreToolUse hook. Contract: codex-rs/hooks/src/events/pre_tool_use.rs and engine/output_parser.rs of
// github.com/openai/codex. It lets a call pass on every answer that it can't read, and on "allow" without a changed
// input: an approved call is therefore answered with silence, and Codex's own gate still applies.

import { answer, notAnObject, readToolUse } from "./claude.ts";
import { block, type Harness, isObject, noteText, notYet, say, textIn } from "./tool-call.ts";

export const codex: Harness = {
  name: "codex",
  title: "Codex",
  events: ["PreToolUse"],
  // Its own default is 600.
  waitSeconds: 570,
  read(input, event) {
    const call = readToolUse("codex", input, event);
    return { ...call, identity: [...call.identity, textIn(input, "turn_id")] };
  },
  editProblem({ tool }, edited) {
    if (!isObject(edited)) return notAnObject;
    if (!commandTools.includes(tool)) return null;
    const isCommand = typeof edited.command === "string" && Object.keys(edited).length === 1;
    return isCommand ? null : `Codex takes nothing but a changed "command" for ${tool}.`;
  },
  write(verdict) {
    switch (verdict.kind) {
      case "pass":
        return say("");
      case "deny":
        return block(verdict.reason);
      case "defer":
        // It knows no defer, and would let the call pass.
        return block(notYet);
      case "allow": {
        const told = noteText(verdict);
        const context = told === null ? {} : { additionalContext: told };
        if (verdict.edit === undefined) return told === null ? say("") : answer(context);
        return answer({
          permissionDecision: "allow",
          updatedInput: verdict.edit.input,
          ...context,
        });
      }
    }
  },
};

/** It shows hooks the command alone, and takes back nothing else. */
const commandTools = ["Bash", "apply_patch"];
