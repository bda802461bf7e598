// Four projects outside the repository, each with an adapter installed from the running service and with the oldest
// framework that the adapter claims to work with. The agent is killed between asking and deciding, the approver edits and
// leaves a note, and the agent is started again, twice at once.

import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { Countersign } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import { loadAssets } from "../../server/src/http/frame/assets.ts";
import { until } from "../../server/test/patience.ts";
import { decide, findReviewer } from "../../server/test/test-review.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { onlyPending } from "./reviewer.ts";

const execute = promisify(execFile);
const adapters = join(import.meta.dirname, "..");
const folder = await mkdtemp(join(tmpdir(), "countersign-fresh-"));
const served = await serve({ assets: loadAssets() });
after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Beside the framework, whatever the program of the project imports. */
const besides = ["zod@4.6.7"];
const outOfReach =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|E50[234]|_CERT_|CERT_/;
/** Only ends a hang: a registry that is slow is as good as none here. */
const installTimeoutMs = 300_000;
const edit = { orderId: 1042, amount: 12.5 };
const note = "Half of it: the parcel was damaged on the way";

describe("a project outside the repository", { concurrency: 2 }, () => {
  for (const name of ["ai-sdk", "langchain", "openai-agents", "mastra"]) {
    test(`${name}: killed between asking and deciding, the action runs once, with the edit, and the model is told of the edit and the note`, async (t) => {
      const project = join(folder, name);
      if (!(await install(t, name, project))) return;
      const { key } = await makeWorkspace(served.service.db);
      const client = new Countersign({ apiKey: key, baseUrl: served.url });
      const start = () => startProgram(project, key);

      const first = start();
      const { id } = await onlyPending(client);
      if (name !== "ai-sdk") await until(() => hasSaved(project), "what it goes on from is saved");
      first.child.kill("SIGKILL");
      await first.ended;
      assert.deepEqual(linesOf(project, "paid.jsonl"), []);

      const { token } = await findReviewer(served.service.db, id);
      const choice = { verdict: "approve", edit: JSON.stringify(edit), note } as const;
      assert.equal((await decide(served.service.app, token, choice)).status, 200);

      const outcomes = await Promise.all([start().ended, start().ended]);
      const said = outcomes.map(({ output }) => output).join("\n");
      assert.ok(
        outcomes.some(({ code }) => code === 0),
        said,
      );
      await start().ended;
      assert.deepEqual(linesOf(project, "paid.jsonl"), [edit], said);
      const told = linesOf(project, "told.jsonl").map((line) => JSON.stringify(line));
      const isTold = told.some((line) => line.includes("12.5") && line.includes(note));
      assert.ok(isTold, `${told.join("\n")}\n${said}`);
    });
  }
});

/** False if the registry, where the framework comes from, can't be reached. */
async function install(t: TestContext, name: string, project: string): Promise<boolean> {
  await cp(join(import.meta.dirname, "fresh-projects", `${name}.mjs`), join(project, "agent.mjs"));
  await writeFile(join(project, "package.json"), '{"private":true}');
  const ours = ["sdk", name].map((each) => `${served.url}/packages/countersign-${each}-0.1.0.tgz`);
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  try {
    await execute("npm", ["install", ...options, ...ours, ...oldestPeers(name), ...besides], {
      cwd: project,
      env: environmentOfNpm(),
      timeout: installTimeoutMs,
    });
    return true;
  } catch (error) {
    const { stderr = "", killed = false } = error as { stderr?: string; killed?: boolean };
    if (!killed && !outOfReach.test(stderr)) throw error;
    t.skip("the registry with the frameworks can't be reached");
    return false;
  }
}

/** The lower end of each peer's range, except that of the SDK, which comes from the service. */
function oldestPeers(name: string): string[] {
  const { peerDependencies } = JSON.parse(
    readFileSync(join(adapters, name, "package.json"), "utf8"),
  ) as { peerDependencies: Record<string, string> };
  return Object.entries(peerDependencies)
    .filter(([peer]) => peer !== "@countersign/sdk")
    .map(([peer, range]) => `${peer}@${/\d+\.\d+\.\d+/.exec(range)?.[0] ?? range}`);
}

/** Certificates, proxies and the registry are the user's; npm's own variables would lead it back to this repository. */
function environmentOfNpm(): NodeJS.ProcessEnv {
  const theirs = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || /^npm_config_registry$/i.test(name),
  );
  return Object.fromEntries(theirs);
}

function environment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}

type Ended = { code: number | null; output: string };

function startProgram(cwd: string, key: string): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, ["agent.mjs"], {
    cwd,
    env: { ...environment(), COUNTERSIGN_API_KEY: key, COUNTERSIGN_BASE_URL: served.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, output }));
  });
  return { child, ended };
}

function hasSaved(project: string): boolean {
  return ["checkpoints.bin", "request.txt", "storage.bin"].some((file) =>
    existsSync(join(project, file)),
  );
}

function linesOf(project: string, file: string): unknown[] {
  const path = join(project, file);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}
