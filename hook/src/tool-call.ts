// One tool call of a coding agent, and what may become of it. The harnesses' own formats are in claude.ts, codex.ts,
// cursor.ts and gemini.ts.

import { repeatedKeyIn } from "./repeated-keys.ts";

export type HarnessName = "claude" | "codex" | "cursor" | "gemini";

export type ToolCall = {
  harness: HarnessName;
  /** The hook's event as the harness names it. */
  event: string;
  tool: string;
  /** As the approver sees it. */
  input: unknown;
  /** Identifies this call, and no other, with everything that the harness tells for that. */
  identity: string[];
  cwd: string | null;
  /** The harness's permission mode, if it tells one. */
  mode: string | null;
};

/** What the harness is told. */
export type Verdict =
  /** No decision: the harness's own gate applies. Cursor blocks what isn't decided, unless `saysAllow`. */
  | { kind: "pass"; saysAllow?: boolean }
  /** The text is for the model. */
  | { kind: "deny"; reason: string }
  /** Asked, and not decided yet: the harness stops here and calls again later. */
  | { kind: "defer" }
  | Approved;

export type Approved = {
  kind: "allow";
  requestId: string;
  by: string | null;
  note: string | null;
  /** The approver's version of the input, if they changed it. */
  edit?: { input: unknown };
};

export type Harness = {
  name: HarnessName;
  /** For people. */
  title: string;
  events: readonly string[];
  /** Without a configured limit of the harness, and without `--wait`, the hook denies after so many seconds. */
  waitSeconds: number;
  read(input: Record<string, unknown>, event: string): ToolCall;
  /** Why the approver's version can't be passed on; null if it can. */
  editProblem(call: ToolCall, edited: unknown): string | null;
  write(verdict: Verdict): Answer;
};

/**
 * What the harness gets: an exit code with a text, on standard output for 0 and on standard error for 2. A "no" is exit
 * code 2 where its text reaches the model, because that is understood whatever else was printed.
 */
export type Answer = { code: 0 | 2; text: string };

export function say(text: string): Answer {
  return { code: 0, text };
}

export function block(reason: string): Answer {
  return { code: 2, text: reason };
}

export const notYet = "Nobody has approved this action yet. It was not carried out.";

/** The harness sent something else than its documentation says. */
export class InputError extends Error {}

export function textIn(input: Record<string, unknown>, name: string): string {
  const value = input[name];
  if (typeof value === "string" && value !== "") return value;
  throw new InputError(`the harness sent no ${name}`);
}

export function optionalTextIn(input: Record<string, unknown>, name: string): string | null {
  const value = input[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** One of two equal keys is what the approver sees, and another program may read the other one. */
export function refuseRepeated(text: string): void {
  const key = repeatedKeyIn(text);
  if (key !== null) throw new InputError(`the call has the key ${JSON.stringify(key)} twice`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The keys of the outermost object that an edit has removed: some harnesses merge, and would run with them. */
export function removedKeys(before: unknown, after: Record<string, unknown>): string[] {
  if (!isObject(before)) return [];
  return Object.keys(before).filter((key) => !Object.hasOwn(after, key));
}

export function approvedText({ requestId, by }: Approved): string {
  return `Approved${by === null ? "" : ` by ${by}`} in Countersign (${requestId}).`;
}

/** A harness reads so much without fail: it is less than a pipe holds, and than Claude Code takes as it is. */
export const outputBytesMax = 48_000;
/** Longer ones are not repeated to the model beside the input itself. */
const repeatedCharactersMax = 2_000;

/** For the model; null if the approver changed nothing and left no note. */
export function noteText({ requestId, note, edit }: Approved): string | null {
  const changed = edit === undefined ? "" : changedText(requestId, JSON.stringify(edit.input));
  const said =
    note === null
      ? ""
      : `The note of the person who approved it (${requestId}), as a JSON string: ${JSON.stringify(note)}`;
  const text = `${changed}${said}`.trim();
  return text === "" ? null : text;
}

function changedText(requestId: string, input: string): string {
  const repeated = input.length > repeatedCharactersMax ? "." : `: ${input}`;
  return `A person changed the input of this call before they approved it (${requestId}). It runs with their input, and not with yours${repeated}\n`;
}
