// The command `countersign-mcp`: the tools over standard input and output. Only the protocol may be written to standard
// output; text for people goes to standard error.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Countersign } from "../../sdk/src/index.ts";
import { parseExactly } from "./exact-json.ts";
import { makeStdioTransport } from "./stdio-transport.ts";
import { makeMcpServer } from "./tools.ts";

const client = openClient();
if (client === null) process.exitCode = 1;
else serve(client);

function serve(client: Countersign): void {
  const handle = serveStdio(({ era }) => makeMcpServer({ client, era }), {
    transport: makeStdioTransport({ input: process.stdin, output: process.stdout }),
    onerror: (error) => say(error.message),
  });
  const stop = () => void handle.close().then(() => process.exit(0));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
}

/** From COUNTERSIGN_API_KEY and COUNTERSIGN_BASE_URL, which the client reads itself. */
function openClient(): Countersign | null {
  try {
    return new Countersign({ parse: parseExactly });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    say(error.message);
    say(
      "Set COUNTERSIGN_API_KEY and COUNTERSIGN_BASE_URL in the env of this server, where your MCP client is set up.",
    );
    return null;
  }
}

function say(text: string): void {
  process.stderr.write(`countersign-mcp: ${text}\n`);
}
