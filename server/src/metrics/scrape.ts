// Who may read the metrics, and the port of their own on which they are read.

import { hash, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export type Page = { text: string; contentType: string };

/** Null for a caller without the token. */
export type Scrape = (authorization: string | null) => Promise<Page | null>;

/** As for API keys: the scheme in any case. */
const bearerPattern = /^Bearer +([^\s]+)$/i;

export function makeScrape(read: () => Promise<Page>, token: string | null): Scrape {
  const right = token === null ? null : digestOf(token);
  return async (authorization) => {
    const given = bearerPattern.exec(authorization ?? "")?.[1] ?? "";
    // Digests are of one length, so that comparing them tells nothing.
    const isAllowed = right === null || timingSafeEqual(digestOf(given), right);
    return isAllowed ? read() : null;
  };
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

const connectionsMax = 50;
const requestTimeoutMs = 10_000;

export class ScrapeServer {
  readonly #server: Server;

  constructor(scrape: Scrape, onFault: (error: unknown) => void) {
    this.#server = createServer(
      { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs },
      (request, response) => {
        const end = (status: number, text: string, headers: Record<string, string> = {}) =>
          response
            .writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers })
            .end(request.method === "HEAD" ? undefined : text);
        const path = (request.url ?? "").split("?")[0];
        if (path !== "/metrics") return void end(404, "Metrics are at /metrics.\n");
        if (request.method !== "GET" && request.method !== "HEAD") {
          return void end(405, "Read metrics with GET.\n", { allow: "GET, HEAD" });
        }
        scrape(request.headers.authorization ?? null).then(
          (page) => {
            if (page !== null) end(200, page.text, { "content-type": page.contentType });
            else end(401, "The token is missing or wrong.\n", { "www-authenticate": "Bearer" });
          },
          (error: unknown) => {
            onFault(error);
            end(500, "The metrics could not be read.\n");
          },
        );
      },
    );
    this.#server.maxConnections = connectionsMax;
  }

  /** Answers the port, which the system chooses for 0. */
  async listen(host: string, port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject);
    this.#server.listen({ host, port }, resolve);
    await promise;
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }
}
