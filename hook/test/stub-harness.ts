// Stubs of the harnesses: each runs the hook as the harness does, and runs the tool by the harness's own documented rules,
// its failures included. Their own gate lets everything pass, so that only the hook can keep a tool from running.
//
// Sources: Claude Code, code.claude.com/docs/en/hooks and its changelog (2.1.295, onFailure). Codex,
// codex-rs/hooks/src/events/pre_tool_use.rs. Gemini CLI, packages/core/src/hooks/hookRunner.ts, hookAggregator.ts and
// scheduler/hook-utils.ts. Cursor, cursor.com/docs/hooks, and what users saw of failClosed with an empty answer.

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { HarnessName } from "../src/tool-call.ts";

export const program = join(import.meta.dirname, "..", "bin", "countersign-hook.mjs");

const pages: Record<HarnessName, string> = {
  claude: "hook-claude-code.md",
  codex: "hook-codex.md",
  cursor: "hook-cursor.md",
  gemini: "hook-gemini-cli.md",
};

/** The page of the documentation about a harness. */
export function pageOf(name: HarnessName): string {
  return join(import.meta.dirname, "..", "..", "docs", pages[name]);
}

/** The end of every documented command. */
export const shellGuard =
  "|| { [ $? = 2 ] || cat >/dev/null; echo Not approved by countersign-hook. >&2; exit 2; }";

/** What became of the tool. `told` reaches the model. */
export type Outcome =
  | { ran: true; input: unknown; told: string }
  | { ran: false; told: string; deferred?: boolean };

export type Finished = {
  code: number | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  /** The harness could not write all of the call. */
  isUnread: boolean;
};

export type StubRun = {
  child: ChildProcess;
  outcome: Promise<Outcome>;
  finished: Promise<Finished>;
};

export type StubCall = {
  tool: string;
  input: unknown;
  session: string;
  id: string;
  event?: string;
};

export type StubOptions = {
  /** What stands before the shell guard. */
  command: string;
  env: Record<string, string>;
  /** The harness's own limit. */
  timeoutMs?: number;
  /** As an older Claude Code, or a Cursor without failClosed. */
  isUnguarded?: boolean;
  hasNoShellGuard?: boolean;
};

type Stub = {
  input: (call: StubCall) => object;
  judge: (ended: Finished, call: StubCall, options: StubOptions) => Outcome;
};

export const stubs: Record<HarnessName, Stub> = {
  claude: {
    input: ({ tool, input, session, id }) => ({
      session_id: session,
      transcript_path: "/tmp/transcript.jsonl",
      cwd: "/srv/project",
      permission_mode: "default",
      hook_event_name: "PreToolUse",
      tool_name: tool,
      tool_input: input,
      tool_use_id: id,
    }),
    judge: judgeClaude,
  },
  codex: {
    input: ({ tool, input, session, id }) => ({
      session_id: session,
      turn_id: "turn-1",
      transcript_path: null,
      cwd: "/srv/project",
      hook_event_name: "PreToolUse",
      model: "gpt",
      permission_mode: "bypassPermissions",
      tool_name: tool,
      tool_input: input,
      tool_use_id: id,
    }),
    judge: judgeCodex,
  },
  cursor: { input: cursorInput, judge: judgeCursor },
  gemini: {
    input: ({ tool, input, session, id }) => ({
      session_id: session,
      transcript_path: "/tmp/transcript.json",
      cwd: "/srv/project",
      hook_event_name: "BeforeTool",
      timestamp: id,
      tool_name: tool,
      tool_input: input,
    }),
    judge: judgeGemini,
  },
};

function cursorInput({ tool, input, session, id, event = "preToolUse" }: StubCall): object {
  const common = {
    conversation_id: session,
    generation_id: "generation-1",
    model: "default",
    hook_event_name: event,
    cursor_version: "3.9.16",
    workspace_roots: ["/srv/project"],
  };
  if (event === "preToolUse") {
    return { ...common, tool_name: tool, tool_input: input, tool_use_id: id, cwd: "/srv/project" };
  }
  if (event === "beforeShellExecution") {
    const { command } = input as { command: string };
    return { ...common, command, cwd: "/srv/project", sandbox: false };
  }
  const url = "https://mcp.example.com";
  return { ...common, tool_name: tool, tool_input: JSON.stringify(input), url };
}

