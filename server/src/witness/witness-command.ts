// countersign witness: watches logs for another team, until Ctrl-C. It reads no environment and opens no database.

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Command } from "commander";
import { OperatorFault } from "../domain/operator-fault.ts";
import {
  ed25519,
  formatVerifierKey,
  parseVerifierKey,
  type VerifierKey,
} from "../domain/proof/note.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { Witness } from "./witness.ts";
import { makeWitnessServer } from "./witness-server.ts";
import { openWitnessKey } from "./witness-state.ts";

type Flags = { listen: string; name: string; state: string; log: string[] };

export function witnessCommand(): Command {
  return new Command("witness")
    .description("watch the log of another team: cosign its checkpoints while it only grows")
    .option("--listen <address:port>", "where to listen", "127.0.0.1:8090")
    .requiredOption("--name <name>", "its name for ever, such as witness.example.com/one")
    .requiredOption("--state <folder>", "where its key and the newest checkpoints are kept")
    .requiredOption("--log <vkey>", "verifier key of a log; may be repeated", collect)
    .addHelpText(
      "after",
      `
The witness prints a verifier key of its own. The log's operator puts it into WITNESSES, with the
address where the witness is reached:
  WITNESSES="witness.example.com/one+1b2c3d4e+BH… https://witness.example.com"

The folder is all it has. A witness without its folder believes whatever it is shown first.`,
    )
    .action(runWitness);
}

async function runWitness(flags: Flags): Promise<void> {
  const logs = flags.log.map(toLogKey);
  const { host, port } = toAddress(flags.listen);
  const privateKey = await openWitnessKey(flags.state);
  const witness = new Witness({
    name: flags.name,
    directory: flags.state,
    privateKey,
    logs,
    clock: () => new Date(),
    tell,
  });
  // What others can't parse is no name.
  if (parseVerifierKey(formatVerifierKey(witness.key)) === null) {
    throw new OperatorFault("--name must not be empty, and have neither spaces nor a plus sign");
  }
  await witness.examineHeads();
  const server = makeWitnessServer({ witness, onFault: (error) => tell(describe(error)) });
  const url = await begin(server, host, port);
  tell(`${flags.name} witnesses ${[...new Set(logs.map(({ name }) => name))].join(", ")} at ${url}.
Verifier key: ${formatVerifierKey(witness.key)}`);
  await untilStopped();
  server.close();
  server.closeAllConnections();
}

function toLogKey(text: string): VerifierKey {
  const key = parseVerifierKey(text);
  if (key?.type === ed25519) return key;
  throw new OperatorFault(
    `--log ${text} is no verifier key of a log. It looks like approvals.example.com/log+1b2c3d4e+AW…`,
  );
}

function toAddress(text: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new OperatorFault(`--listen ${text} is no address with a port, such as 127.0.0.1:8090`);
}

async function begin(server: Server, host: string, port: number): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new OperatorFault(`cannot listen on ${host}:${port} (${(error as Error).message})`);
  }
  const { port: taken } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${taken}`;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function tell(text: string): void {
  const lines = text.split("\n").map((line) => toTerminalText(line));
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** Commander's collector. */
function collect(text: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve());
  });
}
