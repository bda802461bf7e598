// One final state, once; approved by a person in time, or not at all; and nothing changes after that.

import type { DecideCall, EventRow, Evidence, Flaw, ReadCall, RequestRow } from "../evidence.ts";
import { membersOf } from "./json-text.ts";

const finalKinds: Record<string, string> = {
  APPROVED: "request.approved",
  REJECTED: "request.rejected",
  EXPIRED: "request.expired",
  CANCELLED: "request.cancelled",
};
const verdicts = { approve: "APPROVED", reject: "REJECTED" } as const;
const finals = new Set(Object.values(finalKinds));

export function flawsOfOutcomes(evidence: Evidence): Flaw[] {
  const events = Map.groupBy(evidence.events, ({ requestId }) => requestId);
  const decisions = Map.groupBy(evidence.decisions, ({ summary }) => summary);
  const cancels = Map.groupBy(evidence.cancels, ({ requestId }) => requestId);
  const reads = Map.groupBy(evidence.reads, ({ requestId }) => requestId);
  return evidence.requests.flatMap((row) => {
    const sent = decisions.get(row.summary) ?? [];
    const cancelled = cancels.get(row.id) ?? [];
    return [
      ...flawsOfEvents(row, events.get(row.id) ?? []),
      ...flawsOfResolution(row, sent, cancelled.length > 0),
      ...sent.flatMap((call) => flawsOfDecision(row, call)),
      ...cancelled
        .filter(({ status }) => status === 200 && row.status !== "CANCELLED")
        .map(() => kept(`${row.id}: a cancellation was accepted, and it is ${row.status}`)),
      ...flawsOfReads(row, reads.get(row.id) ?? []),
    ];
  });
}

function flawsOfEvents({ id, status }: RequestRow, events: EventRow[]): Flaw[] {
  const kinds = events.map(({ kind }) => kind);
  const count = (kind: string) => kinds.filter((each) => each === kind).length;
  const outcomes = kinds.filter((kind) => finals.has(kind));
  const expected = finalKinds[status] === undefined ? [] : [finalKinds[status]];
  const flaws: Flaw[] = [];
  if (count("request.created") !== 1) {
    flaws.push(oneEvent(`${id}: ${count("request.created")} times created`));
  }
  if (outcomes.join() !== expected.join()) {
    flaws.push(
      oneEvent(`${id} is ${status}, and its events say: ${outcomes.join(", ") || "nothing"}`),
    );
  }
  return flaws;
}

function flawsOfResolution(row: RequestRow, decisions: DecideCall[], isCancelled: boolean): Flaw[] {
  const { id, status } = row;
  switch (status) {
    case "PENDING":
      return row.resolvedAt === null ? [] : [byPerson(`${id} is pending and has an end`)];
    case "EXPIRED":
      return row.resolvedAt === row.expiresAt && row.resolvedBy === null
        ? []
        : [byPerson(`${id} expired at another moment than its end, or by somebody`)];
    case "CANCELLED":
      return isCancelled ? [] : [byPerson(`${id} is cancelled, and nobody asked for that`)];
    default:
      return flawsOfVerdict(row, decisions);
  }
}

/** Somebody sent exactly this decision before the end. What a call without an answer did is known by its row alone. */
function flawsOfVerdict(row: RequestRow, decisions: DecideCall[]): Flaw[] {
  const { id, status, resolvedAt, expiresAt } = row;
  if (resolvedAt === null) return [byPerson(`${id} is ${status} at no time`)];
  if (resolvedAt >= expiresAt) return [inTime(`${id} is ${status} after its end`)];
  const sent = decisions.filter(({ verdict }) => verdicts[verdict] === status);
  if (sent.length === 0) return [byPerson(`${id} is ${status}, and nobody decided that`)];
  const fitting = sent.filter(({ email, edit }) => email === row.resolvedBy && edit === row.edit);
  if (fitting.length === 0) {
    return [byPerson(`${id}: nobody sent ${row.edit ?? "no edit"} as ${row.resolvedBy}`)];
  }
  return fitting.some(({ at }) => at < expiresAt) ? [] : [inTime(`${id}: decided after its end`)];
}

function flawsOfDecision(row: RequestRow, call: DecideCall): Flaw[] {
  if (call.status !== 200) return [];
  if (verdicts[call.verdict] === row.status && call.edit === row.edit) return [];
  const what = `${row.id}: ${call.verdict} by ${call.email} was accepted, and it is ${row.status}`;
  return [kept(what)];
}

function flawsOfReads(row: RequestRow, reads: ReadCall[]): Flaw[] {
  const answered = reads.filter(({ status }) => status === 200);
  const states = answered.map((call) => ({ call, members: membersOf(call.answer ?? "{}") }));
  const now = membersOf(row.answer);
  const flaws: Flaw[] = [];
  let finalSince = Number.POSITIVE_INFINITY;
  for (const { call, members } of states) {
    if (members.get("status") !== '"PENDING"') finalSince = Math.min(finalSince, call.endedAt);
  }
  for (const { call, members } of states) {
    const status = members.get("status");
    if (status === '"PENDING"') {
      if (call.at > finalSince) flaws.push(kept(`${row.id} was final, and then read as pending`));
      continue;
    }
    for (const name of ["status", "effectivePayload", "resolvedAt", "resolvedByEmail"]) {
      if (members.get(name) === now.get(name)) continue;
      flaws.push(
        kept(`${row.id}: ${name} was read as ${members.get(name)}, and is ${now.get(name)}`),
      );
    }
  }
  if (now.get("effectivePayload") !== (row.edit ?? row.payload)) {
    flaws.push(kept(`${row.id}: another payload is effective than the edit or the original`));
  }
  return flaws;
}

const oneEvent = (what: string): Flaw => ({ promise: "one final state and one event", what });
const byPerson = (what: string): Flaw => ({ promise: "nothing is decided but by a person", what });
const inTime = (what: string): Flaw => ({ promise: "nothing is decided after its end", what });
const kept = (what: string): Flaw => ({ promise: "what was acknowledged stays", what });
