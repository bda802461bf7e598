// The command `countersign-hook`: the hook itself, `doctor`, and `permission-prompt`.

import { join } from "node:path";
import { readArguments } from "./arguments.ts";
import { fail, type HookOptions, runHook } from "./hook.ts";
import type { HarnessName } from "./tool-call.ts";

const usage = `countersign-hook: a person before the tools of a coding agent

  countersign-hook [--format claude|codex|cursor|gemini] [--rules FILE] [--wait SECONDS] [--defer]
      Reads a tool call on standard input and answers in the harness's own format. It denies after --wait seconds.
  countersign-hook doctor [--format NAME] [--rules FILE] [--project FOLDER]
      Checks the rules, the key, and the harnesses' settings.
  countersign-hook permission-prompt [--rules FILE] [--wait SECONDS]
      The same as an MCP server, for claude --permission-prompt-tool.

The rules are in ~/.countersign/hook.json, unless --rules says otherwise.
`;

// Set for another program's sake, it would let anybody on the way answer in the service's name.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

try {
  await run();
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}

async function run(): Promise<void> {
  const { command, project, isHelp, ...given } = readArguments(process.argv.slice(2));
  if (isHelp) {
    process.stdout.write(usage);
    return;
  }
  const options: HookOptions = {
    ...given,
    apiKey: process.env.COUNTERSIGN_API_KEY || null,
    shell: process.env.SHELL || null,
  };
  if (command === null) return runHook(options);
  if (command === "doctor") {
    const { runDoctor } = await import("./doctor.ts");
    return runDoctor({ ...options, project: project ?? process.cwd(), moved: movedSettings() });
  }
  const { servePermissionPrompt } = await import("./permission-prompt.ts");
  const session = process.env.CLAUDE_CODE_SESSION_ID || crypto.randomUUID();
  return servePermissionPrompt({ ...options, session });
}

/** The variables by which the harnesses look for their settings elsewhere. */
function movedSettings(): Partial<Record<HarnessName, string>> {
  const { CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME } = process.env;
  return {
    ...(CLAUDE_CONFIG_DIR ? { claude: CLAUDE_CONFIG_DIR } : {}),
    ...(CODEX_HOME ? { codex: CODEX_HOME } : {}),
    ...(GEMINI_CLI_HOME ? { gemini: join(GEMINI_CLI_HOME, ".gemini") } : {}),
  };
}
