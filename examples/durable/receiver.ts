// Where callbacks arrive, for engines that have no address of their own for a wait. It believes what Countersign has
// signed, and only that a run should look again.

import { createServer, type IncomingMessage, type Server } from "node:http";
import { constructEvent, WebhookVerificationError } from "@countersign/sdk";

const { CALLBACK_SECRET = "", PORT = "4000" } = process.env;
const bodyBytesMax = 16 * 1024 * 1024;

/** `wake` gets the run that asked. When it throws, Countersign sends the callback again. */
export function receive(wake: (run: string) => Promise<unknown>): Server {
  const server = createServer(async (request, response) => {
    try {
      const event = await constructEvent(await read(request), request.headers, CALLBACK_SECRET);
      await wake((event.data.metadata as { run: string }).run);
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
    }
  });
  return server.listen(Number(PORT));
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > bodyBytesMax) throw new RangeError("larger than any callback");
    parts.push(part);
  }
  return Buffer.concat(parts);
}
