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
  ".gemini/.env",
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

/** The folders of all of that, within a command and as a path of their own. */
const folderInCommand = /\.(?:countersign|claude|codex|cursor|gemini)\/?(?=$|[\s;&|()<>,*?}])/;
const folderAlone = /(?:^|\/)\.(?:countersign|claude|codex|cursor|gemini)\/?$/m;
const keyFolderAlone = /(?:^|\/)\.countersign\/?$/m;

/** Files of this machine. */
export type OwnFiles = { rules: readonly string[]; key: string | null };

export function isOwnSettings(call: ToolCall, { rules, key }: OwnFiles): boolean {
  // Each on a line of its own, so that all of them are looked through at once.
  const lines = textsIn(call.input).map((text) => text.replaceAll("\n", " "));
  const all = plain(lines.join("\n"));
  const mentions = (names: readonly string[]) => names.some((name) => all.includes(name));
  const keyNames = [".countersign/key", ...(key === null ? [] : [plain(key)])];
  if (mentions(keyNames) || keyFolderAlone.test(all)) return true;
  if (readers.includes(call.tool)) return false;
  return (
    mentions([...settings, ...rules.map(plain)]) ||
    folderAlone.test(all) ||
    folderInCommand.test(commandIn(call.input))
  );
}

function commandIn(input: unknown): string {
  return isObject(input) && typeof input.command === "string" ? plain(input.command) : "";
}

/** In one spelling: quotes, backslashes, doubled slashes and case can be written otherwise. */
function plain(text: string): string {
  const unquoted = text
    .split(/["'`]+/)
    .join("")
    .toLowerCase();
  // A shell drops a backslash, and Windows has it between folders.
  const both = unquoted.includes("\\")
    ? `${unquoted.replaceAll("\\", "/")}\n${unquoted.replaceAll("\\", "")}`
    : unquoted;
  return both.replaceAll(/\/(?:\.?\/)+/g, "/");
}

/** All texts and keys. A list of what is still to be looked at, because an input can be deep and wide. */
function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string") texts.push(next);
    else if (Array.isArray(next)) for (const each of next) rest.push(each);
    else if (isObject(next)) {
      for (const key of Object.keys(next)) rest.push(key, next[key]);
    }
  }
  return texts;
}
