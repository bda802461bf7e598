// Helpers for the tests of all adapters: the approver's address, pending requests, expired ones, and webhooks.

import type { ApprovalRequest, Countersign, WebhookData } from "../../sdk/src/index.ts";
import { Countersign as Client, constructEvent } from "../../sdk/src/index.ts";
import type { Served } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "../../server/test/test-worker.ts";

export const notify = "ann@example.com";

/** Waits until `count` requests are pending, and returns them in the order in which they were made. */
export async function pending(client: Countersign, count = 1): Promise<ApprovalRequest[]> {
  return until(async () => {
    const { data } = await client.requests.listPage({ status: "PENDING" });
    return data.length === count ? data.toReversed() : null;
  }, `${count} pending requests`);
}

export async function onlyPending(client: Countersign): Promise<ApprovalRequest> {
  const [request] = await pending(client);
  if (request === undefined) throw new Error("nothing is pending");
  return request;
}

export async function expire(served: Served, client: Countersign, id: string): Promise<void> {
  await served.service.db.query(
    "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
    [id],
  );
  // A read makes it EXPIRED, also for callers that wait.
  await client.requests.get(id);
}

export async function all(client: Countersign): Promise<ApprovalRequest[]> {
  return (await client.requests.listPage()).data;
}

export type Hooked = {
  client: Client;
  /** The verified event about a request that is not pending any more, as its receiver has it. */
  decided(id: string): Promise<WebhookData>;
  stop(): Promise<void>;
};

/** A client whose webhooks arrive, and are verified. */
export async function withWebhooks(served: Served): Promise<Hooked> {
  const { database, db } = served.service;
  const worker = startWorker(database);
  const receiver = await startReceiver();
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { secret } = await makeEndpoint(db, workspaceId, receiver.url);
  return {
    client: new Client({ apiKey: key, baseUrl: served.url }),
    decided: async (id) => {
      const heard = await until(
        () =>
          receiver.heard.find(
            ({ json }) => json.data.id === id && json.event !== "request.created",
          ) ?? null,
        `the webhook about ${id}`,
      );
      return (await constructEvent(heard.body, heard.headers, secret)).data;
    },
    stop: async () => {
      await worker.stop();
      await receiver.close();
    },
  };
}
