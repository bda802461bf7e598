// What agents and people were answered says what is stored, at that moment and from then on, and nothing that is right is
// refused.

import {
  byClock,
  type CreateCall,
  type Evidence,
  type Flaw,
  type ReadCall,
  type RequestRow,
} from "../evidence.ts";
import { membersOf } from "./json-text.ts";

/** Never different, from the first answer to the last. */
const fixed = [
  ...["object", "summary", "payload", "metadata", "agentState", "reasoning", "recentActions"],
  ...["agentName", "approverEmail", "approverGroup", "expiresAt", "createdAt"],
];
/** Once it has ended. */
const final = [
  ...["status", "modifiedPayload", "effectivePayload", "resolvedAt", "resolvedByEmail"],
  "resolutionNote",
];
/** Until it has ended. */
const unset = ["modifiedPayload", "resolvedAt", "resolvedByEmail", "resolutionNote"];

type Seen = { at: number; endedAt: number; members: Map<string, string> };

export function flawsOfAnswers(evidence: Evidence): Flaw[] {
  const { requests, creates, reads, cancels, decisions } = evidence;
  const rows = new Map(requests.map((row) => [row.id, row]));
  const seen = Map.groupBy(
    [...creates.filter(({ status }) => status === 201), ...[...reads, ...cancels].filter(isRead)],
    idOf,
  );
  const summaries = new Set(requests.map(({ summary }) => summary));
  return [
    ...requests.flatMap((row) => [
      ...flawsOfStored(row, evidence.readAt),
      ...flawsOfSeen(row, (seen.get(row.id) ?? []).map(toSeen)),
    ]),
    ...[...reads, ...cancels].flatMap((call) => flawsOfFinding(call, rows.get(call.requestId))),
    ...decisions
      .filter(({ status, summary }) => status === 200 && !summaries.has(summary))
      .map(({ summary }) => kept(`a decision about ${summary} was accepted, and that is gone`)),
    ...flawsOfRefusals(evidence, rows),
  ];
}

function isRead({ status }: ReadCall): boolean {
  return status === 200;
}

/** What the call was about, whatever its answer is about. */
function idOf(call: CreateCall | ReadCall): string {
  if ("requestId" in call) return call.requestId;
  return JSON.parse(membersOf(call.answer ?? "{}").get("id") ?? '""');
}

function toSeen({ at, endedAt, answer }: CreateCall | ReadCall): Seen {
  return { at, endedAt, members: membersOf(answer ?? "{}") };
}

/** The last answer, and the row beside it. */
function flawsOfStored(row: RequestRow, readAt: number): Flaw[] {
  const now = membersOf(row.answer);
  const expected: Record<string, string | null> = {
    ...{ id: textOf(row.id), status: textOf(row.status), summary: textOf(row.summary) },
    ...{ payload: row.payload, modifiedPayload: row.edit },
    effectivePayload: row.edit ?? row.payload,
    ...{ createdAt: timeOf(row.createdAt), expiresAt: timeOf(row.expiresAt) },
    ...{ resolvedAt: timeOf(row.resolvedAt), resolvedByEmail: textOf(row.resolvedBy) },
  };
  const flaws = Object.entries(expected)
    .filter(([name, value]) => now.get(name) !== (value ?? "null"))
    .map(([name, value]) => stored(`${row.id}: ${name} is ${value}, and read as ${now.get(name)}`));
  if (row.status === "EXPIRED" && readAt < row.expiresAt) {
    flaws.push(byClock(ends(`${row.id} has expired, and its end is to come`)));
  }
  return flaws;
}

function flawsOfSeen(row: RequestRow, seen: Seen[]): Flaw[] {
  const now = membersOf(row.answer);
  const isPending = ({ members }: Seen) => members.get("status") === '"PENDING"';
  const finalSince = Math.min(
    ...seen.filter((each) => !isPending(each)).map((each) => each.endedAt),
  );
  return seen.flatMap((each) => {
    const { at, endedAt, members } = each;
    if (members.get("id") !== textOf(row.id)) {
      return [crossing(`${row.id} was answered with ${members.get("id")}`)];
    }
    const differs = (names: string[]) =>
      names.filter((name) => members.get(name) !== now.get(name));
    const says = (name: string) =>
      `${row.id}: ${name} was ${members.get(name)}, and is ${now.get(name)}`;
    const flaws = differs(fixed).map((name) => exact(says(name)));
    if (!isPending(each)) {
      flaws.push(...differs(final).map((name) => kept(says(name))));
      if (members.get("status") === '"EXPIRED"' && endedAt < row.expiresAt) {
        flaws.push(byClock(ends(`${row.id} had expired before its end`)));
      }
      return flaws;
    }
    if (at > finalSince) flaws.push(kept(`${row.id} was final, and then pending`));
    if (at >= row.expiresAt) flaws.push(byClock(ends(`${row.id} was pending after its end`)));
    const isOpen = unset.every((name) => members.get(name) === "null");
    if (!isOpen || members.get("effectivePayload") !== members.get("payload")) {
      flaws.push(stored(`${row.id} was pending, and decided in part`));
    }
    return flaws;
  });
}

/** Agents ask only for what they know of. */
function flawsOfFinding({ requestId, status }: ReadCall, row: RequestRow | undefined): Flaw[] {
  if (status === 404) return [durable(`${requestId} was acknowledged, and then not found`)];
  return status === 200 && row === undefined
    ? [durable(`${requestId} was read, and is not there`)]
    : [];
}

/** All that agents and people send is right, but it may come too late. */
function flawsOfRefusals(
  { creates, reads, cancels, decisions }: Evidence,
  rows: Map<string, RequestRow>,
): Flaw[] {
  const bySummary = new Map([...rows.values()].map((row) => [row.summary, row]));
  const isRefused = (allowed: number[]) => {
    return ({ status }: { status: number | null }) =>
      status !== null && status < 500 && status !== 429 && !allowed.includes(status);
  };
  const refusal = (what: string) => (call: { status: number | null; answer: string | null }) =>
    reason(`${what} was answered ${call.status}: ${call.answer?.slice(0, 300)}`);
  const late = [
    ...cancels.map((call) => ({ ...call, row: rows.get(call.requestId) })),
    ...decisions.map((call) => ({ ...call, row: bySummary.get(call.summary) })),
  ].filter(({ status }) => status === 409);
  return [
    ...creates.filter(isRefused([201])).map(refusal("a create")),
    // What is not found is told of before.
    ...reads.filter(isRefused([200, 404])).map(refusal("a read")),
    ...cancels.filter(isRefused([200, 404, 409])).map(refusal("a cancellation")),
    ...decisions.filter(isRefused([200, 409])).map(refusal("a decision")),
    ...late
      .filter(({ row, endedAt }) => row?.resolvedAt == null || row.resolvedAt > endedAt)
      .map(({ row }) => byClock(reason(`${row?.id} was called resolved before it was`))),
  ];
}

function textOf(value: string | null): string {
  return JSON.stringify(value);
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : JSON.stringify(new Date(Math.round(ms)));
}

const durable = (what: string): Flaw => ({ promise: "an acknowledged create is there", what });
const exact = (what: string): Flaw => ({ promise: "bytes are as they were sent", what });
const kept = (what: string): Flaw => ({ promise: "what was acknowledged stays", what });
const stored = (what: string): Flaw => ({ promise: "answers say what is stored", what });
const ends = (what: string): Flaw => ({ promise: "a request ends at its end", what });
const reason = (what: string): Flaw => ({ promise: "nothing is refused without a reason", what });
const crossing = (what: string): Flaw => ({ promise: "workspaces don't cross", what });
