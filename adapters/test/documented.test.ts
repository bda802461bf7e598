// The code blocks of docs/adapters.md, as a reader saves them, with a scripted model instead of a provider's: all of
// them type-check and run, and those that take webhooks get a real one.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { serve } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "../../server/test/test-worker.ts";

const root = join(import.meta.dirname, "..", "..");
// The folder lies beside the adapters, so that Node finds their frameworks.
const folder = mkdtempSync(join(root, "adapters", ".documented-"));
const scope = join(folder, "node_modules", "@countersign");
mkdirSync(scope, { recursive: true });
for (const name of ["ai-sdk", "langchain", "openai-agents", "mastra"]) {
  symlinkSync(join(root, "adapters", name), join(scope, name));
}
symlinkSync(join(root, "sdk"), join(scope, "sdk"));
const served = await serve();
const worker = startWorker(served.service.database);
const receiver = await startReceiver();
after(async () => {
  await worker.stop();
  await receiver.close();
  await served.stop();
  rmSync(folder, { recursive: true, force: true });
});

const page = readFileSync(join(root, "docs", "adapters.md"), "utf8");
const all = page.split(/^## /m).flatMap((section) => {
  const title = section.split("\n", 1)[0] ?? "";
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = ""]) => ({ title, text }));
});
const isNamed = (name: string) => (block: { text: string }) =>
  block.text.startsWith(`// ${name}\n`);
const models = new Map(all.filter(isNamed("model.ts")).map(({ title, text }) => [title, text]));
const mains = all.filter(isNamed("main.ts"));
const blocks = all.filter((block) => !isNamed("model.ts")(block) && !isNamed("main.ts")(block));
for (const [index, { title, text }] of blocks.entries()) {
  const place = join(folder, String(index));
  mkdirSync(place);
  writeFileSync(join(place, "agent.ts"), text);
  writeFileSync(join(place, "model.ts"), models.get(title) ?? "");
  const main = mains.find((each) => each.title === title);
  if (main !== undefined) writeFileSync(join(place, "main.ts"), main.text);
}

test("every code block of the page type-checks as it stands", () => {
  const compilerOptions = { exactOptionalPropertyTypes: false };
  const config = { extends: "../tsconfig.json", compilerOptions, include: ["*/*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const { status, stdout } = spawnSync(tsc, ["--noEmit", "-p", folder], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
  assert.deepEqual([blocks.length, models.size, mains.length], [5, 4, 1]);
});

for (const [index, { title, text }] of blocks.entries()) {
  const takesWebhooks = text.includes("POST(");
  const how = takesWebhooks ? "goes on from the webhook" : "waits";
  test(`${title}: the block that ${how} runs the tool with what was approved`, async () => {
    const { id: workspaceId, key } = await makeWorkspace(served.service.db);
    const { secret } = await makeEndpoint(served.service.db, workspaceId, receiver.url);
    const run = (script: string[], more: Record<string, string> = {}) =>
      runNode(script, {
        COUNTERSIGN_API_KEY: key,
        COUNTERSIGN_BASE_URL: served.url,
        COUNTERSIGN_WEBHOOK_SECRET: secret,
        ...more,
      });
    const path = join(folder, String(index), "agent.ts");
    const first = takesWebhooks
      ? run([
          "--input-type=module",
          "--eval",
          `const { go } = await import(${JSON.stringify(path)}); await go(${firstInput(title)});`,
        ])
      : run([path]);
    const id = await until(() => findRequest(workspaceId), "the request");
    if (takesWebhooks) await first;
    await served.approve(id, '{"orderId": 1042, "amount": 12.5}');
    if (!takesWebhooks) {
      assert.match(await first, /refunded 12\.5 EUR for order 1042/);
      return;
    }
    const heard = await until(
      () =>
        receiver.heard.find(
          ({ json }) => json.data.id === id && json.event === "request.approved",
        ) ?? null,
      "the webhook",
    );
    const request = { headers: heard.headers, body: heard.body.toString() };
    const output = await run(
      [
        "--input-type=module",
        "--eval",
        `const { POST } = await import(${JSON.stringify(path)});
       const { headers, body } = JSON.parse(process.env.WEBHOOK);
       const answer = await POST(new Request("http://localhost/", { method: "POST", headers, body }));
       console.log(answer.status);`,
      ],
      { WEBHOOK: JSON.stringify(request) },
    );
    assert.match(output, /refunded 12\.5 EUR for order 1042/);
    assert.match(output, /204/);
  });
}

test("each section installs its adapter from the service, with every package that its programs import", () => {
  for (const section of page.split(/^## /m).slice(1)) {
    const [title = ""] = section.split("\n", 1);
    const [, installed = ""] = /^\$ npm install (.+)$/m.exec(section) ?? [];
    const own = all.filter((block) => block.title === title).map(({ text }) => text);
    const imports = own.join("\n").matchAll(/^(?:import|\}).*? from "((?:@[\w-]+\/)?[\w-]+)/gm);
    for (const [, name = ""] of imports) {
      const file = `/packages/${name.slice(1).replace("/", "-")}-0.1.0.tgz`;
      const wanted = name.startsWith("@countersign/") ? file : ` ${name}@`;
      if (!/^node$/.test(name)) assert.ok(`${installed} `.includes(wanted), `${title}: ${name}`);
    }
  }
});

test("the program that serves the webhook runs the tool with what was approved", async () => {
  const at = blocks.findIndex(({ title }) => title === mains[0]?.title);
  const { id: workspaceId, key } = await makeWorkspace(served.service.db);
  const port = await findFreePort();
  const { secret } = await makeEndpoint(
    served.service.db,
    workspaceId,
    `http://127.0.0.1:${port}/`,
  );
  const path = join(folder, String(at), "main.ts");
  writeFileSync(path, readFileSync(path, "utf8").replaceAll("4000", String(port)));
  const environment = {
    COUNTERSIGN_API_KEY: key,
    COUNTERSIGN_BASE_URL: served.url,
    COUNTERSIGN_WEBHOOK_SECRET: secret,
  };
  const { child, read } = startNode([path], environment);
  try {
    const id = await until(() => findRequest(workspaceId), `the request\n${read()}`);
    await served.approve(id, '{"orderId": 1042, "amount": 12.5}');
    await until(
      () => /The model hears: .*refunded 12\.5 EUR/.test(read()),
      "the model hears of it",
    );
  } finally {
    child.kill("SIGKILL");
  }
});

async function findRequest(workspaceId: string): Promise<string | null> {
  const found = await served.service.db.query<{ id: string }>(
    "select id from approvals where workspace_id = $1",
    [workspaceId],
  );
  return found.rows.length === 1 ? (found.rows[0]?.id ?? null) : null;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function firstInput(title: string): string {
  return title === "Vercel AI SDK" ? '[{ role: "user", content: "Refund it" }]' : '"Refund it"';
}

/** Returns the program's output once it has ended well. */
function runNode(words: string[], environment: Record<string, string>): Promise<string> {
  const { child, read } = startNode(words, environment);
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => {
      if (code === 0) resolve(read());
      else reject(new Error(read()));
    });
  });
}

function startNode(words: string[], environment: Record<string, string>) {
  const options = { cwd: folder, env: { PATH: process.env.PATH ?? "", ...environment } };
  const child = spawn(process.execPath, ["--conditions=countersign:source", ...words], options);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  return { child, read: () => output };
}
