// Whether different people are left for every vote that is still needed. One person counts once, in whatever stage, as
// the one who votes or as the one for whom somebody votes. That is nearly a flow from stages over people to voters.

import { reachSearchesMax } from "./voting-limits.ts";

/** The votes that a stage still needs, and who can vote there for whom. */
export type Need = { count: number; votersOf: ReadonlyMap<string, readonly string[]> };

/**
 * Looks for a flow as if a person had the same voters in each stage, and could vote for one while another votes for them.
 * Without a flow there is no answer either; and where it breaks one of these rules, the search splits in two. That is
 * exact, and short where few people have passed their vote on. Beyond the bound it answers yes: nobody is refused for
 * what wasn't proved, and the next vote asks again.
 */
export function canFill(needs: readonly Need[]): boolean {
  const open = narrow(needs, ({ stage }) => (needs[stage]?.count ?? 0) > 0);
  return search(open, { left: reachSearchesMax });
}

function search(needs: readonly Need[], bound: { left: number }): boolean {
  if (bound.left === 0) return true;
  bound.left -= 1;
  const votes = fill(needs);
  if (votes === null) return false;
  const cases = split(needs, votes);
  return cases === null || cases.some((each) => search(each, bound));
}

/** The two cases of which one holds in every right answer; null if these votes break no rule. */
function split(needs: readonly Need[], votes: readonly GivenVote[]): Need[][] | null {
  const wrong = votes.find(({ stage, person, voter }) => !mayVote(needs[stage], person, voter));
  if (wrong !== undefined) {
    const { stage: there, person: moved } = wrong;
    // They serve in this stage alone, or not in it.
    return [
      narrow(needs, ({ stage, person }) => person !== moved || stage === there),
      narrow(needs, ({ stage, person }) => person !== moved || stage !== there),
    ];
  }
  const forOthers = new Set(votes.filter(isForAnother).map(({ voter }) => voter));
  const twice = votes.find((vote) => isForAnother(vote) && forOthers.has(vote.person))?.person;
  if (twice === undefined) return null;
  // They vote for nobody else, or nobody else votes for them.
  return [
    narrow(needs, ({ person, voter }) => voter !== twice || person === twice),
    narrow(needs, ({ person, voter }) => person !== twice || voter === twice),
  ];
}

function isForAnother({ person, voter }: GivenVote): boolean {
  return person !== voter;
}

function mayVote(need: Need | undefined, person: string, voter: string): boolean {
  return need?.votersOf.get(person)?.includes(voter) === true;
}

/** Without the votes that are ruled out, and without people for whom nobody is left. */
function narrow(needs: readonly Need[], isLeft: (vote: GivenVote) => boolean): Need[] {
  return needs.map(({ count, votersOf }, stage) => {
    const left = [...votersOf].map(([person, voters]) => {
      return [person, voters.filter((voter) => isLeft({ stage, person, voter }))] as const;
    });
    return { count, votersOf: new Map(left.filter(([, voters]) => voters.length > 0)) };
  });
}

type GivenVote = { stage: number; person: string; voter: string };

/**
 * Gives each missing vote a person and a voter of its own, or answers null. Stages, people and voters have room for one
 * each, and each missing vote looks for a way, moving earlier ones aside where that helps.
 */
function fill(needs: readonly Need[]): GivenVote[] | null {
  const flow: Flow = { personOf: new Map(), stageOf: new Map() };
  const votersOf = votersOfAll(needs);
  for (const [stage, { count }] of needs.entries()) {
    for (let nth = 0; nth < count; nth += 1) {
      if (!findWay(stage, { needs, votersOf, flow, seen: new Set() })) return null;
    }
  }
  return [...flow.personOf].flatMap(([voter, person]) => {
    const stage = flow.stageOf.get(person);
    return stage === undefined ? [] : [{ stage, person, voter }];
  });
}

/** A person's voters of all stages together. */
function votersOfAll(needs: readonly Need[]): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  for (const [person, voters] of needs.flatMap(({ votersOf }) => [...votersOf])) {
    all.set(person, new Set([...(all.get(person) ?? []), ...voters]));
  }
  return all;
}

type Flow = {
  personOf: Map<string, string>;
  stageOf: Map<string, number>;
};

type Search = {
  needs: readonly Need[];
  votersOf: ReadonlyMap<string, ReadonlySet<string>>;
  flow: Flow;
  /** What was tried already on this way. */
  seen: Set<string>;
};

/** Gives the stage one more person. */
function findWay(stage: number, way: Search): boolean {
  const { needs, flow, seen } = way;
  if (!enter(seen, `stage ${stage}`)) return false;
  for (const person of needs[stage]?.votersOf.keys() ?? []) {
    if (flow.stageOf.get(person) === stage) continue;
    if (takePerson(person, way)) {
      flow.stageOf.set(person, stage);
      return true;
    }
  }
  return false;
}

/** Frees the person for another stage, or finds them a voter. */
function takePerson(person: string, way: Search): boolean {
  const { flow, seen } = way;
  if (!enter(seen, `person ${person}`)) return false;
  const holder = flow.stageOf.get(person);
  if (holder !== undefined) return findWay(holder, way);
  return findVoter(person, way);
}

function findVoter(person: string, way: Search): boolean {
  const { flow, seen, votersOf } = way;
  for (const voter of votersOf.get(person) ?? []) {
    if (!enter(seen, `voter ${voter}`)) continue;
    const other = flow.personOf.get(voter);
    if (other === undefined || moveAside(other, way)) {
      flow.personOf.set(voter, person);
      return true;
    }
  }
  return false;
}

/** Finds another voter for a person whose voter is wanted elsewhere, or gives the person's stage somebody else. */
function moveAside(person: string, way: Search): boolean {
  const { flow, seen } = way;
  if (findVoter(person, way)) return true;
  if (!enter(seen, `person ${person}`)) return false;
  const stage = flow.stageOf.get(person);
  if (stage === undefined || !findWay(stage, way)) return false;
  flow.stageOf.delete(person);
  return true;
}

function enter(seen: Set<string>, node: string): boolean {
  if (seen.has(node)) return false;
  seen.add(node);
  return true;
}
