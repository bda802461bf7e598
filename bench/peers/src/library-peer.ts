// A peer that is a library and no service. The job is done with it in two ways: by calls within its process, and by
// callers in another process through a bare HTTP server, as an agent and an approver would have to reach it.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { type Contender, decision, readsPerJob, type Setup, serveOrders } from "./peer-process.ts";

const keepAliveMs = 72_000;

export type LibraryPeer = {
  name: string;
  /** Returns the id under which the pending approval can be found, once it is durable. */
  ask(request: unknown): Promise<string>;
  /** The content to approve; throws unless it is pending. */
  read(id: string): Promise<unknown>;
  /** Returns what the code that waited was given. */
  resolve(id: string, decision: unknown): Promise<unknown>;
  close(): Promise<void>;
};

export function serveLibrary(open: (setup: Setup) => Promise<LibraryPeer>): void {
  serveOrders(async (setup) => {
    const peer = await open(setup);
    const server = createServer((request, response) => void answer(peer, request, response));
    // Callers take turns with others, and keep their connections in between.
    server.keepAliveTimeout = keepAliveMs;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;

    async function close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await peer.close();
    }

    return { name: peer.name, port, runJob: jobOf(peer, setup), close };
  });
}

function jobOf(peer: LibraryPeer, { body }: Setup): Contender["runJob"] {
  const request: unknown = JSON.parse(body);
  return async () => {
    const id = await peer.ask(request);
    for (let read = 0; read < readsPerJob; read += 1) {
      if (!isDeepStrictEqual(await peer.read(id), request)) throw new Error("it was not kept");
    }
    const received = await peer.resolve(id, decision);
    if (!isDeepStrictEqual(received, decision)) throw new Error("who waited got no decision");
  };
}

async function answer(
  peer: LibraryPeer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    reply(response, 200, JSON.stringify(await carryOut(peer, request)));
  } catch (error) {
    reply(response, 500, error instanceof Error ? error.message : String(error));
  }
}

/** POST / asks, GET /<id> reads, POST /<id> resolves. */
async function carryOut(peer: LibraryPeer, request: IncomingMessage): Promise<unknown> {
  const id = request.url?.slice(1) ?? "";
  if (request.method === "GET") return peer.read(id);
  const value: unknown = JSON.parse(await text(request));
  return id === "" ? peer.ask(value) : peer.resolve(id, value);
}

function reply(response: ServerResponse, status: number, body: string): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": length });
  response.end(body);
}
