// The official client of the protocol, connected to the tools each way that people connect: to a spawned process, and to
// the running service, in the protocol of today and in that of 2025.

import assert from "node:assert/strict";
import { join } from "node:path";
import {
  Client,
  type ProgressCallback,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { hangMs } from "../../server/test/patience.ts";

export type Way = { transport: "stdio" | "http"; mode: "auto" | "legacy" };

export const ways: Way[] = [
  { transport: "stdio", mode: "auto" },
  { transport: "stdio", mode: "legacy" },
  { transport: "http", mode: "auto" },
  { transport: "http", mode: "legacy" },
];

/** A process reuses the code that Node has compiled for another file. */
const compileCache = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "" };

export type Place = { url: string; key: string };

export const command = {
  command: process.execPath,
  args: [join(import.meta.dirname, "..", "bin", "countersign-mcp.mjs")],
};

export async function connect({ transport, mode }: Way, { url, key }: Place): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(
    transport === "stdio"
      ? new StdioClientTransport({
          ...command,
          env: { ...compileCache, COUNTERSIGN_API_KEY: key, COUNTERSIGN_BASE_URL: url },
          stderr: "ignore",
        })
      : new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${key}` } },
        }),
    { timeout: hangMs },
  );
  return client;
}

export type ToolAnswer = {
  isError: boolean;
  /** A model reads this first. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the client has held it to the tool's own schema
  value: any;
};

export type CallOptions = {
  onProgress?: ProgressCallback;
  signal?: AbortSignal;
};

/** The client checks what comes back against the tool's schema, and throws if it does not fit. */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  { onProgress, signal }: CallOptions = {},
): Promise<ToolAnswer> {
  const result = await client.callTool(
    { name, arguments: args },
    {
      timeout: hangMs,
      ...(onProgress === undefined ? {} : { onprogress: onProgress }),
      ...(signal === undefined ? {} : { signal }),
    },
  );
  const texts = result.content.map((part) => (part.type === "text" ? part.text : ""));
  if (result.isError !== true) {
    assert.deepEqual(JSON.parse(texts[1] ?? ""), result.structuredContent, "text and value agree");
  }
  return {
    isError: result.isError === true,
    text: texts[0] ?? "",
    value: result.structuredContent,
  };
}
