// What the pages speak of, really there: the service with its worker, a workspace for each page, people who decide, a
// receiver of webhooks, and the things that stand on a page as `ws_…` or `req_…`.

import { serve } from "../../sdk/test/served.ts";
import { isRefusal, type Refusal } from "../../server/src/domain/refusal.ts";
import { disableEndpoint } from "../../server/src/operations/deliveries/manage-endpoint.ts";
import { addMember } from "../../server/src/operations/people/add-member.ts";
import { createGroup } from "../../server/src/operations/people/manage-group.ts";
import { issueKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { sequenceAll } from "../../server/test/log-audit.ts";
import { until } from "../../server/test/patience.ts";
import { environmentOn } from "../../server/test/test-program.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "../../server/test/test-worker.ts";
import type { Meanwhile } from "./code-block.ts";

export type DocumentedService = {
  url: string;
  openPage(): Promise<Page>;
  stop(): Promise<void>;
};

/** Where one page's blocks run. */
export type Page = {
  environment: Record<string, string>;
  /** The text with everything in its place that the page can only hint at. */
  fill(text: string): Promise<string>;
  ask(): Promise<string>;
  listPending(): Promise<string[]>;
  statusOf(id: string): Promise<string>;
  /** Decides what is pending now and from now on, until the signal. */
  decideUntil(meanwhile: Meanwhile, signal: AbortSignal): Promise<void>;
  registerEndpoint(port: number): Promise<{ secret: string; end(): Promise<void> }>;
  /** Asks, approves, and waits until the endpoint has answered that it got to know. */
  deliverApproval(): Promise<void>;
  /** Whatever the page's blocks have asked for. */
  approvePending(): Promise<void>;
};

/** What pages say in place of an address of the reader's. */
const receiverNames = ["https://example.com/hooks/countersign", "http://localhost:4000/hook"];
const serviceName = "http://localhost:3000";

export async function startDocumentedService(): Promise<DocumentedService> {
  const served = await serve();
  const worker = startWorker(served.service.database);
  const receiver = await startReceiver();
  const { db } = served.service;

  const openPage = async (): Promise<Page> => {
    const workspace = await makeWorkspace(db);
    const workspaceId = workspace.id;
    await addMember(db, { workspaceId, email: "owner@localhost", role: "owner" });
    const environment = {
      ...environmentOn(served.service.database.url),
      PUBLIC_URL: served.url,
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8,::1/128",
      COUNTERSIGN_API_KEY: workspace.key,
      COUNTERSIGN_BASE_URL: served.url,
    };

    const listPending = async () => {
      const { rows } = await db.query<{ id: string }>(
        "select id from approvals where workspace_id = $1 and status = 'PENDING' order by id",
        [workspaceId],
      );
      return rows.map(({ id }) => id);
    };

    const statusOf = async (id: string) => {
      const { rows } = await db.query<{ status: string }>(
        "select status from approvals where workspace_id = $1 and id = $2",
        [workspaceId, id],
      );
      return rows[0]?.status ?? "unknown";
    };

    const ask = async () => {
      const body = {
        summary: "Refund order 1042",
        payload: { orderId: 1042, amount: 49 },
        agentState: { step: 3 },
        notify: "ann@example.com",
      };
      const options = { key: workspace.key, body };
      const { json } = await served.service.call("POST", "/v1/requests", options);
      return json.id as string;
    };

    const decide = async (id: string, meanwhile: Meanwhile) => {
      if (meanwhile.kind === "approve") await served.approve(id, meanwhile.edit ?? undefined);
      if (meanwhile.kind === "reject") await served.reject(id, meanwhile.note);
    };

    const untilDelivered = (endpointId: string, kind: string) =>
      until(async () => {
        const { rows } = await db.query<{ id: string }>(
          "select d.id from deliveries d join events e on e.workspace_id = d.workspace_id and e.id = d.event_id where d.workspace_id = $1 and d.endpoint_id = $2 and d.state = 'delivered' and e.kind = $3",
          [workspaceId, endpointId, kind],
        );
        return rows[0]?.id;
      }, `the endpoint answers 2xx to ${kind}`);

    let endpointId = "";
    const makers: Record<string, () => Promise<string>> = {
      ws: async () => workspaceId,
      req: ask,
      approved: async () => {
        const id = await ask();
        await served.approve(id);
        // Its proof is in the log a moment later.
        await sequenceAll(db);
        return id;
      },
      key: async () => idOf(await issueKey(db, { workspaceId, name: "Old agent" })),
      grp: async () =>
        idOf(
          await createGroup(db, {
            workspaceId,
            key: "people",
            name: "People",
            members: ["ann@example.com"],
          }),
        ),
      we: async () => (await makeEndpoint(db, workspaceId, receiver.url)).id,
      dlv: async () => {
        const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
        await ask();
        return untilDelivered(endpoint.id, "request.created");
      },
    };

    return {
      environment,
      listPending,
      statusOf,
      ask,
      fill: async (text) => {
        let filled = text.replaceAll(serviceName, served.url);
        for (const name of receiverNames) filled = filled.replaceAll(name, receiver.url);
        // A reader redeems what was approved in the block before.
        if (filled.includes("req_…/redeem")) {
          const id = await ask();
          await served.approve(id);
          filled = filled.replaceAll("req_…", id);
        }
        for (const [prefix, make] of Object.entries(makers)) {
          if (filled.includes(`${prefix}_…`))
            filled = filled.replaceAll(`${prefix}_…`, await make());
        }
        return filled;
      },
      decideUntil: async (meanwhile, signal) => {
        while (!signal.aborted) {
          for (const id of await listPending()) await decide(id, meanwhile);
          await new Promise((resolve) => setTimeout(resolve, 30));
        }
      },
      registerEndpoint: async (port) => {
        const { id, secret } = await makeEndpoint(db, workspaceId, `http://127.0.0.1:${port}/`);
        endpointId = id;
        return {
          secret,
          end: async () => void (await disableEndpoint(db, id, "its code block has ended")),
        };
      },
      approvePending: async () => {
        for (const id of await listPending()) await served.approve(id);
      },
      deliverApproval: async () => {
        await served.approve(await ask(), '{"orderId": 1042, "amount": 45}');
        await untilDelivered(endpointId, "request.approved");
      },
    };
  };

  return {
    url: served.url,
    openPage,
    stop: async () => {
      await worker.stop();
      await receiver.close();
      await served.stop();
    },
  };
}

/** The Node of the clone as the pages call it, in the place of npx. */
export const npxScript = `#!/bin/sh
case "$1" in
  node) shift; exec node "$@" ;;
  *) echo "npx $1: the documentation's tests do not have it" >&2; exit 1 ;;
esac
`;

function idOf(made: { id: string } | Refusal<string>): string {
  if (isRefusal(made)) throw new Error(made.message);
  return made.id;
}
