// The entries of an export: their leaves, that each fact is the one that its entry stands for, and that no fact is gone
// but with its request, which the log itself says.

import type { Bytes } from "../proof/bytes.ts";
import { areSalted, type LogEntry, readEntry } from "../proof/log-entry.ts";
import { isTime, ShapeError } from "../proof/members.ts";
import { leavesOf } from "../proof/tree.ts";
import type { Deletions, EntryLine } from "./file.ts";
import type { Findings } from "./findings.ts";
import { type FactOfRequest, outcomes } from "./requests.ts";
import type { ExportTools } from "./tools.ts";

export type ReadEntries = {
  origin: string;
  /** One after the other. */
  leaves: Bytes;
  facts: FactOfRequest[];
  /** What the log says of itself. */
  opened: { index: number; fact: OpenedLogFact }[];
  deleted: { id: string; at: string }[];
  closed: Omit<ClosedEntry, "origin">[];
};

export type ClosedEntry = {
  origin: string;
  index: number;
  request: string | null;
  kind: string;
  at: string;
  said: string;
};

export type OpenedLogFact = { origin: string; previous: string | null; requestsBefore: number };

type Read = { line: EntryLine; entry: LogEntry };

/** Of entries of one log, in their order. */
export async function readEntries(
  lines: readonly EntryLine[],
  { findings, tools, until }: { findings: Findings; tools: ExportTools; until: string },
): Promise<ReadEntries> {
  const origin = lines[0]?.origin ?? "";
  const read = lines.flatMap((line) => readOne(line, findings) ?? []);
  const leaves = await leavesOf(
    lines.map(({ entry }) => entry),
    tools.hashMany,
  );
  const isOpen = ({ line }: Read) => line.salt !== null && line.fact !== null;
  await checkOpenings(read.filter(isOpen), { findings, tools });
  const out: ReadEntries = { origin, leaves, facts: [], opened: [], deleted: [], closed: [] };
  for (const one of read) {
    const { index } = one.line;
    const { kind, at, request } = one.entry;
    if (!isTime(at) || !(at <= until)) {
      const why = isTime(at) ? "after the export" : "which is no time as a log writes it";
      const message = `entry ${index} is dated ${JSON.stringify(at)}, ${why}`;
      findings.add("entry_malformed", message, { origin, index });
    }
    if (kind === "request.deleted") out.deleted.push({ id: one.entry.id, at });
    else if (kind === "log.opened" && isOpen(one)) {
      const fact = readOpened(one.line.fact as string);
      if (fact !== null) out.opened.push({ index, fact });
      else findings.add("entry_malformed", `entry ${index} opens no log`, { origin, index });
    } else if (!isOpen(one)) out.closed.push({ index, request, kind, at, said: saidBy(one.entry) });
    else if (request !== null) {
      const fact = factOf(one, request);
      out.facts.push(fact);
      if (fact.fact !== null || !readFacts.has(kind)) continue;
      // Nothing of today could be held against it.
      const message = `the fact of entry ${index} can't be read`;
      findings.add("entry_malformed", message, { origin, index, request });
    }
  }
  return out;
}

function readOpened(text: string): OpenedLogFact | null {
  const { origin, previous, requestsBefore } = parseQuickly(text) ?? {};
  const isPrevious = previous === null || typeof previous === "string";
  if (typeof origin !== "string" || !isPrevious || !Number.isSafeInteger(requestsBefore))
    return null;
  return { origin, previous, requestsBefore: requestsBefore as number };
}

function readOne(line: EntryLine, findings: Findings): Read | null {
  try {
    return { line, entry: quickEntry(line.entry) ?? readEntry(line.entry) };
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const { origin, index } = line;
    findings.add("entry_malformed", `entry ${index} can't be read: ${error.message}`, {
      origin,
      index,
    });
    return null;
  }
}

/** A text that JSON writes again as it was is unambiguous, and reading it so takes a tenth of the time. */
function quickEntry(text: string): LogEntry | null {
  const value = parseQuickly(text);
  if (value === null) return null;
  const { kind, id, at, request = null, salted } = value;
  const isShaped = [kind, id, at].every((each) => typeof each === "string");
  const isSalted = typeof salted === "object" && salted !== null && !Array.isArray(salted);
  if (!isShaped || !isSalted || (request !== null && typeof request !== "string")) return null;
  const fields = new Map(Object.entries(salted as Record<string, string>));
  return { kind, id, at, request, salted: fields } as LogEntry;
}

