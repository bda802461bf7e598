// What a run was and came to, in figures, as the page under docs/ shows it.

import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import type { Asked, Evidence, Flaw } from "./evidence.ts";
import type { Ended, Run } from "./run.ts";
import type { World } from "./world/world.ts";

export type Counts = Record<string, number | string>;

export function countOf(
  { evidence, faults, settledMs }: Run,
  { nodes }: Pick<World, "nodes">,
): Counts {
  const { creates, requests, decisions, reads, heard, deliveries, attempts, mails, opens } =
    evidence;
  const acknowledged = creates.filter(({ status }) => status === 201);
  const unanswered = failedCallsOf(evidence).filter(({ status }) => status === null);
  const recoveries = recoveriesOf(
    evidence,
    faults.map(({ endedAt }) => endedAt),
  );
  const deliveryIds = new Set(heard.map(({ headers }) => headers["x-service-delivery-id"]));
  return {
    faults: faults.filter(isReal).length,
    "faults that met nothing": faults.filter(({ isVain }) => isVain).length,
    "starts of processes": nodes.reduce((sum, { starts }) => sum + starts, 0),
    "creates sent": creates.length,
    "creates acknowledged": acknowledged.length,
    requests: requests.length,
    "decisions sent": decisions.length,
    "decisions acknowledged": decisions.filter(({ status }) => status === 200).length,
    reads: reads.length,
    "pages opened": opens.length,
    "calls without an answer": unanswered.length,
    approved: countStatus(evidence, "APPROVED"),
    rejected: countStatus(evidence, "REJECTED"),
    expired: countStatus(evidence, "EXPIRED"),
    cancelled: countStatus(evidence, "CANCELLED"),
    "still pending": countStatus(evidence, "PENDING"),
    webhooks: deliveries.filter(({ endpointId }) => endpointId !== null).length,
    "webhooks heard": heard.length,
    "webhooks heard again": heard.length - deliveryIds.size,
    "webhooks given up after three attempts": deliveries.filter(
      ({ endpointId, state }) => endpointId !== null && state === "failed",
    ).length,
    attempts: attempts.length,
    "attempts cut off by a crash": attempts.filter(({ outcome }) => outcome === "interrupted")
      .length,
    mails: mails.length,
    "recovery p50, ms": percentile(recoveries, 0.5),
    "recovery p99, ms": percentile(recoveries, 0.99),
    "recovery max, ms": percentile(recoveries, 1),
    "at rest after, ms": settledMs ?? "never",
  };
}

function isReal({ failure, isVain = false }: Ended): boolean {
  return failure === undefined && !isVain;
}

/** Calls that got no answer, or one that says that the service could not. */
export function failedCallsOf(evidence: Evidence): Asked[] {
  const { creates, reads, cancels, decisions, opens } = evidence;
  const calls: Asked[] = [...creates, ...reads, ...cancels, ...decisions, ...opens];
  return calls.filter(({ status }) => status === null || status >= 500);
}

/** From the end of each fault to the first create that was sent after it and was acknowledged, at each API node. */
export function recoveriesOf({ creates }: Pick<Evidence, "creates">, ends: number[]): number[] {
  return ends.flatMap((end) =>
    [0, 1].flatMap((node) => {
      const after = creates.filter(
        (call) => call.node === node && call.at >= end && call.status === 201,
      );
      const first = Math.min(...after.map(({ endedAt }) => endedAt));
      return Number.isFinite(first) ? [first - end] : [];
    }),
  );
}

export function percentile(values: readonly number[], share: number): number {
  const inOrder = values.toSorted((one, other) => one - other);
  return inOrder[Math.min(inOrder.length - 1, Math.floor(share * inOrder.length))] ?? 0;
}

function countStatus({ requests }: Evidence, status: string): number {
  return requests.filter((request) => request.status === status).length;
}

type About = { minutes: number; seed: number; hasDisk: boolean };

export function reportOf(
  { faults: all }: Run,
  { counts, flaws, about }: { counts: Counts; flaws: Flaw[]; about: About },
): string {
  const faults = all.filter(isReal);
  const byKind = Map.groupBy(faults, ({ name, target }) => `${name} | ${target}`);
  const kinds = [...byKind].sort().map(([kind, each]) => `| ${kind} | ${each.length} |`);
  return [
    `Seed ${about.seed}, ${about.minutes} minutes, ${faults.length} faults of ${byKind.size} kinds.`,
    `Version ${git()}, Node ${process.versions.node}, PostgreSQL 18, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB.`,
    "",
    flaws.length === 0
      ? "**The checker found nothing.**"
      : `**The checker found ${flaws.length} flaws.**`,
    ...flaws.slice(0, 20).map(({ promise, what }) => `- ${promise}: ${what}`),
    "",
    "| What | Count |",
    "|---|---|",
    ...Object.entries(counts).map(([name, count]) => `| ${name} | ${count.toLocaleString("en")} |`),
    "",
    "| Fault | Target | Times |",
    "|---|---|---|",
    ...kinds,
    ...(about.hasDisk ? [] : ["", "No disk could be mounted, so it was never full."]),
    "",
  ].join("\n");
}

function git(): string {
  const told = execFileSync("git", ["log", "-1", "--format=%h"], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  return told.trim();
}
