// The tools over Streamable HTTP, as a web request and its response. Each call stands alone: there are no sessions, so
// any node may answer it. The caller of this handler has checked the API key and the origin.

import { createMcpHandler } from "@modelcontextprotocol/server";
import { Countersign, type Fetch } from "../../sdk/src/index.ts";
import { parseExactly } from "./exact-json.ts";
import { type MessageRefusal, readMessage } from "./message-text.ts";
import { makeMcpServer } from "./tools.ts";

export type WebHandlerOptions = {
  /** How the tools reach the service. */
  fetch: Fetch;
  baseUrl: string;
  /** Aborted when this process ends. */
  stopping: AbortSignal;
  /** Called with faults outside of any tool. */
  onFault: (error: Error) => void;
};

export type WebCall = {
  apiKey: string;
  /** The headers that the protocol names: accept and mcp-…. */
  headers: Record<string, string>;
  /** The body as text; null if it isn't UTF-8. */
  text: string | null;
  /** Aborted when the caller leaves. */
  signal: AbortSignal;
};

export type WebHandler = {
  answer(call: WebCall): Promise<Response>;
  close(): Promise<void>;
};

export function makeWebHandler(options: WebHandlerOptions): WebHandler {
  const { fetch, baseUrl, stopping, onFault } = options;
  const handler = createMcpHandler(
    ({ authInfo, era, requestInfo }) => {
      const apiKey = authInfo?.token ?? "";
      const client = new Countersign({ apiKey, baseUrl, fetch, parse: parseExactly });
      const version = requestInfo?.headers.get("mcp-protocol-version") ?? null;
      return makeMcpServer({ client, stopping, era, version });
    },
    {
      onerror: onFault,
      // Such a stream has nothing to tell, and each would be held open for nothing.
      maxSubscriptions: 0,
    },
  );
  return {
    answer: async ({ apiKey, headers, text, signal }) => {
      const read = readMessage(text);
      if ("refused" in read) return refused(read.refused);
      const request = new Request(`${baseUrl}/mcp`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        signal,
      });
      const authInfo = { token: apiKey, clientId: "countersign", scopes: [] };
      return handler.fetch(request, { authInfo, parsedBody: read.message });
    },
    close: () => handler.close(),
  };
}

/** The caller knows by the exchange which message this answers. */
function refused({ code, message }: MessageRefusal): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status: 400 });
}
