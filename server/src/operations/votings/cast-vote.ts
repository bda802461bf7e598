// Records one person's vote. Vote, revision, stage, events, mails and the resolution are one transaction under the
// request's lock, so racing voters come one after the other, and each learns what the one before has done.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { realEdit } from "../../domain/approval/review-decision.ts";
import { askedIn, seatingOf } from "../../domain/approval/seating.ts";
import { castVote, placeFor, type VoteRefusal } from "../../domain/approval/votes.ts";
import {
  forWhom,
  openStageOf,
  placeOf,
  rulesOf,
  type VoteRecord,
  type VotingRecord,
} from "../../domain/approval/voting-record.ts";
import type { ShownEvidence } from "../../domain/proof/evidence.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import { placeShown } from "../../domain/shown/reviewer-place.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import * as approvalResolution from "../../storage/approvals/approval-resolution.ts";
import * as evidenceTable from "../../storage/proof/evidence.ts";
import * as seats from "../../storage/votings/seats.ts";
import * as votingEvents from "../../storage/votings/voting-events.ts";
import * as votings from "../../storage/votings/votings.ts";
import { checkPeople } from "./check-people.ts";
import { seatPeople } from "./seat-people.ts";

export type Ballot = {
  /** The voter's own address. */
  email: string;
  verdict: "approve" | "reject";
  note: string | null;
  edit: JsonText | null;
  /** The revision that they were shown. */
  revision: number;
  /** Where it would count, as they were shown it; null if nothing was said. */
  place?: string | null;
  via: VoteRecord["via"];
  evidence: ShownEvidence;
};

export type Counted = {
  record: VotingRecord;
  at: Date;
  /** Set when this vote has ended the request. */
  resolution: approvalResolution.DecidedResolution | null;
};

export type Uncounted =
  /** It is no longer pending. */
  | { refusal: "closed" }
  | { refusal: VoteRefusal | "other_revision"; record: VotingRecord }
  | OtherPlace;

/** They may vote, but in another stage or for somebody else than they read. */
export type OtherPlace = PlaceOfVote & {
  refusal: "other_place";
  record: VotingRecord;
  /** Without their edit it would count as they read. */
  isByEdit: boolean;
};

export type PlaceOfVote = { stage: number; forEmail: string | null };

export type VotingParts = { db: Database; keyring: Keyring };

export async function recordVote(
  { db, keyring }: VotingParts,
  where: votings.Where,
  ballot: Ballot,
): Promise<Counted | Uncounted> {
  return inTransaction(db, async (tx) => {
    const locked = await votings.lock(tx, where);
    if (locked === null || !locked.isPending || !locked.hasSeats) return { refusal: "closed" };
    await votings.lockMemberships(tx, where, personOf(ballot.email));
    const record = await votings.get(tx, where);
    // The time may have ended while the vote waited for its place in a group.
    if (record.now >= locked.expiresAt) return { refusal: "closed" };
    if (record.revision !== ballot.revision) return { refusal: "other_revision", record };
    const count = ballot.verdict === "reject" ? reject : approve;
    return count({ tx, keyring, where, record, payload: locked.payload }, ballot);
  });
}

function otherPlace(
  record: VotingRecord,
  { email, place = null, verdict }: Ballot,
  { stage, forEmail }: VoteRecord,
): OtherPlace | null {
  if (place === null || isShownAs(place, { stage, forEmail })) return null;
  const isAsShown = place === placeNow(record, email);
  // Who is needed later may only reject here, and is shown no more than that.
  if (verdict === "reject" && isAsShown) return null;
  return { refusal: "other_place", record, stage, forEmail, isByEdit: isAsShown };
}

/** Whether what the reader was shown says that their vote counts here. */
function isShownAs(place: string, { stage, forEmail }: PlaceOfVote): boolean {
  return place === placeShown({ stage, you: { kind: "asked", for: forEmail } });
}

/** Somebody voted, or an absence began or ended, while the page was open. */
export function elsewhere(place: PlaceOfVote): string {
  return `Your vote would now count in ${inWords(place)}, which the page didn’t show.`;
}

export function inWords({ stage, forEmail }: PlaceOfVote): string {
  return forEmail === null ? `stage ${stage}` : `stage ${stage} for ${forEmail}`;
}

/** Where somebody stands, as a page that is loaded now says it. */
function placeNow(record: VotingRecord, email: string): string | null {
  return placeShown({ stage: openStageOf(record), you: placeOf(record, email) });
}

type Counting = {
  tx: Transaction;
  keyring: Keyring;
  where: votings.Where;
  record: VotingRecord;
  /** The agent's. */
  payload: JsonText | null;
};

/** One rejection ends the request, in any stage. */
async function reject(
  { tx, where, record }: Counting,
  ballot: Ballot,
): Promise<Counted | Uncounted> {
  const voter = personOf(ballot.email);
  const place = placeFor(rulesOf(record), voter);
  if ("refusal" in place) return { refusal: place.refusal, record };
  const vote = voteOf(record, ballot, { ...place, voter, revision: record.revision });
  const other = otherPlace(record, ballot, vote);
  if (other !== null) return other;
  await votings.insertVote(tx, where, vote);
  await evidenceTable.insert(tx, where, vote, ballot.evidence);
  const { note, email: byEmail } = ballot;
  const resolution = { status: "REJECTED", byEmail, note } as const;
  return conclude({ tx, where }, vote, resolution);
}

