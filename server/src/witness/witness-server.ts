// The witness's HTTP interface (c2sp.org/tlog-witness): one call that submits a checkpoint, and one that reads the newest.
// It bounds everything a stranger may take: bytes, time and connections.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  witnessBodyBytesMax,
  witnessConnectionsMax,
  witnessTimeoutMs,
} from "../domain/proof/witness-limits.ts";
import type { Witness, WitnessAnswer } from "./witness.ts";

export type WitnessServerOptions = {
  witness: Witness;
  onFault: (error: unknown) => void;
  /** How long a call may take to arrive. */
  timeoutMs?: number;
};

export function makeWitnessServer(options: WitnessServerOptions): Server {
  const { timeoutMs = witnessTimeoutMs } = options;
  const limits = {
    headersTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    connectionsCheckingInterval: Math.min(1_000, timeoutMs),
    maxHeaderSize: 8_192,
  };
  const server = createServer(limits, (call, reply) => {
    answerCall(call, options.witness)
      .catch((error: unknown): WitnessAnswer => {
        options.onFault(error);
        return {
          status: 500,
          text: "The witness failed. Its operator finds the reason in its log.\n",
        };
      })
      .then((answer) => write(call, reply, answer));
  });
  server.maxConnections = witnessConnectionsMax;
  return server;
}

async function answerCall(call: IncomingMessage, witness: Witness): Promise<WitnessAnswer> {
  const path = (call.url ?? "").split("?", 1)[0] ?? "";
  if (path === "/add-checkpoint") {
    if (call.method !== "POST") return { status: 405, text: "Use POST.\n" };
    const body = await readBody(call);
    if (body === "too_long") {
      return { status: 413, text: `At most ${witnessBodyBytesMax} bytes are taken.\n` };
    }
    if (body === "broken_off") return { status: 400, text: "The call broke off.\n" };
    return witness.add(body);
  }
  const [, hash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path) ?? [];
  if (hash === undefined) return { status: 404, text: "Not found.\n" };
  if (call.method !== "GET" && call.method !== "HEAD") return { status: 405, text: "Use GET.\n" };
  return witness.read(hash);
}

async function readBody(call: IncomingMessage): Promise<Buffer | "too_long" | "broken_off"> {
  if (Number(call.headers["content-length"] ?? 0) > witnessBodyBytesMax) return "too_long";
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Else leaving the loop would close the connection before the answer.
    for await (const chunk of call.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > witnessBodyBytesMax) return "too_long";
      chunks.push(chunk);
    }
  } catch {
    return "broken_off";
  }
  return Buffer.concat(chunks);
}

function write(call: IncomingMessage, reply: ServerResponse, answer: WitnessAnswer): void {
  const isRead = call.complete;
  reply.writeHead(answer.status, {
    "content-type": answer.type ?? "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(answer.text),
    // The rest of a body that we don't read would be taken for the next call.
    ...(isRead ? {} : { connection: "close" }),
  });
  reply.end(call.method === "HEAD" ? "" : answer.text, () => {
    if (!isRead) call.destroy();
  });
}
