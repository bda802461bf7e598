// A stand-in for the part of Trigger.dev's API that creates, completes and retrieves wait tokens, written from the routes
// of its repository (apps/webapp/app/routes/api.v1.waitpoints.tokens*.ts). Trigger.dev's own client checks it in
// examples/durable/trigger.

import { randomBytes } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";

/** As a GET answers it. */
type Token = {
  id: string;
  url: string;
  status: "WAITING" | "COMPLETED";
  idempotencyKey: string;
  tags: string[];
  createdAt: string;
  completedAt?: string;
  output?: string;
  outputType: string;
  outputIsError: boolean;
};
type Call = { method: string; path: string; headers: http.IncomingHttpHeaders; body: Buffer };
type Answer = { status: number; body: object };

export type TriggerApi = Awaited<ReturnType<typeof startTriggerApi>>;

const root = "/api/v1/waitpoints/tokens";
/** The default of TASK_PAYLOAD_MAXIMUM_SIZE. */
const callbackBytesMax = 3 * 1024 * 1024;

export async function startTriggerApi() {
  const key = `tr_dev_${randomBytes(12).toString("hex")}`;
  const tokens = new Map<string, Token>();
  let origin = "";
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = "", url: path = "", headers } = request;
    const { status, body } = answerTo({ method, path, headers, body: Buffer.concat(parts) });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function answerTo(call: Call): Answer {
    const { method, path, headers, body } = call;
    if (/\/callback\/[^/]+$/.test(path)) return callBack(call);
    if (headers.authorization !== `Bearer ${key}`) return refuse(401, "Invalid or Missing API key");
    if (method === "POST" && path === root) return create(JSON.parse(body.toString()));
    const [id = "", action] = path.slice(root.length + 1).split("/");
    const token = tokens.get(id);
    if (token === undefined) return refuse(404, "Waitpoint not found");
    if (method === "GET" && action === undefined) return { status: 200, body: token };
    if (method !== "POST" || action !== "complete") return refuse(404, "Not found");
    return complete(token, JSON.parse(body.toString()).data);
  }

  function create(asked: { idempotencyKey?: string; tags?: string[] }): Answer {
    const { idempotencyKey = randomBytes(12).toString("hex"), tags = [] } = asked;
    const known = [...tokens.values()].find((token) => token.idempotencyKey === idempotencyKey);
    const id = `waitpoint_${randomBytes(12).toString("hex")}`;
    const token = known ?? {
      id,
      url: `${origin}${root}/${id}/callback/${randomBytes(32).toString("hex")}`,
      status: "WAITING",
      idempotencyKey,
      tags,
      createdAt: new Date().toISOString(),
      outputType: "application/json",
      outputIsError: false,
    };
    tokens.set(token.id, token);
    return { status: 200, body: { id: token.id, isCached: token === known, url: token.url } };
  }

  /** Needs no key: the hash in the address is the only proof. */
  function callBack({ method, path, headers, body }: Call): Answer {
    if (method !== "POST") return refuse(405, "Method not allowed");
    const length = headers["content-length"];
    if (length === undefined) return refuse(411, "Content-Length header is required");
    if (Number(length) > callbackBytesMax) return refuse(413, "Request body too large");
    const [id = ""] = path.slice(root.length + 1).split("/");
    const token = tokens.get(id);
    if (token === undefined) return refuse(404, "Waitpoint not found");
    if (token.url !== `${origin}${path}`) return refuse(401, "Invalid URL, hash doesn't match");
    return complete(token, parsedOrEmpty(body));
  }

  return { url: origin, key, stop: () => void server.close().closeAllConnections() };
}

/** A token that is completed already stays as it is, and answers the same. */
function complete(token: Token, value: unknown): Answer {
  if (token.status === "WAITING") {
    const isText = typeof value === "string";
    Object.assign(token, {
      status: "COMPLETED",
      completedAt: new Date().toISOString(),
      output: isText ? value : JSON.stringify({ json: value }),
      outputType: isText ? "text/plain" : "application/super+json",
    });
  }
  return { status: 200, body: { success: true } };
}

function parsedOrEmpty(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return {};
  }
}

function refuse(status: number, error: string): Answer {
  return { status, body: { error } };
}