async function approve(counting: Counting, ballot: Ballot): Promise<Counted | Uncounted> {
  const { tx, where, record, payload } = counting;
  const current = record.revision === 1 ? payload : await currentText(counting);
  const edit = asAgentWrote(payload, realEdit(current, ballot.edit));
  const cast = castVote(rulesOf(record), personOf(ballot.email), { isEdit: edit !== null });
  if ("refusal" in cast) return { refusal: cast.refusal, record };
  const vote = voteOf(record, ballot, cast.vote);
  const other = otherPlace(record, ballot, vote);
  if (other !== null) return other;
  const { at, voterEmail: byEmail, revision, note } = vote;
  if (edit !== null) {
    await votings.insertRevision(tx, where, { number: revision, payload: edit, byEmail, at });
  }
  await votings.insertVote(tx, where, vote);
  await evidenceTable.insert(tx, where, vote, ballot.evidence);
  const open = cast.stage === null ? null : cast.stage + 1;
  await votings.setStage(tx, where, { open, at });
  if (open === null) {
    const text = edit ?? current;
    const modified = revision === 1 ? null : realEdit(payload, text);
    return conclude({ tx, where }, vote, { status: "APPROVED", byEmail, note, edit: modified });
  }
  return goOn(counting, vote, { open, isEdit: edit !== null });
}

/** The agent's value again is the agent's text again, to the byte: that is what would be executed. */
function asAgentWrote(payload: JsonText | null, edit: JsonText | null): JsonText | null {
  return payload !== null && edit !== null && realEdit(payload, edit) === null ? payload : edit;
}

function currentText({ tx, where, record }: Counting): Promise<JsonText | null> {
  return votings.findRevision(tx, where, record.revision);
}

function voteOf(
  record: VotingRecord,
  { email, verdict, note, via }: Ballot,
  cast: { stage: number; person: string; voter: string; revision: number },
): VoteRecord {
  return {
    ...{ revision: cast.revision, stage: cast.stage + 1, person: cast.person, voter: cast.voter },
    ...{ voterEmail: email, forEmail: forWhom(record, cast), verdict, note, via, at: record.now },
  };
}

type Place = Pick<Counting, "tx" | "where">;

/** The last vote: the request ends with it. */
async function conclude(
  { tx, where }: Place,
  vote: VoteRecord,
  resolution: approvalResolution.DecidedResolution,
): Promise<Counted> {
  const record = await votings.publish(tx, where);
  await tellVote({ tx, where }, vote);
  const { workspaceId, approvalId: id } = where;
  await approvalResolution.resolveByVotes(tx, { workspaceId, id }, resolution, vote.at);
  return { record, at: vote.at, resolution };
}

/** More votes are needed, perhaps in another stage, perhaps again because of an edit. */
async function goOn(
  { tx, keyring, where, record: before }: Counting,
  vote: VoteRecord,
  { open, isEdit }: { open: number; isEdit: boolean },
): Promise<Counted> {
  const { at } = vote;
  const isOtherStage = open !== openStageOf(before);
  if (isOtherStage) await enterStage({ tx, keyring, where, record: before }, open, at);
  const record = await votings.publish(tx, where);
  await tellVote({ tx, where }, vote);
  const told = isEdit ? approversOf(before) : [];
  if (told.length > 0) {
    const detail = {
      byEmail: vote.voterEmail,
      revision: vote.revision,
      fromRevision: before.revision,
    };
    const reviewerIds = told.filter((id) => id !== linkOf(before, vote.voter));
    await votingEvents.insert(tx, where, { kind: "request.changed", at, detail, reviewerIds });
  }
  if (isOtherStage) {
    const reviewerIds = askedIn(record, open).filter((id) => !told.includes(id));
    const detail = { stage: open, byEmail: vote.voterEmail };
    await votingEvents.insert(tx, where, {
      kind: "request.stage_entered",
      at,
      detail,
      reviewerIds,
    });
  }
  return { record: await checkPeople(tx, where, record), at, resolution: null };
}

/** Its people are fixed when it is entered for the first time. */
async function enterStage(
  { tx, keyring, where, record }: Omit<Counting, "payload">,
  number: number,
  at: Date,
): Promise<void> {
  const stage = record.stages[number - 1];
  if (stage === undefined) throw new Error(`${where.approvalId} has no stage ${number}`);
  await votings.enterStage(tx, where, { stage: number, at });
  if (stage.enteredAt !== null) return;
  const { groupId } = stage;
  const candidates = stage.peopleToday.map((email) => ({ email, groupId }));
  const away = await seats.listAway(tx, where.workspaceId);
  const { excluded } = record;
  const seating = seatingOf(candidates, { reason: "asked", excluded, away });
  await seatPeople(tx, keyring, { ...where, stage: number }, seating);
}

/** The links of those whose approval no longer counts after an edit. */
function approversOf(before: VotingRecord): string[] {
  const links = before.votes
    .filter(({ revision, verdict }) => revision === before.revision && verdict === "approve")
    .flatMap(({ voter }) => linkOf(before, voter) ?? []);
  return [...new Set(links)];
}

function linkOf({ seats: all }: VotingRecord, voter: string): string | undefined {
  return all.find((seat) => seat.voter === voter)?.reviewerId;
}

async function tellVote({ tx, where }: Place, vote: VoteRecord): Promise<void> {
  const { at, stage, voterEmail: byEmail, revision } = vote;
  const detail = { stage, byEmail, revision };
  await votingEvents.insert(tx, where, { kind: "request.vote_recorded", at, detail });
}
