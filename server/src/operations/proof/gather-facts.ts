// Turns pending rows of logs into facts: reads what each stands for, finds or makes the salt of each request, and has the
// payloads digested. Of each log in the order in which they happened.

import { randomBytes } from "node:crypto";
import type { Transaction } from "../../database/database.ts";
import { type LoggedFact, saltBytes, saltedAround } from "../../domain/proof/log-entry.ts";
import * as facts from "../../domain/proof/log-facts.ts";
import { logDigestBatch, logDigestBytesMax } from "../../domain/proof/log-limits.ts";
import * as logEntries from "../../storage/proof/log-entries.ts";
import type { LogOwner, PendingFact } from "../../storage/proof/log-pending.ts";
import * as logSources from "../../storage/proof/log-sources.ts";
import * as logVotes from "../../storage/proof/log-votes.ts";

type Gathering = { tx: Transaction; now: Date };

type OwnedFact = LoggedFact & { owner: LogOwner };

/** Ids are unique within a workspace: rows are matched by both. */
type OfRequest = { workspaceId: string; approvalId: string };
const keyOf = ({ workspaceId, approvalId }: OfRequest) => `${workspaceId} ${approvalId}`;

export async function gatherFacts(
  { tx, now }: Gathering,
  pending: readonly PendingFact[],
): Promise<Map<LogOwner, LoggedFact[]>> {
  const of = (source: PendingFact["source"]) =>
    pending
      .filter((each) => each.source === source)
      .map(({ owner: workspaceId, subject: id }) => ({ workspaceId, id }));
  const events = await logSources.listEvents(tx, of("e"));
  const redemptions = await logSources.listRedemptions(tx, of("r"));
  const openings = await logSources.listOpenings(tx, of("o"));
  const activity = await logSources.listActivity(tx, of("a"));
  const saltOf = await readSalts(tx, [...events, ...redemptions, ...openings]);
  const found = [
    ...(await eventFacts({ tx, saltOf }, events)),
    ...redemptions.map((each) => redeemed(each, saltOf)),
    ...openings.map((each) => opened(each, saltOf)),
    ...activity.map(acted),
    ...pending.filter(({ source }) => source === "d").map((each) => told(each, now)),
  ];
  const all = [...found, ...gone(pending, found, now)]
    .map((fact) => datedBy(fact, now))
    .sort(inOrder);
  return Map.groupBy(all, ({ owner }) => owner);
}

type SaltOf = (request: OfRequest) => Buffer;

async function readSalts(tx: Transaction, about: readonly OfRequest[]): Promise<SaltOf> {
  const found = await logEntries.findSalts(tx, eachOnce(about));
  const salts = new Map(found.map((each) => [keyOf(each), each.salt]));
  return (request) => {
    const key = keyOf(request);
    const known = salts.get(key);
    if (known !== undefined) return known;
    const salt = randomBytes(saltBytes);
    salts.set(key, salt);
    return salt;
  };
}

function eachOnce(requests: readonly OfRequest[]): OfRequest[] {
  return [...new Map(requests.map((each) => [keyOf(each), each])).values()];
}

type EventParts = { tx: Transaction; saltOf: SaltOf };

async function eventFacts(
  parts: EventParts,
  events: readonly logSources.LoggedEvent[],
): Promise<OwnedFact[]> {
  const digests = await digestAll(parts, events);
  const voted = events.filter(({ kind }) => votedKinds.has(kind));
  const votesOf = Map.groupBy(await logVotes.listVotes(parts.tx, eachOnce(voted)), keyOf);
  return events.map((event) => {
    const digested = digests.get(event) ?? {};
    const { payload, effective } = digested;
    return {
      owner: event.workspaceId,
      kind: event.kind,
      id: event.id,
      at: event.at,
      request: event.approvalId,
      salt: parts.saltOf(event),
      fact: factOf(event, digested, votesOf.get(keyOf(event)) ?? []),
      payload: event.kind === "request.created" ? (payload?.text?.salted ?? undefined) : undefined,
      effective: effective?.text?.salted,
    };
  });
}

const votedKinds = new Set(["request.vote_recorded", "request.approved", "request.rejected"]);

