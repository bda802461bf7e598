// A workspace with its rules file, and runs of a stub harness against it.

import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Served } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import type { HarnessName } from "../src/tool-call.ts";
import { program, runStub, type StubOptions, type StubRun } from "./stub-harness.ts";

export const folder = mkdtempSync(join(tmpdir(), "countersign-hook-"));

export type Guarded = {
  rulesPath: string;
  key: string;
  env: Record<string, string>;
  command(more?: string): string;
  /** A call of the harness's shell. */
  run(harness: HarnessName, command: string, options?: RunOptions): StubRun;
  /** Everything that was asked in this workspace. */
  requests(): Promise<{ id: string; status: string; redeemed: boolean }[]>;
  asked(): Promise<string>;
};

type RunOptions = Partial<StubOptions> & {
  /** More arguments of the hook. */
  more?: string;
  id?: string;
  event?: string;
};

const toolNames: Record<HarnessName, string> = {
  claude: "Bash",
  codex: "Bash",
  cursor: "Shell",
  gemini: "run_shell_command",
};

/** `service` is the address that the hook calls, if something stands between it and the service. */
export async function guard(
  served: Served,
  rules: object = {},
  service = served.url,
): Promise<Guarded> {
  const { db } = served.service;
  const { id: workspaceId, key } = await makeWorkspace(db);
  const rulesPath = join(folder, `${randomUUID()}.json`);
  const asking = { tools: ["Bash", "Shell", "run_shell_command", "MCP:*"], action: "ask" };
  const all = { service, notify: "ann@example.com", otherwise: "pass", rules: [asking], ...rules };
  writeFileSync(rulesPath, JSON.stringify(all));
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, COUNTERSIGN_API_KEY: key };
  const command = (more = "") => `"${process.execPath}" "${program}" --rules ${rulesPath} ${more}`;
  const requests = async () => {
    const { rows } = await db.query<{ id: string; status: string; redeemed: boolean }>(
      `select approvals.id, status, approval_id is not null as redeemed
       from approvals left join redemptions on approval_id = approvals.id
       where approvals.workspace_id = $1 order by approvals.id`,
      [workspaceId],
    );
    return rows;
  };
  return {
    rulesPath,
    key,
    env,
    command,
    requests,
    asked: () => until(async () => (await requests())[0]?.id, "somebody is asked"),
    run(harness, shellCommand, { more = "", id = randomUUID(), event, ...options } = {}) {
      const call = {
        tool: event === "beforeMCPExecution" ? "run" : toolNames[harness],
        input: { command: shellCommand },
        session: "session-1",
        id,
        ...(event === undefined ? {} : { event }),
      };
      return runStub(harness, call, { command: command(`--wait 300 ${more}`), env, ...options });
    },
  };
}

/** The processes below a process, with what they run. Linux tells. */
export function descendants(pid: number): { pid: number; command: string }[] {
  const children = readOrEmpty(`/proc/${pid}/task/${pid}/children`).trim().split(/\s+/);
  return children.filter(Boolean).flatMap((text) => {
    const child = Number(text);
    const command = readOrEmpty(`/proc/${child}/cmdline`).replaceAll("\0", " ");
    return [{ pid: child, command }, ...descendants(child)];
  });
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
