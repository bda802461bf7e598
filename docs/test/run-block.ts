// Runs one code block of a page as a process of its own, and makes happen what the page says happens meanwhile.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { dirname, join } from "node:path";
import { hangMs, until } from "../../server/test/patience.ts";
import type { CodeBlock } from "./code-block.ts";
import type { Page } from "./documented-service.ts";

const endings: Record<string, string> = { ts: "ts", js: "mjs", python: "py", go: "go", sh: "sh" };

/** Where a block is saved, below the folder of its page. */
export function pathOf(block: CodeBlock): string {
  return block.fileName ?? `line-${block.line}.${endings[block.language] ?? block.language}`;
}

export async function saveBlock(folder: string, block: CodeBlock, text: string): Promise<string> {
  const path = join(folder, pathOf(block));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** What a block needs and this machine does not have, or null. */
export function missingFor(block: CodeBlock): string | null {
  const implied = block.language === "python" ? ["python3"] : [];
  return [...implied, ...block.needs].find((need) => !isThere(need)) ?? null;
}

const looked = new Map<string, boolean>();

function isThere(need: string): boolean {
  const known = looked.get(need);
  if (known !== undefined) return known;
  const found = look(need);
  looked.set(need, found);
  return found;
}

function look(need: string): boolean {
  const [, module] = /^python:(\w+)$/.exec(need) ?? [];
  const [command, args] =
    module === undefined
      ? ["sh", ["-c", 'command -v "$0"', need]]
      : ["python3", ["-c", `import ${module}`]];
  try {
    execFileSync(command as string, args as string[], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export type Place = {
  folder: string;
  page: Page;
  environment: Record<string, string>;
};

export async function runBlock(block: CodeBlock, place: Place): Promise<void> {
  const { meanwhile } = block;
  if (meanwhile.kind === "webhooks") return runReceiver(block, place, meanwhile);
  if (meanwhile.kind === "handler") return runHandler(block, place);
  const path = await saveBlock(place.folder, block, await place.page.fill(block.text));
  const before = await place.page.listPending();
  const started = start(commandOf(block.language, path), place);
  if (meanwhile.kind === "terminate") {
    const asked = await until(async () => {
      const pending = await place.page.listPending();
      return pending.find((id) => !before.includes(id));
    }, "the block asks");
    started.child.kill("SIGTERM");
    assertEndedWell(await started.ended, block);
    assert.equal(await place.page.statusOf(asked), "CANCELLED");
    return;
  }
  const over = new AbortController();
  const deciding = place.page.decideUntil(meanwhile, over.signal);
  try {
    assertEndedWell(await started.ended, block);
  } finally {
    over.abort();
    await deciding;
  }
}

type Ended = { code: number | null; signal: string | null; output: string };

function assertEndedWell({ code, signal, output }: Ended, { page, line }: CodeBlock): void {
  assert.equal(code, 0, `${page}:${line} ended with ${signal ?? code}:\n${output}`);
}

function commandOf(language: string, path: string): [string, ...string[]] {
  switch (language) {
    case "ts":
    case "js":
      return ["node", path];
    case "python":
      return ["python3", path];
    case "go":
      return ["go", "run", path];
    case "sh":
      return ["bash", "-eu", path];
    default:
      throw new Error(`nobody knows how to run ${language}`);
  }
}

function start([command, ...args]: [string, ...string[]], { folder, environment }: Place) {
  // In a group of its own, because `go run` and shells have children that outlive them.
  const child = spawn(command, args, {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const take = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const timer = setTimeout(() => endGroup(child), hangMs);
  const read = () => output;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, output });
    });
  });
  return { child, ended, read };
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** A function that takes a Web Request, behind a server as its framework would put it. */
async function runHandler(block: CodeBlock, place: Place): Promise<void> {
  const path = await saveBlock(place.folder, block, block.text);
  const port = await findFreePort();
  const driver = join(place.folder, `serve-line-${block.line}.mjs`);
  await writeFile(
    driver,
    `import { createServer } from "node:http";
import { POST } from ${JSON.stringify(path)};
createServer(async (incoming, outgoing) => {
  const chunks = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk);
    const init = { method: "POST", headers: incoming.headers, body: Buffer.concat(chunks) };
    const answer = await POST(new Request("http://localhost/", init));
    outgoing.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  } catch {
    outgoing.writeHead(500).end();
  }
}).listen(${port});
`,
  );
  await receive(["node", driver], block, place, { port, said: null });
}

async function runReceiver(
  block: CodeBlock,
  place: Place,
  shown: { port: string; said: string | null },
): Promise<void> {
  const port = await findFreePort();
  const text = block.text.replaceAll(new RegExp(`\\b${shown.port}\\b`, "g"), String(port));
  const path = await saveBlock(place.folder, block, text);
  await receive(commandOf(block.language, path), block, place, { port, said: shown.said });
}

/** It must refuse what is not signed, outlive a caller that breaks off, and answer 2xx to what the service really sends. */
async function receive(
  command: [string, ...string[]],
  { page, line }: CodeBlock,
  place: Place,
  { port, said }: { port: number; said: string | null },
): Promise<void> {
  const endpoint = await place.page.registerEndpoint(port);
  const environment = { ...place.environment, COUNTERSIGN_WEBHOOK_SECRET: endpoint.secret };
  const { child, ended, read } = start(command, { ...place, environment });
  let early: Ended | null = null;
  void ended.then((how) => {
    early = how;
  });
  try {
    const forged = await until(() => {
      if (early !== null) throw new Error(`${page}:${line} ended:\n${early.output}`);
      return forge(port);
    }, `${page}:${line} listens`);
    assert.equal(forged.status, 400, `${page}:${line} must refuse what is not signed`);
    await breakOff(port);
    await place.page.deliverApproval();
    if (said !== null) {
      await place.page.approvePending();
      await until(() => read().includes(said), `"${said}" of ${page}:${line}`);
      const times = read().split(said).length - 1;
      assert.equal(times, 1, `${page}:${line} acted on a request that is not its own`);
    }
    assert.equal(early, null, `${page}:${line} must outlive its webhooks`);
  } finally {
    endGroup(child);
    await ended;
    await endpoint.end();
  }
}

/** Null while nobody listens. */
async function forge(port: number): Promise<Response | null> {
  const headers = {
    "content-type": "application/json",
    "x-service-event": "request.approved",
    "x-service-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}`,
  };
  const body = '{"event":"request.approved","data":{}}';
  try {
    return await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
  } catch {
    return null;
  }
}

/** A call whose body never comes whole. */
async function breakOff(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.end("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{");
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
