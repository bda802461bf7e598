// Takes the orders of the Python tests: they call the service by the SDK, and have the rest done here, as an approver
// and a bad network would do it.

import http from "node:http";
import type { AddressInfo } from "node:net";
import { type Served, serve, type Trouble } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";

export type Control = { url: string; served: Served; stop(): Promise<void> };

type Order = {
  do: string;
  id: string;
  key: string;
  verdict: "approve" | "reject";
  edit?: string;
  note?: string;
  troubles: Trouble[];
};

export async function startControl(): Promise<Control> {
  const served = await serve();
  const background = new Set<Promise<unknown>>();
  const server = http.createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    try {
      const done = await obey(served, JSON.parse(Buffer.concat(chunks).toString()), background);
      outgoing.writeHead(200).end(JSON.stringify(done ?? null));
    } catch (error) {
      outgoing.writeHead(500).end(JSON.stringify(String(error)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    served,
    stop: async () => {
      await Promise.all(background);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await served.stop();
    },
  };
}

async function obey(
  served: Served,
  order: Order,
  background: Set<Promise<unknown>>,
): Promise<unknown> {
  const { db } = served.service;
  switch (order.do) {
    case "client":
      return { key: (await makeWorkspace(db)).key, url: served.url };
    case "approve":
      return served.approve(order.id, order.edit, order.note);
    case "reject":
      return served.reject(order.id, order.note ?? "");
    case "decide next":
      background.add(decideNext(served, order));
      return;
    case "expire":
      await db.query(
        "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
        [order.id],
      );
      return;
    case "payload":
      return (await db.query("select payload from approvals where id = $1", [order.id])).rows[0]
        .payload;
    case "trouble":
      served.troubles.push(...order.troubles);
      return;
    case "lose redeem":
      served.losesRedeem = true;
      return;
    case "cut redeem":
      served.cutsRedeem = true;
      return;
    case "calls":
      return served.calls;
    default:
      throw new Error(`nobody knows how to ${order.do}`);
  }
}

/** Decides about what is asked with this key next, as soon as it is there. */
async function decideNext(served: Served, { key, verdict, edit, note }: Order): Promise<void> {
  const id = await until(async () => {
    const { json } = await served.service.call("GET", "/v1/requests?status=PENDING", { key });
    return (json.data as { id: string }[])[0]?.id;
  }, "somebody asks");
  await (verdict === "approve" ? served.approve(id, edit, note) : served.reject(id, note ?? ""));
}
