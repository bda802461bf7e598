// countersign listen: receives webhooks on this machine and prints them, so that a newcomer sees events arrive.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Command } from "commander";
import { makeAddressPolicy } from "../domain/access/network-address.ts";
import { flawOfSignature, readEvent } from "../domain/delivery/received-webhook.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { isRefusal } from "../domain/refusal.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { type LocalEndpoint, openLocalEndpoint } from "../operations/deliveries/listen-locally.ts";
import { disableEndpoint } from "../operations/deliveries/manage-endpoint.ts";
import { examineWebhookUrl } from "../outbound/resolve-host.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import {
  type CommandConfig,
  type ReadCommandConfig,
  several,
  toJsonLine,
  wholeNumber,
  withStore,
} from "./command.ts";
import { requireDevelopment } from "./decide.ts";
import { type Arrival, arrivalToJson, tellArrival } from "./terminal/received-words.ts";

const host = "127.0.0.1";
const portDefault = 4000;
/** A payload may come three times in one body: as it was asked, edited and effective. */
const bodyBytesMax = 32 * 1024 * 1024;

type ListenFlags = { port: number; workspace?: string; secret?: string[]; json?: boolean };

export function listenCommand(readConfig: ReadCommandConfig): Command {
  return new Command("listen")
    .description("receive webhooks on this machine and print them, until Ctrl-C")
    .option("--port <port>", "where to listen", wholeNumber, portDefault)
    .option("--workspace <id>", "whose events (the only workspace's)")
    .option(
      "--secret <whsec>",
      "verify with this signing secret and register nothing; may be repeated",
      several,
    )
    .option("--json", "print JSON, for machines")
    .addHelpText(
      "after",
      `
Without --secret it registers its own address as an endpoint of the workspace, and turns that
endpoint off when it ends. That works in development only: with the embedded database, without
SMTP_URL, and with PUBLIC_URL at this machine.`,
    )
    .action((flags: ListenFlags) => listen(readConfig, flags));
}

async function listen(readConfig: ReadCommandConfig, flags: ListenFlags): Promise<void> {
  const stopped = untilStopped();
  const secrets = [...(flags.secret ?? [])];
  const server = createServer((call, reply) => {
    // Whatever arrives, the next webhook must find a listener.
    receive(call, reply, { secrets, flags }).catch((error: Error) => {
      process.stderr.write(`A call could not be read: ${toTerminalText(error.message)}\n`);
      reply.destroy();
    });
  });
  const url = await begin(server, flags.port);
  try {
    if (flags.secret !== undefined) {
      tell(flags, `Listening on ${url} for webhooks that are signed with your secret.`);
      await stopped;
    } else {
      await listenAsEndpoint(readConfig, { url, flags, secrets, stopped });
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

type Listening = { url: string; flags: ListenFlags; secrets: string[]; stopped: Promise<void> };

/** The store is open only at the beginning and the end: the service may start and stop in between. */
async function listenAsEndpoint(
  readConfig: ReadCommandConfig,
  { url, flags, secrets, stopped }: Listening,
): Promise<void> {
  const config = readConfig();
  requireDevelopment("listen", config);
  const endpoint = await register(config, url, flags.workspace ?? null);
  secrets.push(...endpoint.secrets);
  tell(
    flags,
    `Listening on ${url}, which is registered as ${endpoint.id} of ${endpoint.workspaceId}.
Send a test event from another terminal: bin/countersign webhook test ${endpoint.id}
Stop: Ctrl-C, which also turns the endpoint off.`,
  );
  await stopped;
  await withStore(config, ({ db }) =>
    disableEndpoint(db, endpoint.id, "countersign listen has ended"),
  );
}

async function register(
  config: CommandConfig,
  url: string,
  workspaceId: string | null,
): Promise<LocalEndpoint> {
  const policy = makeAddressPolicy(config.webhookAllowed);
  const examineAddress = (given: string) => examineWebhookUrl(given, policy);
  const endpoint = await withStore(config, async (store) => {
    await requireSecretKeys(store);
    return openLocalEndpoint(store.db, store.keyring, { workspaceId, url, examineAddress });
  });
  if (isRefusal(endpoint)) throw new OperatorFault(toTerminalText(endpoint.message));
  return endpoint;
}

async function begin(server: Server, port: number): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new OperatorFault(
      `cannot listen on ${host}:${port} (${(error as Error).message}); choose another one with --port`,
    );
  }
  return `http://${host}:${(server.address() as AddressInfo).port}/`;
}

type Receiving = { secrets: readonly string[]; flags: ListenFlags };

async function receive(
  call: IncomingMessage,
  reply: ServerResponse,
  { secrets, flags }: Receiving,
): Promise<void> {
  if (call.method !== "POST") {
    reply.writeHead(405, { allow: "POST" }).end("This address takes webhooks of Countersign.\n");
    return;
  }
  const body = await readBody(call);
  if (body === null) {
    reply.writeHead(413, { connection: "close" }).end();
    return;
  }
  const signature = String(call.headers["x-service-signature"] ?? "");
  const at = new Date();
  const flaw = flawOfSignature({ signature, body }, secrets, at);
  const arrival: Arrival = { at, flaw, event: flaw === null ? readEvent(body) : null };
  reply.writeHead(arrival.event === null ? 400 : 204).end();
  process.stdout.write(
    `${flags.json === true ? toJsonLine(arrivalToJson(arrival)) : tellArrival(arrival)}\n`,
  );
}

/** Null when it is too long or breaks off. */
async function readBody(call: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of call) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > bodyBytesMax) return null;
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

/** For people: a machine that reads JSON lines gets nothing else. */
function tell({ json }: ListenFlags, text: string): void {
  (json === true ? process.stderr : process.stdout).write(`${text}\n`);
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve());
  });
}
