// Takes the steps whose time has come: a stage that is still open asks more people. What a step does and that it is done
// are one transaction, so it happens once, however many workers race and wherever one of them is killed.

import { inTransaction, type Transaction } from "../../database/database.ts";
import {
  type Candidate,
  delegateFor,
  type SeatingRules,
  seatingOf,
} from "../../domain/approval/seating.ts";
import { openStageOf, seatedIn, type VotingRecord } from "../../domain/approval/voting-record.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import * as seats from "../../storage/votings/seats.ts";
import * as steps from "../../storage/votings/steps.ts";
import * as votingEvents from "../../storage/votings/voting-events.ts";
import * as votings from "../../storage/votings/votings.ts";
import type { VotingParts } from "./cast-vote.ts";
import { checkPeople } from "./check-people.ts";
import { eachAlone, noFaults, type RowFaults } from "./each-alone.ts";
import { seatPeople } from "./seat-people.ts";

/** Takes up to `limit` steps. Answers how many. */
export async function takeSteps(
  parts: VotingParts,
  limit: number,
  faults: RowFaults = noFaults,
): Promise<number> {
  const due = await steps.listDue(parts.db, limit, faults.list());
  return (await eachAlone(due, (step) => takeStep(parts, step), faults)).length;
}

async function takeStep({ db, keyring }: VotingParts, step: steps.DueStep): Promise<void> {
  await inTransaction(db, async (tx) => {
    const locked = await votings.lock(tx, step);
    const isPending = locked?.isPending ?? false;
    const record = isPending ? await votings.get(tx, step) : null;
    if (record === null) {
      await steps.finish(tx, step, "moot");
    } else if (openStageOf(record) !== step.stage) {
      // Its stage is complete, and may be open again after an edit. The time is counted anew then.
      await steps.unarm(tx, step);
    } else {
      await escalate({ tx, keyring, record }, step);
    }
  });
}

type Escalating = { tx: Transaction; keyring: VotingParts["keyring"]; record: VotingRecord };

async function escalate({ tx, keyring, record }: Escalating, step: steps.DueStep): Promise<void> {
  const rules: SeatingRules = {
    reason: "escalated",
    excluded: record.excluded,
    away: await seats.listAway(tx, step.workspaceId),
    seated: seatedIn(record, step.stage),
  };
  const candidates = await steps.listPeople(tx, step);
  const seating = seatingOf(candidates, rules);
  const mailed = mailedOf(candidates, { record, rules });
  const isTaken = await steps.finish(tx, step, seating.seats.length === 0 ? "nobody_new" : "asked");
  if (!isTaken) return;
  const reviewerIds = await seatPeople(tx, keyring, step, { ...seating, mailed });
  await steps.noteEscalated(tx, step);
  const after = await votings.publish(tx, step);
  const { stage, afterMinutes } = step;
  await votingEvents.insert(tx, step, {
    ...{ kind: "request.escalated", at: record.now, detail: { stage, afterMinutes }, reviewerIds },
  });
  await checkPeople(tx, step, after);
}

/** Nobody who has voted for this text; if that is somebody's delegate, then the person. */
function mailedOf(
  candidates: readonly Candidate[],
  { record, rules }: { record: VotingRecord; rules: SeatingRules },
): string[] {
  const current = record.votes.filter(({ revision }) => revision === record.revision);
  const voted = new Set(current.flatMap(({ person, voter }) => [person, voter]));
  const hasVoted = (email: string | null) => email !== null && voted.has(personOf(email));
  const away = rules.away.filter(
    ({ person }) => !hasVoted(delegateFor(person, rules.away, rules.excluded)?.voterEmail ?? null),
  );
  const asked = candidates.filter(({ email }) => !hasVoted(email));
  return seatingOf(asked, { ...rules, away }).mailed;
}
