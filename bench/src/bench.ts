// The frame of every measurement: its time, its rounds, and its processes.

import type { LoadProcess } from "./load-process.ts";
import type { Receiver } from "./receiver-process.ts";

export type Plan = {
  /** Else only the lines that say most, for a first look. */
  isWhole: boolean;
  /** How often service and ceiling take turns. */
  rounds: number;
  clients: number[];
  /** How long one turn of calls is counted. */
  measureMs: number;
  /** pgbench reports by the second. */
  pgbenchSeconds: number;
  /** Webhooks that are due at once, for one turn of sending them. */
  webhooks: number;
  /** Events that are timed on their way, one after the other, in one turn. */
  events: number;
  /** Decisions in one turn. */
  decisions: number;
  waitingCallers: number;
  waitingSeconds: number;
  /** Deliveries due to an endpoint that hangs. */
  hanging: number;
  /** Requests whose time ends at once. */
  expiring: number;
};

export const thorough: Plan = {
  isWhole: true,
  rounds: 3,
  clients: [1, 16, 64, 256],
  measureMs: 1_200,
  pgbenchSeconds: 2,
  webhooks: 12_000,
  events: 150,
  decisions: 250,
  waitingCallers: 1_000,
  waitingSeconds: 20,
  hanging: 200_000,
  expiring: 100_000,
};

export const quick: Plan = {
  isWhole: false,
  rounds: 3,
  clients: [1, 64],
  measureMs: 400,
  pgbenchSeconds: 1,
  webhooks: 3_000,
  events: 40,
  decisions: 100,
  waitingCallers: 1_000,
  waitingSeconds: 12,
  hanging: 20_000,
  expiring: 10_000,
};

export type Bench = {
  plan: Plan;
  load: LoadProcess;
  receiver: Receiver;
  /** PostgreSQL's own benchmark program; null where there is none. */
  pgbench: string | null;
  signal: AbortSignal;
  progress: (text: string) => void;
};

/** Calls that are made before a turn counts. */
export const rampMs = 250;

/** Takes turns, so that a moody machine is moody to all of them. */
export async function inTurns(
  { plan, signal, progress }: Bench,
  name: string,
  turn: (round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < plan.rounds; round += 1) {
    signal.throwIfAborted();
    progress(`${name}, round ${round + 1} of ${plan.rounds}`);
    await turn(round);
  }
}

export function nameOfClients(clients: number): string {
  return clients === 1 ? "1 client" : `${clients} clients`;
}

/** As they would be typed. */
export function nameOfOptions(options: { millions: string | undefined; peers: boolean }): string {
  const { millions, peers } = options;
  return [
    ...(millions === undefined ? [] : [`--millions ${millions}`]),
    ...(peers ? ["--peers"] : []),
  ].join(" ");
}
