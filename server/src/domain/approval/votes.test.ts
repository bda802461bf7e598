import assert from "node:assert/strict";
import { test } from "node:test";
import { castVote, isReachable, openStage, type Vote, type Voting } from "./votes.ts";

const ann = "ann@example.com";
const bob = "bob@example.com";
const cy = "cy@example.com";
const dee = "dee@example.com";

function votingOf(
  stages: [required: number, ...people: string[]][],
  { votersOf = new Map(), ...more }: Partial<Voting> & { votersOf?: VotersOf } = {},
): Voting {
  return {
    stages: stages.map(([required, ...people]) => ({
      required,
      seats: people.map((person) => ({ person, voters: votersOf.get(person) ?? [person] })),
    })),
    votes: [],
    revision: 1,
    excluded: [],
    ...more,
  };
}

type VotersOf = ReadonlyMap<string, readonly string[]>;

/** Votes of these people one after the other; each must count. */
function after(voting: Voting, ...voters: string[]): Voting {
  let votes = voting.votes;
  for (const voter of voters) {
    const cast = castVote({ ...voting, votes }, voter, { isEdit: false });
    assert.ok(!("refusal" in cast), `${voter}: ${"refusal" in cast && cast.refusal}`);
    votes = [...votes, cast.vote];
  }
  return { ...voting, votes };
}

const cast = (voting: Voting, voter: string, isEdit = false) => castVote(voting, voter, { isEdit });

test("a stage opens when the one before it is complete, and the last vote completes the request", () => {
  const voting = votingOf([
    [2, ann, bob, cy],
    [1, dee],
  ]);
  assert.equal(openStage(voting), 0);
  assert.deepEqual(cast(voting, dee), { refusal: "not_asked" });
  const second = after(voting, ann, cy);
  assert.equal(openStage(second), 1);
  assert.deepEqual(cast(second, bob), { refusal: "not_asked" });
  assert.deepEqual(cast(second, dee), {
    vote: { stage: 1, revision: 1, person: dee, voter: dee },
    stage: null,
  });
});

test("one person counts once, in whatever stage", () => {
  const voting = votingOf([
    [1, ann, bob],
    [1, ann, cy],
  ]);
  const second = after(voting, ann);
  assert.deepEqual(cast(second, ann), { refusal: "already_voted" });
  assert.equal("vote" in cast(second, cy), true);
});

test("who is needed later may not vote now, and others may", () => {
  const voting = votingOf([
    [1, ann, bob],
    [1, ann],
  ]);
  assert.deepEqual(cast(voting, ann), { refusal: "needed_later" });
  assert.equal("vote" in cast(voting, bob), true);
});

test("who may vote for a person in one stage may not in another", () => {
  const voting: Voting = {
    ...votingOf([]),
    stages: [
      {
        required: 1,
        seats: [
          { person: ann, voters: [cy] },
          { person: bob, voters: [bob] },
        ],
      },
      { required: 1, seats: [{ person: ann, voters: [ann], isComing: true }] },
    ],
  };
  assert.deepEqual(cast(voting, cy), { refusal: "needed_later" });
  assert.equal("vote" in cast(voting, bob), true);
  const [first, second] = voting.stages;
  assert.ok(first !== undefined && second !== undefined);
  const seats = first.seats.map((seat) =>
    seat.person === bob ? { ...seat, voters: [ann] } : seat,
  );
  assert.equal(isReachable({ ...voting, stages: [{ ...first, seats }, second] }), false);
});

test("an edit begins a revision with the editor's vote, and no earlier approval counts for it", () => {
  const voting = after(
    votingOf([
      [2, ann, bob, cy],
      [1, dee],
    ]),
    ann,
    bob,
  );
  const edited = cast(voting, dee, true);
  assert.deepEqual(edited, {
    vote: { stage: 1, revision: 2, person: dee, voter: dee },
    stage: 0,
  });
  const next = {
    ...voting,
    revision: 2,
    votes: [...voting.votes, (edited as { vote: Vote }).vote],
  };
  assert.equal(openStage(after(next, ann)), 0);
  assert.equal(openStage(after(next, ann, cy)), null);
});

test("nobody excluded approves, nor anybody for them", () => {
  const voting = votingOf([[1, ann, bob]], {
    excluded: [ann],
    votersOf: new Map([
      [ann, [ann, cy]],
      [bob, [bob, ann]],
    ]),
  });
  assert.deepEqual(cast(voting, ann), { refusal: "is_requester" });
  assert.deepEqual(cast(voting, cy), { refusal: "not_asked" });
  assert.equal("vote" in cast(voting, bob), true);
});