type Digested = Awaited<ReturnType<typeof logSources.digestTexts>>[number];
type Digests = { payload?: Digested; effective?: Digested };

/** A few statements, so that none of them digests more than a share of a second's worth. */
async function digestAll(
  { tx, saltOf }: EventParts,
  events: readonly logSources.LoggedEvent[],
): Promise<Map<logSources.LoggedEvent, Digests>> {
  const digests = new Map<logSources.LoggedEvent, Digests>();
  const jobs = events.flatMap((event) => jobsOf(event, saltOf(event)));
  for (const batch of inBatches(jobs)) {
    const results = await logSources.digestTexts(tx, batch);
    for (const [at, { event, fields }] of batch.entries()) {
      const result = results[at];
      if (result === undefined) throw new Error("a text was not digested");
      const own = Object.fromEntries(fields.map((field) => [field, result]));
      digests.set(event, { ...digests.get(event), ...own });
    }
  }
  return digests;
}

type Field = "payload" | "effective";

type Job = logSources.TextJob & {
  event: logSources.LoggedEvent;
  /** One text may be both: nobody edited it. */
  fields: readonly Field[];
  bytes: number;
};

function jobsOf(event: logSources.LoggedEvent, salt: Buffer): Job[] {
  const { kind, workspaceId, approvalId, detail, approval } = event;
  const job = (salted: Field, text: Job["text"], fields: Job["fields"] = [salted]): Job => ({
    ...{ event, workspaceId, approvalId, fields, text, bytes: approval.bytes },
    ...saltedAround(salt, salted),
    withOthers: kind === "request.created",
  });
  switch (kind) {
    case "request.created":
    case "request.rejected":
      return [job("payload", "payload")];
    case "request.approved":
      // The entry of a decision holds only the effective payload salted.
      return approval.isEdited
        ? [job("payload", "payload"), job("effective", "effective")]
        : [job("effective", "effective", ["payload", "effective"])];
    case "request.changed":
      return [job("effective", { revision: Number(detail?.revision) })];
    default:
      return [];
  }
}

function* inBatches(jobs: readonly Job[]): Generator<Job[]> {
  let batch: Job[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const isFull = batch.length >= logDigestBatch || bytes + job.bytes > logDigestBytesMax;
    if (batch.length > 0 && isFull) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(job);
    bytes += job.bytes;
  }
  if (batch.length > 0) yield batch;
}

function factOf(
  { kind, approvalId: request, at, detail, approval }: logSources.LoggedEvent,
  { payload, effective }: Digests,
  votes: readonly logVotes.LoggedVote[],
): string {
  switch (kind) {
    case "request.created":
      return facts.createdFact({
        ...{ request, at },
        summary: approval.summary,
        agentName: approval.agentName,
        requestedBy: approval.requestedBy,
        apiKey: approval.keyId,
        approver: approval.approverEmail,
        group: approval.group,
        callbackUrl: approval.callbackUrl,
        channels: approval.channels,
        audience: approval.audience,
        needsSignature: approval.needsSignature,
        expiresAt: approval.expiresAt,
        stages: approval.stages,
        payload: toDigest(payload),
        texts: textsOf(payload),
      });
    case "request.approved":
    case "request.rejected":
      return facts.decisionFact(kind, {
        ...{ request, at },
        by: approval.decidedBy,
        note: approval.note,
        edited: approval.isEdited,
        stages: approval.stages,
        needsSignature: approval.needsSignature,
        payload: toDigest(payload),
        effective: toDigest(effective),
        votes: counting(votes, kind === "request.approved" ? "approve" : "reject"),
      });
    case "request.vote_recorded":
      return facts.voteFact({ request, at, votes: votes.filter(isOf(at, detail)).map(toVote) });
    case "request.changed":
      return facts.requestEventFact({ kind, request, at, detail, effective: toDigest(effective) });
    default:
      return facts.requestEventFact({ kind, request, at, detail });
  }
}

/** The event was written with the vote, at the same moment. */
function isOf(at: Date, detail: Record<string, unknown> | null) {
  return (vote: logVotes.LoggedVote) =>
    vote.at.getTime() === at.getTime() && vote.email === detail?.byEmail;
}