/** Null unless nothing is lost by it. */
export function parseQuickly(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject && JSON.stringify(value) === text ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

async function checkOpenings(
  read: readonly Read[],
  { findings, tools }: { findings: Findings; tools: ExportTools },
): Promise<void> {
  const list = read.map(({ line, entry }) => ({
    ...{ entry, salt: line.salt as string, field: "fact", text: line.fact as string },
  }));
  const said = await areSalted(list, tools.hashMany);
  read.forEach(({ line: { origin, index, fact }, entry }, at) => {
    const isOwn = fact?.startsWith(`{"kind":${JSON.stringify(entry.kind)}`);
    if (said[at] && isOwn) return;
    const why = said[at] ? "is of another kind" : "is not the one that it stands for";
    findings.add("opening_differs", `entry ${index}: its fact ${why}`, {
      ...{ origin, index },
      ...(entry.request === null ? {} : { request: entry.request }),
    });
  });
}

const readFacts = new Set(["request.created", "request.approved", "request.rejected"]);

function factOf({ line, entry }: Read, request: string): FactOfRequest {
  const fact = readFacts.has(entry.kind) ? parseQuickly(line.fact as string) : null;
  return { kind: entry.kind, id: entry.id, request, index: line.index, said: saidBy(entry), fact };
}

/** The same of two entries only if they stand for the same fact: a request's entries share their salt. */
function saidBy({ kind, id, at, salted }: LogEntry): string {
  return [kind, id, at, ...salted.values()].join(" ");
}

/** No workspace may keep requests for less than 30 days; the clocks of two facts may differ a little. */
const retentionMsMin = 30 * 86_400_000 - 60_000;

/** Kinds of which no request has any after its end. A page may be opened, and an action redeemed, at any time. */
const beforeEnd = new Set([
  ...["request.created", "request.vote_recorded", "request.stage_entered", "request.changed"],
  ...["request.escalated", "request.reassigned"],
  ...Object.keys(outcomes),
]);

/** An opening may be gone only with its request, and then the log says so, or will. */
export function refuseClosed(
  closed: readonly ClosedEntry[],
  { deleted, saidDeleted, writtenAt }: Deletions,
  findings: Findings,
): void {
  if (deleted.size > 0)
    findings.notes.push(`${deleted.size} requests were deleted, as the log itself says`);
  const left = new Map<string, ClosedEntry[]>();
  const doubted = new Map<string, number>();
  for (const entry of closed) {
    const { origin, index, request, kind } = entry;
    if (request !== null && (deleted.has(request) || saidDeleted.has(request))) {
      if (!deleted.has(request) && !doubted.has(request)) doubted.set(request, index);
      if (!beforeEnd.has(kind)) continue;
      const entries = left.get(request);
      if (entries === undefined) left.set(request, [entry]);
      else entries.push(entry);
      continue;
    }
    const whose = request === null ? "" : ` (${request})`;
    findings.add(
      "opening_missing",
      `entry ${index}${whose} can't be opened, and the log doesn't say that its request was deleted`,
      { origin, index, ...(request === null ? {} : { request }) },
    );
  }
  for (const [request, entries] of left) {
    const isSigned = deleted.has(request);
    const deletedAt = deleted.get(request) ?? writtenAt;
    refuseDeletion(request, { entries, deletedAt, isSigned, findings });
  }
  if (doubted.size > 0) findings.doubts.push(doubtOfDeletions(doubted));
}

const namedMax = 10;

/** By the request's id, its first entry. */
function doubtOfDeletions(doubted: ReadonlyMap<string, number>): string {
  const named = [...doubted].slice(0, namedMax).map(([id, index]) => `${id} (entry ${index})`);
  const more = doubted.size > namedMax ? ` and ${doubted.size - namedMax} more` : "";
  return `${doubted.size} requests can't be read: the export says that they were deleted, and that the log hasn't signed it yet. It may also hide them: ${named.join(", ")}${more}. Export again once the log is signed: it must then say that they were deleted`;
}

type Deletion = {
  entries: readonly ClosedEntry[];
  deletedAt: string;
  isSigned: boolean;
  findings: Findings;
};

function refuseDeletion(
  request: string,
  { entries, deletedAt, isSigned, findings }: Deletion,
): void {
  const placeOf = ({ origin, index }: ClosedEntry) => ({ origin, index, request });
  for (const kinds of [["request.created"], Object.keys(outcomes)]) {
    const [first, ...others] = entries.filter(({ kind }) => kinds.includes(kind));
    const second = others.find(({ said }) => said !== first?.said);
    if (second === undefined) continue;
    const [code, what] =
      kinds.length === 1
        ? (["creation_twice", "created"] as const)
        : (["outcome_twice", "ended"] as const);
    const message = `the log says twice that ${request} was ${what}, the second time in entry ${second.index}`;
    findings.add(code, message, placeOf(second));
  }
  // It expired before somebody wrote that down, and only its fact said when.
  const dated = entries.filter(({ kind }) => kind !== "request.expired");
  const last = dated.reduce<ClosedEntry | null>(
    (late, each) => (late === null || each.at >= late.at ? each : late),
    null,
  );
  const isEnded = entries.some(({ kind }) => Object.hasOwn(outcomes, kind));
  const isCreated = entries.some(({ kind }) => kind === "request.created");
  if (last === null) return;
  const refuse = (why: string) => {
    const message = `${request} was deleted ${why}: that was not retention`;
    findings.add("request_missing", message, placeOf(last));
  };
  // Until the log has signed a deletion, it may not have signed the request's end, either.
  if (isSigned && isCreated && !isEnded) refuse("while it was still waiting for a decision");
  else if (!(Date.parse(deletedAt) - Date.parse(last.at) >= retentionMsMin))
    refuse(`less than 30 days after ${last.kind}`);
}
