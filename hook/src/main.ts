// The command `countersign-hook`: the hook itself, `doctor`, and `permission-prompt`.

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { parseArgs } from "node:util";
import { isHarnessName } from "./harnesses.ts";
import { fail, type HookOptions, runHook } from "./hook.ts";
import { defaultRulesPath } from "./rules.ts";

const usage = `countersign-hook: a person before the tools of a coding agent

  countersign-hook [--format claude|codex|cursor|gemini] [--rules FILE] [--wait SECONDS] [--defer]
      Reads a tool call on standard input and answers in the harness's own format. It denies after --wait seconds.
  countersign-hook doctor [--format NAME] [--rules FILE] [--project FOLDER]
      Checks the rules, the key, and the harnesses' settings.
  countersign-hook permission-prompt [--rules FILE] [--wait SECONDS]
      The same as an MCP server, for claude --permission-prompt-tool.

The rules are in ~/.countersign/hook.json, unless --rules says otherwise.
`;

try {
  await run();
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
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
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const options: HookOptions = {
    format: readFormat(values.format),
    rulesPath: readRulesPath(values.rules),
    waitSeconds: readWait(values.wait),
    isDeferring: values.defer ?? false,
    apiKey: process.env.COUNTERSIGN_API_KEY || null,
    shell: process.env.SHELL || null,
  };
  const [command, ...more] = positionals;
  if (more.length > 0) throw new Error(`there is no command "${positionals.join(" ")}"`);
  if (command === undefined) return runHook(options);
  if (command === "doctor") {
    const { runDoctor } = await import("./doctor.ts");
    return runDoctor({ ...options, project: values.project ?? process.cwd() });
  }
  if (command === "permission-prompt") {
    const { servePermissionPrompt } = await import("./permission-prompt.ts");
    const session = process.env.CLAUDE_CODE_SESSION_ID || crypto.randomUUID();
    return servePermissionPrompt({ ...options, session });
  }
  throw new Error(`there is no command "${command}"`);
}

function readFormat(name: string | undefined): HookOptions["format"] {
  if (name === undefined || isHarnessName(name)) return name ?? null;
  throw new Error("--format must be claude, codex, cursor or gemini");
}

/** Not relative: the harness says in which folder the hook runs, and the agent may choose that. */
function readRulesPath(path: string | undefined): string {
  if (path === undefined) return defaultRulesPath();
  const full = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  if (isAbsolute(full)) return full;
  throw new Error("--rules must be an absolute path, or begin with ~/");
}

function readWait(text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw new Error("--wait must be a whole number of seconds, 1 to 86400");
}
