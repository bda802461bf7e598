// The code blocks of docs/adapters.md, as a reader saves them, with a scripted model instead of a provider's: all of
// them type-check and run, and those that take webhooks get a real one.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

const aiSdkModel = `
import { MockLanguageModelV4 } from "ai/test";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const call = { type: "tool-call", toolCallId: "call_1", toolName: "refund", input: '{"orderId":1042,"amount":49}' };
export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }: { prompt: { role: string; content: unknown }[] }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") console.log(JSON.stringify(last.content));
    return last?.role === "tool"
      ? { content: [{ type: "text", text: JSON.stringify(last.content) }], finishReason: { unified: "stop" }, usage, warnings: [] }
      : { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] };
  },
} as never) as never;
`;
/** For each section, a model that calls the tool, and then prints and says what came of it. */
const models: Record<string, string> = {
  "Vercel AI SDK": aiSdkModel,
  Mastra: aiSdkModel,
  "LangChain and LangGraph": `
import { AIMessage, fakeModel } from "langchain";
export const model = fakeModel()
  .respondWithTools([{ name: "refund", args: { orderId: 1042, amount: 49 }, id: "call_1" }])
  .respond((messages) => new AIMessage(String(messages.at(-1)?.content)));
`,
  "OpenAI Agents SDK": `
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
const answer = modelResponder(({ request: { input } }) => {
  const last = Array.isArray(input) ? input.at(-1) : undefined;
  if (last?.type === "function_call_result") console.log(JSON.stringify(last.output));
  return last?.type === "function_call_result"
    ? [assistantMessage(JSON.stringify(last.output))]
    : [functionCall("refund", { orderId: 1042, amount: 49 }, { callId: "call_1" })];
});
export const model = new ScriptedModel([answer, answer]);
`,
};

const page = readFileSync(join(root, "docs", "adapters.md"), "utf8");
const blocks = page.split(/^## /m).flatMap((section) => {
  const title = section.split("\n", 1)[0] ?? "";
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = ""]) => ({ title, text }));
});
for (const [index, { title, text }] of blocks.entries()) {
  const place = join(folder, String(index));
  mkdirSync(place);
  writeFileSync(join(place, "block.ts"), text);
  writeFileSync(join(place, "model.ts"), models[title] ?? "");
}

test("every code block of the page type-checks as it stands", () => {
  const compilerOptions = { exactOptionalPropertyTypes: false };
  const config = { extends: "../tsconfig.json", compilerOptions, include: ["*/block.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const { status, stdout } = spawnSync(tsc, ["--noEmit", "-p", folder], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
  assert.equal(blocks.length, 5);
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
    const path = join(folder, String(index), "block.ts");
    const first = takesWebhooks
      ? run([
          "--input-type=module",
          "--eval",
          `const { go } = await import(${JSON.stringify(path)}); await go(${firstInput(title)});`,
        ])
      : run([path]);
    const { rows } = await until(async () => {
      const found = await served.service.db.query(
        "select id from approvals where workspace_id = $1",
        [workspaceId],
      );
      return found.rows.length === 1 ? found : null;
    }, "the request");
    if (takesWebhooks) await first;
    await served.approve(rows[0].id, '{"orderId": 1042, "amount": 12.5}');
    if (!takesWebhooks) {
      assert.match(await first, /refunded 12\.5 EUR for order 1042/);
      return;
    }
    const heard = await until(
      () =>
        receiver.heard.find(
          ({ json }) => json.data.id === rows[0].id && json.event === "request.approved",
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

function firstInput(title: string): string {
  return title === "Vercel AI SDK" ? '[{ role: "user", content: "Refund it" }]' : '"Refund it"';
}

/** Returns the program's output once it has ended well. */
function runNode(words: string[], environment: Record<string, string>): Promise<string> {
  const options = { cwd: folder, env: { PATH: process.env.PATH ?? "", ...environment } };
  const child = spawn(process.execPath, ["--conditions=countersign:source", ...words], options);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(output));
    });
  });
}
