// Whether a call mentions what this gate consists of: its rules, its key, its program, or the harness's settings in which
// it is registered. Such a call always asks. A shell has a thousand ways to write a path, so this catches the plain ones;
// docs/hooks.md says how to make the files unwritable.

import { isObject, type ToolCall } from "./tool-call.ts";

const settings = [
  ".countersign/",
  "countersign-hook",
  "countersign/hook",
  ".claude/settings",
  ".claude.json",
  "claude-code/managed",
  "managed-settings",
  "managed-mcp",
  ".codex/",
  "codex/requirements",
  "codex/managed_config",
  ".cursor/hooks",
  "cursor/hooks.json",
  ".gemini/settings",
  ".gemini/trusted",
  "gemini-cli/settings",
  "disableallhooks",
  "hooksconfig",
];

/** Tools that only read, in each harness's own words. */
const readers = [
  "Read",
  "Grep",
  "Glob",
  "LS",
  "NotebookRead",
  "read_file",
  "read_many_files",
  "list_directory",
  "glob",
  "search_file_content",
  "grep_search",
];

export function isOwnSettings(call: ToolCall, ownPaths: readonly string[]): boolean {
  if (readers.includes(call.tool)) return false;
  const named = [...settings, ...ownPaths.map(plain)];
  return textsIn(call.input).some((text) => named.some((each) => plain(text).includes(each)));
}

/** In one spelling: quotes, backslashes, doubled slashes and case can be written otherwise. */
function plain(text: string): string {
  return text
    .replaceAll(/["'`]/g, "")
    .replaceAll("\\", "/")
    .replaceAll(/\/(?:\.?\/)+/g, "/")
    .toLowerCase();
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value)
    ? Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)])
    : [];
}
