// The real service behind a real socket, with a proxy before it that misbehaves as networks do.

import http from "node:http";
import type { AddressInfo } from "node:net";
import { isRefusal } from "../../server/src/domain/refusal.ts";
import { issueKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { decide, listReviewers } from "../../server/test/test-review.ts";
import {
  makeWorkspace,
  type NodeOptions,
  startService,
  type TestService,
} from "../../server/test/test-service.ts";
import { Countersign, type CountersignOptions } from "../src/index.ts";

export type Trouble =
  | "lose the answer"
  | "cut the answer"
  | "refuse"
  | "say 503"
  | "say HTML"
  | "redirect"
  | "hang";

export type Served = {
  service: TestService;
  /** The next calls meet these, one each; after that all goes well. */
  troubles: Trouble[];
  /** The answer to the next redeem gets lost, or breaks off, whichever calls come before it. */
  losesRedeem: boolean;
  cutsRedeem: boolean;
  /** Every call that came, as "METHOD /path". */
  calls: string[];
  url: string;
  client(options?: CountersignOptions): Promise<Countersign>;
  /** Another key of the workspace that a request belongs to. */
  keyOf(id: string): Promise<string>;
  approve(id: string, edit?: string, note?: string): Promise<void>;
  reject(id: string, note: string): Promise<void>;
  stop(): Promise<void>;
};

export async function serve(options: NodeOptions = {}): Promise<Served> {
  const service = await startService(options);
  const target = await service.app.listen({ port: 0, host: "127.0.0.1" });
  const troubles: Trouble[] = [];
  const calls: string[] = [];
  const proxy = http.createServer((incoming, outgoing) => {
    calls.push(`${incoming.method} ${incoming.url}`);
    const isRedeem = (incoming.url ?? "").endsWith("/redeem");
    const trouble = isRedeem ? troubleOfRedeem(served) : null;
    pass(target, incoming, outgoing, trouble ?? troubles.shift() ?? null);
  });
  // The answers that are passed on promise a client that it may use a connection for so long.
  proxy.keepAliveTimeout = 80_000;
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const choose = async (id: string, choice: Parameters<typeof decide>[2]) => {
    let refusal = `nobody was asked about ${id}`;
    // Of several people, the first who may vote now.
    for (const { token } of await listReviewers(service.db, id)) {
      const { status, text, json } = await decide(service.app, token, choice);
      if (status === 200) return;
      refusal = text;
      if (!["vote_refused", "needed_later"].includes(json.error.code)) break;
    }
    throw new Error(refusal);
  };
  const served: Served = {
    service,
    troubles,
    losesRedeem: false,
    cutsRedeem: false,
    calls,
    url,
    client: async (clientOptions = {}) => {
      const { key } = await makeWorkspace(service.db);
      return new Countersign({ apiKey: key, baseUrl: url, ...clientOptions });
    },
    keyOf: (id) => issueKeyOf(service, id),
    approve: (id, edit, note) =>
      choose(id, {
        verdict: "approve",
        ...(edit === undefined ? {} : { edit }),
        ...(note === undefined ? {} : { note }),
      }),
    reject: (id, note) => choose(id, { verdict: "reject", note }),
    stop: async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await service.stop();
    },
  };
  return served;
}

/** Each happens once. */
function troubleOfRedeem(served: Served): Trouble | null {
  const { losesRedeem, cutsRedeem } = served;
  served.losesRedeem = false;
  served.cutsRedeem = false;
  return losesRedeem ? "lose the answer" : cutsRedeem ? "cut the answer" : null;
}

async function issueKeyOf({ db }: TestService, id: string): Promise<string> {
  const { rows } = await db.query("select workspace_id from approvals where id = $1", [id]);
  const issued = await issueKey(db, { workspaceId: rows[0].workspace_id, name: "Another" });
  if (isRefusal(issued)) throw new Error(issued.message);
  return issued.key;
}

function pass(
  target: string,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  trouble: Trouble | null,
): void {
  if (trouble === "hang") return;
  if (trouble === "refuse") {
    incoming.socket.destroy();
    return;
  }
  if (trouble === "say 503" || trouble === "say HTML" || trouble === "redirect") {
    const statuses = { "say 503": 503, "say HTML": 200, redirect: 302 };
    outgoing.writeHead(statuses[trouble], {
      "retry-after": "0",
      ...(trouble === "redirect" ? { location: "https://elsewhere.example/" } : {}),
    });
    outgoing.end("<html>not what you asked for</html>");
    return;
  }
  const { method, url: path, headers } = incoming;
  const passed = http.request(`${target}${path}`, { method, headers }, (answer) => {
    if (trouble === "lose the answer") {
      // The service has done it; its caller never hears of it.
      answer.resume().on("end", () => incoming.socket.destroy());
      return;
    }
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
    if (trouble === "cut the answer") {
      answer.once("data", (chunk) => {
        // Half of it arrives, and then the connection breaks.
        outgoing.write(chunk.subarray(0, 50), () => outgoing.destroy());
      });
      return;
    }
    answer.pipe(outgoing);
  });
  passed.on("error", () => incoming.socket.destroy());
  outgoing.on("close", () => passed.destroy());
  incoming.pipe(passed);
}
