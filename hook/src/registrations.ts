// Where a harness is told to run this hook: its settings files, read as the harness reads them.

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { harnesses } from "./harnesses.ts";
import { type HookCommand, readHookCommand } from "./hook-command.ts";
import { type HarnessName, isObject } from "./tool-call.ts";

export type Registration = {
  file: string;
  event: string;
  /** As it is in the settings, for people. */
  text: string;
  /** Null if it is in a form of which nobody can tell what it does. */
  command: HookCommand | null;
  /** The harness runs no other kind of entry. */
  isCommand: boolean;
  /** The harness looks at the call before it runs the hook. */
  hasCondition: boolean;
  /** Null fits every tool. */
  matcher: string | null;
  /** The harness's own limit; null if it isn't set, and its default isn't documented. NaN is no limit it could read. */
  timeoutSeconds: number | null;
  /** The harness itself blocks the call when the hook fails. */
  blocksOnFailure: boolean;
  /** The harness doesn't wait for its answer. */
  isAsync: boolean;
};

/** A TOML file has its text alone. */
export type SettingsFile = { path: string; content: Record<string, unknown>; text: string };

export type SettingsPlaces = {
  project: string;
  home?: string;
  /** The folders of their own settings in the place of `~/.claude` and so on, from variables of theirs. */
  moved?: Partial<Record<HarnessName, string>>;
};

/** With the problems that keep a file from being read. */
export function readSettings(
  harness: HarnessName,
  { project, home = homedir(), moved = {} }: SettingsPlaces,
): { files: SettingsFile[]; problems: string[] } {
  const files: SettingsFile[] = [];
  const problems: string[] = [];
  // The project may be the home folder.
  const paths = new Set(
    settingsPaths(harness, project, moved[harness] ?? join(home, `.${harness}`)),
  );
  for (const path of [...paths].filter((each) => existsSync(each))) {
    const text = readFileSync(path, "utf8");
    if (path.endsWith(".toml")) {
      if (isOurs(text)) problems.push(`${path} is TOML, which this can't check: use hooks.json`);
      files.push({ path, content: {}, text });
      continue;
    }
    try {
      const content: unknown = JSON.parse(text);
      if (isObject(content)) files.push({ path, content, text });
    } catch {
      problems.push(`${path} is no plain JSON, so this can't check it`);
    }
  }
  return { files, problems };
}

function settingsPaths(harness: HarnessName, project: string, own: string): string[] {
  const isMac = process.platform === "darwin";
  const support = "/Library/Application Support";
  switch (harness) {
    case "claude":
      return [
        join(isMac ? `${support}/ClaudeCode` : "/etc/claude-code", "managed-settings.json"),
        join(own, "settings.json"),
        join(project, ".claude/settings.json"),
        join(project, ".claude/settings.local.json"),
      ];
    case "codex":
      return [
        "/etc/codex/requirements.toml",
        ...[own, join(project, ".codex")].flatMap((folder) => [
          join(folder, "hooks.json"),
          join(folder, "config.toml"),
        ]),
      ];
    case "cursor":
      return [
        join(isMac ? `${support}/Cursor` : "/etc/cursor", "hooks.json"),
        join(own, "hooks.json"),
        join(project, ".cursor/hooks.json"),
      ];
    case "gemini":
      return [
        join(isMac ? `${support}/GeminiCli` : "/etc/gemini-cli", "settings.json"),
        join(own, "settings.json"),
        join(project, ".gemini/settings.json"),
      ];
  }
}

export function registrationsIn(harness: HarnessName, files: SettingsFile[]): Registration[] {
  return entriesIn(harness, files).filter(({ text }) => isOurs(text));
}

/** The other hooks that run before a tool. */
export function strangersIn(harness: HarnessName, files: SettingsFile[]): Registration[] {
  return entriesIn(harness, files).filter(({ text }) => !isOurs(text));
}

function entriesIn(harness: HarnessName, files: SettingsFile[]): Registration[] {
  return files.flatMap(({ path, content }) => {
    const hooks = isObject(content.hooks) ? content.hooks : {};
    return harnesses[harness].events.flatMap((event) =>
      listOf(hooks[event])
        .flatMap((entry) => (harness === "cursor" ? [entry] : handlersOf(entry)))
        .map((entry) => toRegistration(harness, path, event, entry)),
    );
  });
}

/** Each handler with the matcher of its group. */
function handlersOf(group: Record<string, unknown>): Record<string, unknown>[] {
  return listOf(group.hooks).map((handler) => ({ ...handler, matcher: group.matcher }));
}

function toRegistration(
  harness: HarnessName,
  file: string,
  event: string,
  entry: Record<string, unknown>,
): Registration {
  const { matcher, timeout, type } = entry;
  const command = typeof entry.command === "string" ? entry.command : "";
  const words = Array.isArray(entry.args) ? entry.args.map(String) : null;
  return {
    file,
    event,
    text: [command, ...(words ?? [])].join(" "),
    command: readHookCommand(command, words),
    isCommand: type === "command" || (harness === "cursor" && type === undefined),
    hasCondition: entry.if !== undefined,
    matcher: typeof matcher === "string" && !["", "*", ".*"].includes(matcher) ? matcher : null,
    timeoutSeconds: limitOf(harness, timeout),
    blocksOnFailure: entry.onFailure === "block" || entry.failClosed === true,
    isAsync: entry.async === true || entry.asyncRewake === true,
  };
}

/** With the harness's own default. Gemini CLI counts milliseconds. */
function limitOf(harness: HarnessName, timeout: unknown): number | null {
  if (timeout !== undefined && !Number.isInteger(timeout)) return Number.NaN;
  const set = typeof timeout === "number" ? timeout : null;
  if (harness === "cursor") return set;
  if (harness === "gemini") return (set ?? 60_000) / 1_000;
  return set ?? 600;
}

function isOurs(command: string): boolean {
  return /countersign-hook|@countersign\/hook|countersign(?:\.mjs)?["']?\s+hook\b/.test(command);
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Whether the harness runs the hook for a tool, by its own way of matching. */
export function covers(
  harness: HarnessName,
  { event, matcher, isCommand, hasCondition }: Registration,
  tool: string,
): boolean {
  if (!isCommand || hasCondition) return false;
  // Here the matcher is about the command, not about the tool.
  if (event === "beforeShellExecution") return tool === "Shell" && matcher === null;
  if (event === "beforeMCPExecution") return tool.startsWith("MCP:") && matcher === null;
  if (matcher === null) return true;
  // What may fit any number of tools needs a hook that sees all of them.
  if (tool.includes("*")) return false;
  const exact = { claude: /^[\w|, -]+$/, codex: /^[\w|]+$/, cursor: null, gemini: null }[harness];
  if (exact?.test(matcher)) return matcher.split(/[|,]/).some((each) => each.trim() === tool);
  try {
    return new RegExp(matcher).test(tool);
  } catch {
    return matcher === tool;
  }
}
