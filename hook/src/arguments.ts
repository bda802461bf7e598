// The words after `countersign-hook`, as the command itself and `doctor` read them.

import { isAbsolute, join } from "node:path";
import { parseArgs } from "node:util";
import { isHarnessName } from "./harnesses.ts";
import { defaultRulesPath, homeFolder } from "./rules.ts";
import type { HarnessName } from "./tool-call.ts";

export type Arguments = {
  /** Null is the hook itself. */
  command: "doctor" | "permission-prompt" | null;
  format: HarnessName | null;
  rulesPath: string;
  /** Null is what fits the harness's own default. */
  waitSeconds: number | null;
  isDeferring: boolean;
  project: string | null;
  isHelp: boolean;
};

export function readArguments(words: string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      format: { type: "string" },
      rules: { type: "string" },
      wait: { type: "string" },
      project: { type: "string" },
      defer: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  return {
    command: readCommand(positionals),
    format: readFormat(values.format),
    rulesPath: readRulesPath(values.rules),
    waitSeconds: readWait(values.wait),
    isDeferring: values.defer ?? false,
    project: values.project ?? null,
    isHelp: values.help ?? false,
  };
}

function readCommand(words: string[]): Arguments["command"] {
  const [command = null, ...more] = words;
  const isKnown = command === null || command === "doctor" || command === "permission-prompt";
  if (isKnown && more.length === 0) return command;
  throw new Error(`there is no command "${words.join(" ")}"`);
}

function readFormat(name: string | undefined): HarnessName | null {
  if (name === undefined || isHarnessName(name)) return name ?? null;
  throw new Error("--format must be claude, codex, cursor or gemini");
}

/** Not relative: the harness says in which folder the hook runs, and the agent may choose that. */
function readRulesPath(path: string | undefined): string {
  if (path === undefined) return defaultRulesPath();
  const full = path.startsWith("~/") ? join(homeFolder(), path.slice(2)) : path;
  if (isAbsolute(full)) return full;
  throw new Error("--rules must be an absolute path, or begin with ~/");
}

function readWait(text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw new Error("--wait must be a whole number of seconds, 1 to 86400");
}
