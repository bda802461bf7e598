// A worker under test on a database of its own, real receivers of webhooks, and what they heard.

import http from "node:http";
import type { AddressInfo } from "node:net";
import type { DestinationStream } from "pino";
import { type Database, openDatabase } from "../src/database/database.ts";
import { Listener } from "../src/database/listener.ts";
import {
  loopbackCidrs,
  makeAddressPolicy,
  makeCallbackPolicies,
} from "../src/domain/access/network-address.ts";
import type { EndpointKind } from "../src/domain/approval/event.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { openLog } from "../src/log.ts";
import { registerEndpoint } from "../src/operations/deliveries/manage-endpoint.ts";
import { WebhookSender } from "../src/outbound/send-webhook.ts";
import { Worker, type WorkerOptions } from "../src/worker/worker.ts";
import { checkWebhook } from "./openapi-check.ts";
import { hangMs } from "./patience.ts";
import type { TestDatabase } from "./test-database.ts";
import { testKeyring, testPublicUrl } from "./test-service.ts";

export type TestWorkerOptions = Partial<WorkerOptions> & {
  /** How long a receiver may take: minutes, unless the test is about one that takes too long. */
  timeoutMs?: number;
  logDestination?: DestinationStream;
};

export type TestWorker = { worker: Worker; db: Database; stop(): Promise<void> };

export { testPublicUrl };

export function startWorker(
  { serviceConnection }: Pick<TestDatabase, "serviceConnection">,
  options: TestWorkerOptions = {},
): TestWorker {
  const { timeoutMs = hangMs, logDestination, ...rest } = options;
  const db = openDatabase({
    connection: { ...serviceConnection, application_name: "countersign worker" },
    connectionsMax: 6,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  const listener = new Listener(serviceConnection);
  const sender = new WebhookSender({
    policy: makeAddressPolicy(loopbackCidrs),
    callbacks: makeCallbackPolicies(loopbackCidrs),
    timeoutMs,
  });
  const log = openLog({
    level: logDestination === undefined ? "fatal" : "trace",
    format: "json",
    ...(logDestination === undefined ? {} : { destination: logDestination }),
  });
  const worker = new Worker({
    db,
    listener,
    keyring: testKeyring,
    sendWebhook: (message) => sender.send(message),
    webhookRetryDelaysMs: [150, 150],
    mail: {
      send: null,
      origin: { keyring: testKeyring, publicUrl: testPublicUrl },
      onKept: () => {},
    },
    log,
    ...rest,
  });
  listener.start();
  worker.start();
  return {
    worker,
    db,
    stop: async () => {
      await worker.stop();
      sender.close();
      await listener.stop();
      await db.end();
    },
  };
}

export type Heard = {
  headers: http.IncomingHttpHeaders;
  body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they check themselves
  json: any;
  atMs: number;
};

export type Receiver = { url: string; heard: Heard[]; close(): Promise<void> };

/** A real HTTP server. `answer` answers its calls, and may also never answer. */
export async function startReceiver(
  answer: (response: http.ServerResponse, heard: Heard, request: http.IncomingMessage) => void = (
    response,
  ) => response.end("ok"),
): Promise<Receiver> {
  const heard: Heard[] = [];
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const json = JSON.parse(body.toString());
    checkWebhook(json);
    const entry = { headers: request.headers, body, json, atMs: performance.now() };
    heard.push(entry);
    answer(response, entry, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    heard,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function makeEndpoint(
  db: Database,
  workspaceId: string,
  url: string,
  eventKinds: readonly EndpointKind[] | null = null,
): Promise<{ id: string; secret: string; workspaceId: string }> {
  const examineAddress = async () => null;
  const input = { workspaceId, url, eventKinds, examineAddress };
  const endpoint = await registerEndpoint(db, testKeyring, input);
  if (isRefusal(endpoint)) throw new Error(endpoint.message);
  return { id: endpoint.id, secret: endpoint.secret, workspaceId };
}