/** Votes on the last revision that count; of a rejection, the one that rejected. */
function counting(votes: readonly logVotes.LoggedVote[], verdict: facts.VoteFact["verdict"]) {
  const last = Math.max(...votes.map(({ revision }) => revision));
  return votes
    .filter((vote) => vote.revision === last && vote.verdict === verdict && vote.isCounted)
    .map(toVote);
}

function toVote(logged: logVotes.LoggedVote): facts.VoteFact {
  const { workspaceId: _, approvalId: __, isCounted: ___, ...vote } = logged;
  return vote;
}

function toDigest(digested: Digested | undefined): facts.TextDigest {
  const text = digested?.text ?? null;
  return text === null ? null : { digest: text.digest.toString("base64url"), bytes: text.bytes };
}

function textsOf(digested: Digested | undefined): facts.RequestFact["texts"] {
  const text = (digest: Buffer | null | undefined) => digest?.toString("base64url") ?? null;
  const others = digested?.others;
  return {
    metadata: text(others?.metadata),
    agentState: text(others?.agentState),
    reasoning: text(others?.reasoning),
    recentActions: text(others?.recentActions),
  };
}

function redeemed(redemption: logSources.LoggedRedemption, saltOf: SaltOf): OwnedFact {
  const { workspaceId: owner, approvalId: request, at, apiKey } = redemption;
  return {
    ...{ owner, kind: "request.redeemed", id: request, at, request, salt: saltOf(redemption) },
    fact: facts.redeemedFact({ request, at, apiKey }),
  };
}

function opened(opening: logSources.LoggedOpening, saltOf: SaltOf): OwnedFact {
  const { workspaceId: owner, id, approvalId: request, at, email } = opening;
  return {
    ...{ owner, kind: "request.opened", id, at, request, salt: saltOf(opening) },
    fact: facts.openedFact({ request, at, reviewer: id, email }),
  };
}

function acted({ workspaceId: owner, id, ...activity }: logSources.LoggedActivity): OwnedFact {
  return {
    ...{ owner, kind: `activity.${activity.action}`, id, at: activity.at, request: null },
    ...{ salt: randomBytes(saltBytes), fact: facts.activityFact(activity) },
  };
}

/** The log's own kinds are for the log alone. */
function told({ owner, subject: id, detail }: PendingFact, now: Date): OwnedFact {
  const { kind: given, ...rest } = detail ?? {};
  const kind = typeof given === "string" ? given : "fact";
  const said = typeof rest.at === "string" ? new Date(rest.at) : now;
  const at = Number.isNaN(said.getTime()) ? now : said;
  return {
    ...{ owner, kind, id, at, request: null, salt: randomBytes(saltBytes) },
    fact: facts.toldFact(kind, at, rest),
  };
}

/** A pending row whose own row was deleted since still gets an entry: a gap would need explaining, too. */
function gone(pending: readonly PendingFact[], found: readonly OwnedFact[], at: Date) {
  const known = new Set(found.map(({ owner, id }) => `${owner} ${id}`));
  return pending
    .filter(({ owner, source, subject }) => source !== "d" && !known.has(`${owner} ${subject}`))
    .map(({ owner, subject: id }): OwnedFact => {
      const kind = "fact.gone";
      return {
        ...{ owner, kind, id, at, request: null, salt: randomBytes(saltBytes) },
        fact: facts.goneFact(kind, id),
      };
    });
}

/**
 * All times are the database's own, so nothing is of later than now, or of a year that a log can't write: with such an
 * entry no export would be valid any more. A transaction that ends sees what began after it.
 */
function datedBy(fact: OwnedFact, now: Date): OwnedFact {
  const isDated = fact.at.getUTCFullYear() >= 0 && fact.at.getTime() <= now.getTime() + aheadMsMax;
  return isDated ? fact : { ...fact, at: now };
}

const aheadMsMax = 60_000;

/** By time; what is created comes before what happens to it. */
function inOrder(one: LoggedFact, other: LoggedFact): number {
  const rank = ({ kind }: LoggedFact) => (kind === "request.created" ? 0 : 1);
  return (
    one.at.getTime() - other.at.getTime() ||
    rank(one) - rank(other) ||
    (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
  );
}
