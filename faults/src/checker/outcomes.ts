// One final state, once; approved by a person in time, or not at all; and nothing changes after that.

import {
  byClock,
  type CancelCall,
  type DecideCall,
  type EventRow,
  type Evidence,
  type Flaw,
  type RequestRow,
} from "../evidence.ts";

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
  const known = new Set(evidence.requests.map(({ id }) => id));
  const strays = evidence.events.filter(({ requestId }) => !known.has(requestId));
  const flaws = evidence.requests.flatMap((row) => {
    const sent = decisions.get(row.summary) ?? [];
    const cancelled = cancels.get(row.id) ?? [];
    return [
      ...flawsOfEvents(row, events.get(row.id) ?? []),
      ...flawsOfResolution(row, sent, cancelled),
      ...sent.flatMap((call) => flawsOfDecision(row, call)),
      ...cancelled
        .filter(({ status }) => status === 200 && row.status !== "CANCELLED")
        .map(() => kept(`${row.id}: a cancellation was accepted, and it is ${row.status}`)),
    ];
  });
  return [...flaws, ...strays.map(({ id }) => oneEvent(`${id} is about no request`))];
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

function flawsOfResolution(
  row: RequestRow,
  decisions: DecideCall[],
  cancels: CancelCall[],
): Flaw[] {
  const { id, status, resolvedAt, expiresAt } = row;
  const isByNobody = row.resolvedBy === null && row.edit === null;
  switch (status) {
    case "PENDING":
      return resolvedAt === null && isByNobody ? [] : [byPerson(`${id} is pending and has an end`)];
    case "EXPIRED":
      return resolvedAt === expiresAt && isByNobody
        ? []
        : [byPerson(`${id} expired at another moment than its end, or by somebody`)];
    case "CANCELLED":
      if (!isByNobody) return [byPerson(`${id} is cancelled, and was decided by somebody`)];
      return flawsOfCause(
        row,
        cancels.filter(({ workspaceId }) => workspaceId === row.workspaceId),
      );
    default:
      return flawsOfVerdict(row, decisions);
  }
}

/** Somebody sent exactly this decision before the end. What a call without an answer did is known by its row alone. */
function flawsOfVerdict(row: RequestRow, decisions: DecideCall[]): Flaw[] {
  const { id, status } = row;
  const sent = decisions.filter(({ verdict }) => verdicts[verdict] === status);
  if (sent.length === 0) return [byPerson(`${id} is ${status}, and nobody decided that`)];
  const fitting = sent.filter(({ email, edit }) => email === row.resolvedBy && edit === row.edit);
  if (fitting.length === 0) {
    return [byPerson(`${id}: nobody sent ${row.edit ?? "no edit"} as ${row.resolvedBy}`)];
  }
  return flawsOfCause(row, fitting);
}

/** One of these calls did it: one that was sent before it happened, and was not refused. */
function flawsOfCause(
  { id, status, resolvedAt, expiresAt }: RequestRow,
  calls: (DecideCall | CancelCall)[],
): Flaw[] {
  if (resolvedAt === null) return [byPerson(`${id} is ${status} at no time`)];
  if (resolvedAt >= expiresAt) return [byClock(inTime(`${id} is ${status} after its end`))];
  if (calls.length === 0) return [byPerson(`${id} is ${status}, and nobody asked for that`)];
  if (calls.every(({ at }) => at >= expiresAt))
    return [byClock(inTime(`${id}: decided after its end`))];
  const possible = calls.filter((call) => isUnknown(call) || call.status === 200);
  if (possible.length === 0) {
    return [byPerson(`${id} is ${status}, and all who asked for that were refused`)];
  }
  const isCause = (call: DecideCall | CancelCall) =>
    call.at <= resolvedAt && (isUnknown(call) || resolvedAt <= call.endedAt);
  return possible.some(isCause)
    ? []
    : [byClock(byPerson(`${id} is ${status}, and all who asked for that came later`))];
}

function isUnknown({ status }: DecideCall | CancelCall): boolean {
  return status === null || status >= 500;
}

function flawsOfDecision(row: RequestRow, call: DecideCall): Flaw[] {
  if (call.status !== 200) return [];
  const isBy = call.email === row.resolvedBy;
  if (verdicts[call.verdict] === row.status && call.edit === row.edit && isBy) return [];
  const what = `${row.id}: ${call.verdict} by ${call.email} was accepted, and it is ${row.status}`;
  return [kept(what)];
}

const oneEvent = (what: string): Flaw => ({ promise: "one final state and one event", what });
const byPerson = (what: string): Flaw => ({ promise: "nothing is decided but by a person", what });
const inTime = (what: string): Flaw => ({ promise: "nothing is decided after its end", what });
const kept = (what: string): Flaw => ({ promise: "what was acknowledged stays", what });
