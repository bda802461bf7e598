// Callbacks to the places where work waits. The receivers are stubs, written from the published contracts of n8n,
// Trigger.dev, Restate and Step Functions; docs/recipes.md names the sources.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { codeBlocksOf } from "../../docs/test/code-block.ts";
import { inOneStatement } from "../src/database/database.ts";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { showCallbackSecret } from "../src/operations/deliveries/callback-secret.ts";
import { resendDelivery } from "../src/operations/deliveries/resend-delivery.ts";
import { until } from "./patience.ts";
import { resolveNow } from "./test-evidence.ts";
import { makeWorkspace, minimalBody, startService, testKeyring } from "./test-service.ts";
import { startWorker } from "./test-worker.ts";
import { startTriggerApi } from "./trigger-api.ts";

let wake = () => {};
const service = await startService({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
const { db } = service;
const { worker, stop } = startWorker(service.database, { webhookRetryDelaysMs: [20, 20] });
wake = () => worker.wake();
const servers: http.Server[] = [];
after(async () => {
  for (const server of servers) server.close().closeAllConnections();
  await stop();
  await service.stop();
});

type Received = { method: string; path: string; headers: http.IncomingHttpHeaders; body: Buffer };

/** A receiver that answers by its contract. */
async function startStub(
  answer: (received: Received) => { status: number; body?: string } | Promise<{ status: number }>,
): Promise<string> {
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = "", url: path = "", headers } = request;
    const told = await answer({ method, path, headers, body: Buffer.concat(parts) });
    response.writeHead(told.status).end("body" in told ? told.body : "");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function askAndApprove(callbackUrl: string, more: object = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const body = { ...minimalBody, payload: { amount: 49 }, callbackUrl, ...more };
  const { status, json } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201, JSON.stringify(json));
  const decision = { byEmail: "ann@example.com", note: null, edit: null };
  await resolveNow(
    inOneStatement(db),
    { workspaceId, id: json.id },
    { status: "APPROVED", ...decision },
  );
  worker.wake();
  return { workspaceId, key, id: json.id as string };
}

async function untilDelivered(workspaceId: string) {
  return until(async () => {
    const { rows } = await db.query(
      "select id, attempts from deliveries where workspace_id = $1 and channel = 'callback' and state = 'delivered'",
      [workspaceId],
    );
    return rows[0];
  }, "the callback");
}

/** What every recipe does with what it got: it believes nothing but the answer of a redeem. */
function redeem(key: string, id: string) {
  return service.call("POST", `/v1/requests/${id}/redeem`, { key });
}

test("n8n: a Wait node is resumed once, and the workflow redeems before it acts", async () => {
  // 404 for another method or execution, 409 while it runs and once it has finished; any POST in between resumes it.
  let calls = 0;
  const resumed: Received[] = [];
  const url = await startStub((received) => {
    calls += 1;
    if (received.method !== "POST" || received.path !== "/webhook-waiting/77")
      return { status: 404 };
    if (calls === 1 || resumed.length > 0) return { status: 409 };
    resumed.push(received);
    return { status: 200, body: '{"message":"Workflow was started"}' };
  });
  const asked = await askAndApprove(`${url}/webhook-waiting/77`);
  const { id: deliveryId, attempts } = await untilDelivered(asked.workspaceId);
  assert.equal(attempts, 2, "decided before the workflow had come to its Wait node");
  const { data } = JSON.parse(resumed[0]?.body.toString() ?? "{}");
  assert.deepEqual([data.id, data.status], [asked.id, "APPROVED"]);
  assert.equal((await redeem(asked.key, data.id)).status, 200);
  assert.equal((await redeem(asked.key, data.id)).status, 409);
  // Sent again, the finished execution refuses it, and nothing runs twice.
  assert.ok(!isRefusal(await resendDelivery(db, deliveryId)));
  await until(async () => {
    const { rows } = await db.query("select state from deliveries where id = $1", [deliveryId]);
    return rows[0].state === "failed";
  }, "the second to be refused");
  assert.equal(resumed.length, 1);
});

test("Trigger.dev: a waitpoint token is completed with the event as its output", async () => {
  const api = await startTriggerApi();
  after(api.stop);
  const tokens = `${api.url}/api/v1/waitpoints/tokens`;
  const headers = { authorization: `Bearer ${api.key}` };
  const created = await fetch(tokens, { method: "POST", headers, body: "{}" });
  const { id: tokenId, url } = (await created.json()) as { id: string; url: string };
  const asked = await askAndApprove(url);
  await untilDelivered(asked.workspaceId);
  const retrieved = await fetch(`${tokens}/${tokenId}`, { headers });
  const { status, output } = (await retrieved.json()) as { status: string; output: string };
  const { event, data } = JSON.parse(output).json;
  assert.deepEqual([status, event, data.id], ["COMPLETED", "request.approved", asked.id]);
  assert.equal((await redeem(asked.key, data.id)).status, 200);
});

test("Restate: an awakeable is resolved with the event as its payload", async () => {
  let payload: unknown;
  const url = await startStub(({ method, path, headers, body }) => {
    const isOurs = path === "/restate/awakeables/sign_1PePOqp/resolve";
    if (method !== "POST" || !isOurs) return { status: 404 };
    assert.match(String(headers["content-type"]), /json/);
    payload ??= JSON.parse(body.toString());
    return { status: 202 };
  });
  const asked = await askAndApprove(`${url}/restate/awakeables/sign_1PePOqp/resolve`);
  await untilDelivered(asked.workspaceId);
  const { data } = payload as { data: { id: string; status: string } };
  assert.deepEqual([data.id, data.status], [asked.id, "APPROVED"]);
});

test("Step Functions: the documented function verifies the callback and reports the task by its token", async () => {
  const reported: { taskToken: string; output: string }[] = [];
  const { id: workspaceId, key } = await makeWorkspace(db);
  const shown = await showCallbackSecret(db, testKeyring, workspaceId);
  assert.ok(!isRefusal(shown));
  const { taskCallback } = await documented("task-callback.ts");
  const handle = taskCallback(shown.secret, async (task: (typeof reported)[number]) => {
    reported.push(task);
  });
  const asRequest = ({ headers, body }: Received) =>
    new Request("https://function.example/", {
      method: "POST",
      headers: headers as Record<string, string>,
      body: body.toString(),
    });
  let got: Received | null = null;
  const url = await startStub(async (received) => {
    got = received;
    return handle(asRequest(received));
  });
  // As long as one may be: too long for an address.
  const taskToken = "A".repeat(2_048);
  const body = { ...minimalBody, agentState: { taskToken }, callbackUrl: `${url}/` };
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  await untilDelivered(workspaceId);
  const output = { event: "request.cancelled", id: json.id, status: "CANCELLED" };
  assert.deepEqual(reported, [{ taskToken, output: JSON.stringify(output) }]);
  assert.ok(got);
  const { headers, body: bytes }: Received = got;
  const forged = Buffer.from(bytes.toString().replace("CANCELLED", "APPROVED"));
  const refused = await handle(asRequest({ method: "POST", path: "/", headers, body: forged }));
  assert.equal(refused.status, 400);
  assert.equal(reported.length, 1);
});

/** A block of the recipes, as it stands there. */
async function documented(fileName: string) {
  const page = "docs/recipes.md";
  const root = join(import.meta.dirname, "..", "..");
  const blocks = codeBlocksOf(page, await readFile(join(root, page), "utf8"));
  const block = blocks.find((each) => each.fileName === fileName);
  assert.ok(block);
  const folder = await mkdtemp(join(tmpdir(), "countersign-recipe-"));
  const sdk = pathToFileURL(join(root, "sdk", "src", "index.ts")).href;
  const path = join(folder, fileName);
  await writeFile(path, block.text.replaceAll("@countersign/sdk", sdk));
  try {
    return await import(pathToFileURL(path).href);
  } finally {
    await rm(folder, { recursive: true });
  }
}