export function runStub(harness: HarnessName, call: StubCall, options: StubOptions): StubRun {
  const { input, judge } = stubs[harness];
  const command = options.hasNoShellGuard ? options.command : `${options.command} ${shellGuard}`;
  // In a group of its own, as Codex does, so that the whole tree can be ended.
  const child = spawn("/bin/sh", ["-c", command], {
    env: options.env,
    stdio: "pipe",
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  let isUnread = false;
  child.stdin.on("error", () => {
    isUnread = true;
  });
  child.stdin.end(JSON.stringify(input(call)));
  const finished = new Promise<Finished>((resolve) => {
    const timer = setTimeout(() => {
      endGroup(child);
      resolve({ code: null, stdout, stderr, timedOut: true, isUnread });
    }, options.timeoutMs ?? 600_000);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr, timedOut: false, isUnread });
    });
  });
  return { child, finished, outcome: finished.then((ended) => judge(ended, call, options)) };
}

export function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}

function judgeClaude(ended: Finished, { input }: StubCall, { isUnguarded }: StubOptions): Outcome {
  const { code, stdout, stderr, timedOut } = ended;
  if (code === 2) return { ran: false, told: stderr };
  if (timedOut || code !== 0) {
    return isUnguarded ? { ran: true, input, told: "" } : { ran: false, told: stderr };
  }
  const output = parsed(stdout)?.hookSpecificOutput ?? {};
  switch (output.permissionDecision) {
    case "deny":
      return { ran: false, told: output.permissionDecisionReason };
    case "defer":
      return { ran: false, told: "", deferred: true };
    default: {
      const told = output.additionalContext ?? "";
      return { ran: true, input: output.updatedInput ?? input, told };
    }
  }
}

function judgeCodex(ended: Finished, { input }: StubCall): Outcome {
  const { code, stdout, stderr, isUnread } = ended;
  // "failed to write hook stdin: Broken pipe", until August 2026: github.com/openai/codex/issues/32667.
  if (isUnread) return { ran: true, input, told: "" };
  if (code === 2 && stderr.trim() !== "") return { ran: false, told: stderr };
  const answer = code === 0 ? parsed(stdout) : null;
  const output = answer?.hookSpecificOutput ?? {};
  const told = output.additionalContext ?? "";
  if (output.permissionDecision === "deny" && output.permissionDecisionReason) {
    return { ran: false, told: output.permissionDecisionReason };
  }
  // "allow" without a changed input, "ask", and everything unknown: it reports an error and runs the tool.
  return output.permissionDecision === "allow" && output.updatedInput !== undefined
    ? { ran: true, input: output.updatedInput, told }
    : { ran: true, input, told };
}

function judgeCursor(ended: Finished, { input }: StubCall, { isUnguarded }: StubOptions): Outcome {
  const { code, stdout, stderr, timedOut } = ended;
  if (code === 2) return { ran: false, told: stdout };
  const answer = !timedOut && code === 0 ? parsed(stdout) : null;
  if (answer?.permission === "deny" || answer?.permission === "ask") {
    return { ran: false, told: answer.user_message };
  }
  if (answer?.permission === "allow") {
    return { ran: true, input: answer.updated_input ?? input, told: answer.agent_message ?? "" };
  }
  return isUnguarded ? { ran: true, input, told: "" } : { ran: false, told: stderr };
}

function judgeGemini({ code, stdout, stderr, timedOut }: Finished, { input }: StubCall): Outcome {
  if (timedOut) return { ran: true, input, told: "" };
  const text = stdout.trim() || stderr.trim();
  // An end by a signal has no code, and counts as success.
  const exitCode = code ?? 0;
  const plain = exitCode > 1 ? { decision: "deny", reason: text } : { decision: "allow" };
  const answer = parsed(text) ?? (text === "" ? {} : plain);
  if (answer.decision === "deny" || answer.decision === "block") {
    return { ran: false, told: answer.reason };
  }
  const changed = answer.hookSpecificOutput?.tool_input;
  const merged = changed === undefined ? input : { ...(input as object), ...changed };
  return { ran: true, input: merged, told: "" };
}

// biome-ignore lint/suspicious/noExplicitAny: the stubs read whatever the hook writes
function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