test("a delegate and the person together count once, and a delegate of two counts once, too", () => {
  const voting = votingOf([[2, ann, bob, cy]], {
    votersOf: new Map([
      [ann, [ann, dee]],
      [bob, [bob, dee]],
    ]),
  });
  const second = after(voting, dee);
  assert.deepEqual(second.votes[0], { stage: 0, revision: 1, person: ann, voter: dee });
  assert.deepEqual(cast(second, ann), { refusal: "seat_taken" });
  assert.deepEqual(cast(second, dee), { refusal: "already_voted" });
  assert.equal("vote" in cast(second, bob), true);
});

test("somebody for whom another has voted votes for nobody, and nobody votes for who has voted for another", () => {
  const voting = votingOf([[3, ann, bob, cy, "eve@example.com"]], {
    votersOf: new Map([
      [ann, [ann, dee]],
      [bob, [bob, ann]],
    ]),
  });
  assert.deepEqual(cast(after(voting, dee), ann), { refusal: "seat_taken" });
  const forBob = { stage: 0, revision: 1, person: bob, voter: ann };
  assert.deepEqual(cast({ ...voting, votes: [forBob] }, dee), { refusal: "seat_taken" });
  const tight = {
    ...voting,
    stages: [{ required: 3, seats: voting.stages[0]?.seats.slice(0, 3) ?? [] }],
  };
  assert.equal(isReachable(tight), true);
  const crossed = tight.stages[0]?.seats.map((seat) => ({
    ...seat,
    voters: seat.voters.filter((voter) => seat.person === cy || voter !== seat.person),
  }));
  assert.equal(isReachable({ ...tight, stages: [{ required: 3, seats: crossed ?? [] }] }), false);
});

test("a seat that was handed over is the other's alone", () => {
  const voting = votingOf([[1, ann]], { votersOf: new Map([[ann, [bob]]]) });
  assert.deepEqual(cast(voting, ann), { refusal: "not_asked" });
  assert.equal("vote" in cast(voting, bob), true);
});

test("what can't be complete any more keeps nobody from voting, and never becomes complete", () => {
  const voting = votingOf([[3, ann, bob]]);
  assert.equal(isReachable(voting), false);
  assert.equal(openStage(after(voting, ann, bob)), 0);
});

test("reachable is what trying out every way says it is, in 4,000 random cases", () => {
  let seed = 20261118;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  const everybody = [ann, bob, cy, dee, "eve@example.com"];
  const some = () => everybody.filter(() => random(2) === 0);
  let reachable = 0;
  for (let nth = 0; nth < 4_000; nth += 1) {
    const stages = Array.from(
      { length: 1 + random(3) },
      () => [random(3), ...some()] as [number, ...string[]],
    );
    const someVoters = () =>
      new Map(everybody.filter(() => random(3) === 0).map((person) => [person, some()]));
    const voting = votingOf(stages, { excluded: random(4) === 0 ? [ann] : [] });
    // In half of the cases the same people vote for somebody in every stage.
    const votersOf = someVoters();
    const isAlike = random(2) === 0;
    voting.stages = voting.stages.map(({ required, seats }) => {
      const here = isAlike ? votersOf : someVoters();
      return {
        required,
        seats: seats.map(({ person }) => ({ person, voters: here.get(person) ?? [person] })),
      };
    });
    const expected = canBeTriedOut(voting, 0, 0, new Set());
    assert.equal(isReachable(voting), expected, JSON.stringify(voting));
    reachable += Number(expected);
  }
  assert.ok(reachable > 400 && reachable < 3_600, `${reachable}`);
});

function canBeTriedOut(voting: Voting, stage: number, given: number, used: Set<string>): boolean {
  const current = voting.stages[stage];
  if (current === undefined) return true;
  if (given >= current.required) return canBeTriedOut(voting, stage + 1, 0, used);
  return current.seats.some(({ person, voters: mayVote }) => {
    if (used.has(person) || voting.excluded.includes(person)) return false;
    return mayVote.some(
      (voter) =>
        !used.has(voter) &&
        !voting.excluded.includes(voter) &&
        canBeTriedOut(voting, stage, given + 1, new Set([...used, person, voter])),
    );
  });
}
