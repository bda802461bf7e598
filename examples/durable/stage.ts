// What every example here is tested between: the real service with its worker, a payment provider that pays once for
// each key, and a way to lose, repeat and forge callbacks.

import http from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "../../sdk/test/served.ts";
import { loopbackCidrs } from "../../server/src/domain/access/network-address.ts";
import { isRefusal } from "../../server/src/domain/refusal.ts";
import { showCallbackSecret } from "../../server/src/operations/deliveries/callback-secret.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace, testKeyring } from "../../server/test/test-service.ts";
import { startWorker } from "../../server/test/test-worker.ts";

export type Callback = { headers: Record<string, string>; body: string };
export type Payment = { key: string; body: string };

export type Stage = Awaited<ReturnType<typeof startStage>>;

export async function startStage() {
  let wake = () => {};
  const served = await serve({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
  const { db, database } = served.service;
  const { worker, stop } = startWorker(database, { webhookRetryDelaysMs: [50, 50] });
  wake = () => worker.wake();
  const { id: workspaceId, key } = await makeWorkspace(db);
  const shown = await showCallbackSecret(db, testKeyring, workspaceId);
  if (isRefusal(shown)) throw new Error(shown.message);

  /** The receiver of the engine under test. Without one, callbacks are heard and lost. */
  const receiver = { url: "" };
  const callbacks: Callback[] = [];
  const gateway = await listen(async (headers, body) => {
    callbacks.push({ headers, body });
    return receiver.url === "" ? 204 : post(receiver.url, { headers, body });
  });
  /** Every call, in order: how often a provider was told to pay under one key, and what. */
  const payments: Payment[] = [];
  /** Pays, and then never answers, as a provider does whose caller dies meanwhile. */
  const provider = { isSilent: false };
  const bank = await listen(async (headers, body) => {
    payments.push({ key: headers["idempotency-key"] ?? "", body });
    return provider.isSilent ? null : 200;
  });

  const requestOf = (run: string) =>
    until(async () => {
      const { rows } = await db.query(
        "select id from approvals where workspace_id = $1 and metadata::json->>'run' = $2",
        [workspaceId, run],
      );
      if (rows.length > 1) throw new Error(`${run} has asked ${rows.length} times`);
      return rows[0]?.id as string | undefined;
    }, `the request of ${run}`);

  return {
    served,
    callbacks,
    receiver,
    payments,
    provider,
    secret: shown.secret,
    environment: {
      COUNTERSIGN_API_KEY: key,
      COUNTERSIGN_BASE_URL: served.url,
      CALLBACK_URL: gateway.url,
      CALLBACK_SECRET: shown.secret,
      PAYMENTS_URL: bank.url,
    },
    requestOf,
    paymentsOf: (id: string) => payments.filter((payment) => payment.key === id),
    callbackOf: (id: string) =>
      until(
        () => callbacks.find(({ body }) => JSON.parse(body).data.id === id),
        `the callback of ${id}`,
      ),
    cancel: (id: string) =>
      served.service.call("POST", `/v1/requests/${id}/cancel`, { key }).then(insistOn200),
    /** Moves the time, and lets the service notice. */
    expire: async (id: string) => {
      await db.query(
        "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
        [id],
      );
      await served.service.call("GET", `/v1/requests/${id}`, { key }).then(insistOn200);
    },
    isRedeemed: async (id: string) => {
      const { rows } = await db.query("select 1 from redemptions where approval_id = $1", [id]);
      return rows.length > 0;
    },
    stop: async () => {
      for (const server of [gateway.server, bank.server]) server.close().closeAllConnections();
      await stop();
      await served.stop();
    },
  };
}

export async function post(url: string, { headers, body }: Callback): Promise<number> {
  try {
    const { host: _, "content-length": __, connection: ___, ...kept } = headers;
    return (await fetch(url, { method: "POST", headers: kept, body })).status;
  } catch {
    return 502;
  }
}

type Answer = (headers: Record<string, string>, body: string) => Promise<number | null>;

async function listen(answer: Answer) {
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers = request.headers as Record<string, string>;
    const status = await answer(headers, Buffer.concat(parts).toString());
    if (status !== null) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function insistOn200({ status, text }: { status: number; text: string }): void {
  if (status !== 200) throw new Error(text);
}
