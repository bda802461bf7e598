import assert from "node:assert/strict";
import { test } from "node:test";
import { awaitedSeats } from "./awaited-seats.ts";
import type { SeatRecord, StageRecord, VoteRecord, VotingRecord } from "./voting-record.ts";

const at = new Date("2026-11-18T08:00:00.000Z");

function stage(number: number, required: number): StageRecord {
  return {
    ...{ number, notify: "group:finance", groupId: "grp_1", groupName: "Finance", required },
    ...{ enteredAt: at, completedAt: null, peopleToday: [], peopleOfSteps: [] },
  };
}

function seat(person: string, changes: Partial<SeatRecord> = {}): SeatRecord {
  const voter = changes.voter ?? person;
  return {
    ...{ stage: 1, person, personEmail: person, voter, voterEmail: voter, groupId: null },
    ...{ reviewerId: `rev_${voter}`, reason: "asked", givenTo: null, isValid: true },
    ...changes,
  };
}

function vote(person: string, voter = person): VoteRecord {
  return {
    ...{ revision: 1, stage: 1, person, voter, voterEmail: voter, forEmail: null },
    ...{ verdict: "approve", note: null, via: "link", at },
  };
}

function record(changes: Partial<VotingRecord>): VotingRecord {
  return {
    ...{ workspaceId: "ws_1", approvalId: "req_1", isTold: true, excluded: [], revision: 1 },
    ...{ stages: [stage(1, 2)], seats: [], votes: [], change: null, isStuck: false },
    ...{ handOver: "workspace", now: at },
    ...changes,
  };
}

const told = (changes: Partial<VotingRecord>) =>
  awaitedSeats(record(changes)).map(({ person, voters, neededInStage }) => [
    person,
    voters.map(({ voter }) => voter).join(" or "),
    neededInStage,
  ]);

test("each seat is awaited once, whoever may vote for it, and not once somebody has", () => {
  const seats = [
    seat("ann"),
    seat("bob"),
    seat("bob", { voter: "dan", reason: "away" }),
    seat("cy"),
  ];
  assert.deepEqual(told({ seats, votes: [vote("ann")] }), [
    ["bob", "bob or dan", null],
    ["cy", "cy", null],
  ]);
  assert.deepEqual(told({ seats, votes: [vote("bob", "dan")] }), [
    ["ann", "ann", null],
    ["cy", "cy", null],
  ]);
});

test("nobody waits for the requester, for those who were removed, or who passed it on", () => {
  const seats = [
    seat("ann"),
    seat("bob", { isValid: false }),
    seat("cy", { givenTo: "eve" }),
    seat("cy", { voter: "eve", reason: "handed_over" }),
  ];
  assert.deepEqual(told({ seats, excluded: ["ann"] }), [["cy", "eve", null]]);
});

test("somebody whom a later stage needs is told apart", () => {
  const stages = [stage(1, 1), stage(2, 1)];
  const seats = [seat("ann"), seat("bob"), seat("ann", { stage: 2 })];
  assert.deepEqual(told({ stages, seats }), [
    ["ann", "ann", 2],
    ["bob", "bob", null],
  ]);
});

test("people who are alike are judged alike, and a delegate for themselves", () => {
  const stages = [stage(1, 1), stage(2, 2)];
  const people = ["ann", "bob"];
  const both = people.flatMap((person) => [seat(person), seat(person, { stage: 2 })]);
  const seats = [...both, seat("cy"), seat("cy", { voter: "dan", reason: "away" })];
  assert.deepEqual(told({ stages, seats }), [
    ["ann", "ann", 2],
    ["bob", "bob", 2],
    ["cy", "cy or dan", null],
  ]);
});

test("nobody is awaited once all stages are complete", () => {
  assert.deepEqual(
    told({ stages: [stage(1, 1)], seats: [seat("ann"), seat("bob")], votes: [vote("ann")] }),
    [],
  );
});
