// The rules of votes, written a second time and as plainly as possible, for a handful of people: what a request looks
// like, what each thing that can happen does to it, and which answers are right. It searches where the program computes,
// and imports nothing of it.

export type Absence = { email: string; delegate: string };

/** The people around a request. Groups list addresses, the oldest member first. */
export type World = {
  groups: Map<string, string[]>;
  members: string[];
  away: Absence[];
  keyOwner: string | null;
};

/** A place in a stage: whose it is, and one who may vote for it. */
export type Seat = {
  stage: number;
  person: string;
  personEmail: string;
  group: string | null;
  voter: string;
  voterEmail: string;
  reason: "asked" | "escalated" | "away" | "handed_over";
  isGiven: boolean;
  /** It is only for their time, that of the voter who is away last. */
  absences?: Absence[];
};

export type Vote = { revision: number; stage: number; person: string; voter: string };
export type Stage = { notify: string; required: number; isEntered: boolean };
export type Step = {
  stage: number;
  number: number;
  notify: string;
  isArmed: boolean;
  isDone: boolean;
};

export type Request = {
  status: "PENDING" | "APPROVED" | "REJECTED" | "EXPIRED" | "CANCELLED";
  requester: string | null;
  /** The key's owner when it was created, and everybody to whom the key was given since. */
  owners: string[];
  stages: Stage[];
  /** The payload of each revision; the first is the agent's. */
  texts: string[];
  seats: Seat[];
  approvals: Vote[];
  steps: Step[];
  isReminded: boolean;
};

export type Ballot = {
  email: string;
  verdict: "approve" | "reject";
  /** The revision that the voter was shown. */
  revision: number;
  edit: string | null;
};

export const handOversMax = 3;
export const delegatesMax = 3;

/** ann+tag@x.example and ANN@x.example are one person. */
export function personOf(email: string): string {
  const [local = "", domain = ""] = email.toLowerCase().split("@");
  const [name = ""] = local.split("+");
  return `${name}@${domain}`;
}

export function isSameValue(one: string, other: string): boolean {
  return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
}

export function revisionOf(request: Request): number {
  return request.texts.length;
}

export function excludedFrom(world: World, { requester, owners }: Request): Set<string> {
  const emails = [requester, world.keyOwner, ...owners];
  return new Set(emails.flatMap((email) => (email === null ? [] : [personOf(email)])));
}

/** The approvals of the current text by people who may approve. */
export function countedIn(world: World, request: Request): Vote[] {
  const excluded = excludedFrom(world, request);
  return currentVotes(request).filter(
    ({ person, voter }) => !excluded.has(person) && !excluded.has(voter),
  );
}

function currentVotes(request: Request): Vote[] {
  return request.approvals.filter(({ revision }) => revision === revisionOf(request));
}

/** They have voted, or somebody has for them. */
function isUsed(votes: readonly Vote[], someone: string): boolean {
  return votes.some(({ person, voter }) => person === someone || voter === someone);
}

/** From 1 on; null when every stage has its people. */
export function openStage(world: World, request: Request): number | null {
  const counted = countedIn(world, request);
  const at = request.stages.findIndex(
    ({ required }, index) => counted.filter(({ stage }) => stage === index + 1).length < required,
  );
  return at === -1 ? null : at + 1;
}

/** The people whom a name asks, at this moment. */
export function peopleOf(world: World, notify: string): { email: string; group: string | null }[] {
  if (!notify.startsWith("group:")) return [{ email: notify, group: null }];
  const group = notify.slice("group:".length);
  return (world.groups.get(group) ?? []).map((email) => ({ email, group }));
}

function has(emails: readonly string[], email: string): boolean {
  return emails.some((each) => each.toLowerCase() === email.toLowerCase());
}

export function isColleague(world: World, email: string): boolean {
  return has([...world.members, ...[...world.groups.values()].flat()], email);
}

function mayVote(world: World, request: Request, seat: Seat): boolean {
  const excluded = excludedFrom(world, request);
  return (
    !seat.isGiven &&
    isInTime(world, seat) &&
    !excluded.has(seat.person) &&
    !excluded.has(seat.voter) &&
    (seat.group === null || has(world.groups.get(seat.group) ?? [], seat.personEmail)) &&
    (seat.voter === seat.person || isColleague(world, seat.voterEmail))
  );
}

function isInTime(world: World, { absences = [] }: Seat): boolean {
  return absences.every((absence) => world.away.includes(absence));
}

/** Who could vote for whom in a stage, counting those whom it or one of its steps would still ask. */
function votersIn(world: World, request: Request, stage: number): Map<string, Set<string>> {
  const rows = request.seats.filter((seat) => seat.stage === stage);
  const voters = new Map(rows.map(({ person }) => [person, new Set<string>()]));
  for (const seat of rows)
    if (mayVote(world, request, seat)) voters.get(seat.person)?.add(seat.voter);
  const { notify = "", isEntered = true } = request.stages[stage - 1] ?? {};
  const names = request.steps.filter((step) => step.stage === stage && !step.isDone);
  const coming = [...(isEntered ? [] : [notify]), ...names.map((step) => step.notify)];
  const excluded = excludedFrom(world, request);
  for (const { email } of coming.flatMap((name) => peopleOf(world, name))) {
    const person = personOf(email);
    const isThere = (voters.get(person)?.size ?? 0) > 0;
    if (!isThere) voters.set(person, new Set(excluded.has(person) ? [] : [person]));
  }
  return voters;
}

/** Tries every way to give each missing vote a person of its own, and each of them a voter of their own. */
export function isReachable(world: World, request: Request): boolean {
  const counted = countedIn(world, request);
  const missing = request.stages.map(({ required }, index) =>
    Math.max(0, required - counted.filter(({ stage }) => stage === index + 1).length),
  );
  const used = currentVotes(request);
  const stages = request.stages.map((_, index) => votersIn(world, request, index + 1));
  const people = [...new Set(stages.flatMap((voters) => [...voters.keys()]))].filter(
    (person) => !isUsed(used, person),
  );
  const failed = new Set<string>();
  const fill = (left: readonly number[], at: number, taken: readonly string[]): boolean => {
    if (left.every((count) => count === 0)) return true;
    const person = people[at];
    if (person === undefined) return false;
    const known = JSON.stringify([left, at, taken]);
    if (failed.has(known)) return false;
    for (const [stage, count] of left.entries()) {
      if (count === 0) continue;
      if (taken.includes(person)) continue;
      for (const voter of stages[stage]?.get(person) ?? []) {
        if (taken.includes(voter) || isUsed(used, voter)) continue;
        const rest = left.map((each, index) => (index === stage ? each - 1 : each));
        if (fill(rest, at + 1, [...taken, person, voter].sort())) return true;
      }
    }
    if (fill(left, at + 1, taken)) return true;
    failed.add(known);
    return false;
  };
  return fill(missing, 0, []);
}

/** Why somebody has no vote just now, or the people for whom they may give one. */
function placesOf(world: World, request: Request, voter: string): string | string[] {
  if (excludedFrom(world, request).has(voter)) return "is_requester";
  const used = currentVotes(request);
  if (used.some((vote) => vote.voter === voter)) return "already_voted";
  const open = openStage(world, request);
  const held = request.seats.filter(
    (seat) => seat.stage === open && seat.voter === voter && mayVote(world, request, seat),
  );
  if (held.length === 0) return "not_asked";
  if (isUsed(used, voter)) return "seat_taken";
  const free = held.map(({ person }) => person).filter((each) => !isUsed(used, each));
  return free.length === 0 ? "seat_taken" : free;
}

export type Verdict = { refusal: string } | { people: string[] };

/** Whether a vote counts, and for whom it may: for the voter themselves before anybody else. */
export function judge(world: World, request: Request, ballot: Ballot): Verdict {
  if (request.status !== "PENDING") return { refusal: "closed" };
  if (ballot.revision !== revisionOf(request)) return { refusal: "other_revision" };
  const voter = personOf(ballot.email);
  const places = placesOf(world, request, voter);
  if (typeof places === "string") return { refusal: places };
  const isAllowed = (person: string) => {
    const before = isEdit(request, ballot) ? edited(request, ballot.edit ?? "") : request;
    if (!isReachable(world, before)) return true;
    return isReachable(
      world,
      voted(before, { person, voter, stage: openStage(world, request) ?? 0 }),
    );
  };
  const people =
    ballot.verdict === "reject" ? shownOf(world, request, voter, places) : places.filter(isAllowed);
  if (people.length === 0) return { refusal: "needed_later" };
  return { people: people.includes(voter) ? [voter] : people };
}

/** The places whose approval counts as the request is. Where none does, somebody may still reject, or pass any of them on. */
function shownOf(world: World, request: Request, voter: string, places: string[]): string[] {
  const stage = openStage(world, request) ?? 0;
  const isHopeless = !isReachable(world, request);
  const allowed = places.filter(
    (person) => isHopeless || isReachable(world, voted(request, { person, voter, stage })),
  );
  return allowed.length === 0 ? places : allowed;
}

function isEdit(request: Request, { edit }: Ballot): boolean {
  return edit !== null && !isSameValue(edit, request.texts.at(-1) ?? "");
}

/** The agent's own value again is the agent's own text again. */
function edited(request: Request, text: string): Request {
  const [first = ""] = request.texts;
  return { ...request, texts: [...request.texts, isSameValue(text, first) ? first : text] };
}

function voted(request: Request, vote: { person: string; voter: string; stage: number }): Request {
  return {
    ...request,
    approvals: [...request.approvals, { ...vote, revision: revisionOf(request) }],
  };
}

/** The request after a vote that counts for this person. */
export function cast(world: World, request: Request, ballot: Ballot, person: string): Request {
  if (ballot.verdict === "reject") return { ...request, status: "REJECTED" };
  const stage = openStage(world, request) ?? 0;
  const before = isEdit(request, ballot) ? edited(request, ballot.edit ?? "") : request;
  const after = voted(before, { person, voter: personOf(ballot.email), stage });
  const open = openStage(world, after);
  if (open === null) return { ...after, status: "APPROVED" };
  return open === stage ? after : entered(world, after, open);
}

/** A stage asks its people when it is entered for the first time. Its steps count their time anew each time. */
export function entered(world: World, request: Request, number: number): Request {
  const stage = request.stages[number - 1];
  if (stage === undefined) throw new Error(`no stage ${number}`);
  const steps = request.steps.map((step) =>
    step.stage === number && !step.isDone ? { ...step, isArmed: true } : step,
  );
  const stages = request.stages.map((each) =>
    each === stage ? { ...each, isEntered: true } : each,
  );
  const after = { ...request, steps, stages };
  return stage.isEntered ? after : seated(world, after, number, stage.notify, "asked");
}

/**
 * Everybody once, for whom nobody may vote in the stage yet; and beside somebody who is away, their delegate. A place that
 * was worth nothing any more is theirs again.
 */
function seated(
  world: World,
  request: Request,
  stage: number,
  notify: string,
  reason: "asked" | "escalated",
): Request {
  const excluded = excludedFrom(world, request);
  const seats: Seat[] = [];
  for (const { email, group } of peopleOf(world, notify)) {
    const person = personOf(email);
    const isThere =
      seats.some((seat) => seat.person === person) ||
      request.seats.some(
        (seat) => seat.stage === stage && seat.person === person && mayVote(world, request, seat),
      );
    if (isThere || excluded.has(person)) continue;
    const own = { stage, person, personEmail: email, group, isGiven: false };
    seats.push({ ...own, voter: person, voterEmail: email, reason });
    const found = delegateOf(world, person, excluded);
    if (found === null) continue;
    const { delegate, absences } = found;
    const voter = personOf(delegate);
    seats.push({ ...own, voter, voterEmail: delegate, reason: "away", absences });
  }
  const others = request.seats.filter(
    (seat) =>
      seat.stage !== stage ||
      !seats.some(({ person, voter }) => seat.person === person && seat.voter === voter),
  );
  return { ...request, seats: [...others, ...seats] };
}

/** The end of the chain of delegates, and the absences that lead there, the person's own last. */
export function delegateOf(
  world: World,
  person: string,
  excluded: ReadonlySet<string>,
): { delegate: string; absences: Absence[] } | null {
  const absences = chainOf(world, person, excluded);
  const delegate = absences.at(-1)?.delegate;
  return delegate === undefined ? null : { delegate, absences: absences.reverse() };
}

/** At most three, nobody twice, never through or to somebody excluded. */
function chainOf(world: World, person: string, excluded: ReadonlySet<string>): Absence[] {
  const known = world.away.filter(({ delegate }) => isColleague(world, delegate));
  const absences: Absence[] = [];
  for (const chain = [person]; chain.length <= delegatesMax; ) {
    const next = known.find(({ email }) => personOf(email) === chain.at(-1));
    if (next === undefined) break;
    const to = personOf(next.delegate);
    if (chain.includes(to) || excluded.has(to)) break;
    chain.push(to);
    absences.push(next);
  }
  return absences;
}

/** Somebody is back. Those whose delegates followed after them have another one now. */
export function returned(world: World, request: Request, email: string): Request {
  let concerned = [personOf(email)];
  for (let step = 0; step < delegatesMax; step += 1) {
    const before = world.away.filter(({ delegate }) => concerned.includes(personOf(delegate)));
    concerned = [...new Set([...concerned, ...before.map((each) => personOf(each.email))])];
  }
  return world.away
    .filter((each) => concerned.includes(personOf(each.email)))
    .reduce((after, each) => absented(world, after, each.email), request);
}

/** A step whose time has come. */
export function stepped(world: World, request: Request, { stage, number }: Step): Request {
  const change = (changes: Partial<Step>) =>
    request.steps.map((step) =>
      step.stage === stage && step.number === number ? { ...step, ...changes } : step,
    );
  if (request.status !== "PENDING") return { ...request, steps: change({ isDone: true }) };
  if (openStage(world, request) !== stage) return { ...request, steps: change({ isArmed: false }) };
  const notify = request.steps.find(
    (step) => step.stage === stage && step.number === number,
  )?.notify;
  const after = seated(world, request, stage, notify ?? "", "escalated");
  return { ...after, steps: change({ isDone: true }) };
}

/** Somebody's absence begins: beside each place that they hold there is one for their delegate, up to three. */
export function absented(world: World, request: Request, email: string): Request {
  if (request.status !== "PENDING") return request;
  const person = personOf(email);
  const excluded = excludedFrom(world, request);
  const found = excluded.has(person) ? null : delegateOf(world, person, excluded);
  if (found === null) return request;
  const { delegate, absences } = found;
  const voter = personOf(delegate);
  const added = request.seats
    .filter((seat) => seat.voter === person)
    .filter((seat) => mayVote(world, request, seat) || isOnlyExcluded(world, request, seat))
    .filter(
      (seat) =>
        !request.seats.some(
          (other) =>
            isInTime(world, other) &&
            other.stage === seat.stage &&
            other.person === seat.person &&
            other.voter === voter,
        ),
    )
    .filter(
      (seat) =>
        request.seats.filter(
          (other) =>
            other.stage === seat.stage &&
            other.person === seat.person &&
            other.reason === "away" &&
            isInTime(world, other),
        ).length < 3,
    )
    .map(
      (seat): Seat => ({
        ...{ ...seat, voter, voterEmail: delegate, reason: "away" },
        absences: [...(seat.absences ?? []), ...absences],
      }),
    );
  const kept = request.seats.filter(
    (seat) =>
      seat.voter !== voter ||
      !added.some(({ stage, person: of }) => stage === seat.stage && of === seat.person),
  );
  return { ...request, seats: [...kept, ...added] };
}

/** Somebody who became the key's owner keeps a place that is worth nothing. */
function isOnlyExcluded(world: World, request: Request, seat: Seat): boolean {
  const open = { ...request, requester: null, owners: [] };
  return mayVote({ ...world, keyOwner: null }, open, seat);
}

export type Passing = { refusal: string } | { person: string; after: Request };

/** Every answer that is right when somebody passes their vote on: their own place first, or one that they are shown. */
export function passings(
  world: World,
  request: Request,
  fromEmail: string,
  toEmail: string,
): Passing[] {
  const [from, to] = [personOf(fromEmail), personOf(toEmail)];
  if (request.status !== "PENDING") return [{ refusal: "closed" }];
  if (from === to) return [{ refusal: "This is you" }];
  if (!isColleague(world, toEmail)) return [{ refusal: "not in this workspace" }];
  const places = placesOf(world, request, from);
  if (places === "already_voted") return [{ refusal: "You have voted already" }];
  if (typeof places === "string") return [{ refusal: "not asked just now" }];
  if (excludedFrom(world, request).has(to)) return [{ refusal: "The agent acts for" }];
  if (isUsed(currentVotes(request), to)) {
    return [{ refusal: "one person counts once" }];
  }
  const chosen = places.includes(from) ? [from] : shownOf(world, request, from, places);
  return chosen.map((person) => pass(world, request, { person, from, to, toEmail }));
}

function pass(
  world: World,
  request: Request,
  { person, from, to, toEmail }: { person: string; from: string; to: string; toEmail: string },
): Passing {
  const stage = openStage(world, request);
  const rows = request.seats.filter(
    (seat) => seat.stage === stage && seat.person === person && isInTime(world, seat),
  );
  if (rows.some(({ voter }) => voter === to)) return { refusal: "may vote in this place already" };
  if (rows.filter(({ reason }) => reason === "handed_over").length >= handOversMax) {
    return { refusal: "times already" };
  }
  const seat = rows.find(({ voter }) => voter === from);
  if (seat === undefined) throw new Error(`${from} has no place of ${person}`);
  // Who takes it may have had it in an absence that is over.
  const isBefore = (each: Seat, voter: string) =>
    each.stage === stage && each.person === person && each.voter === voter;
  const given = request.seats
    .filter((each) => !isBefore(each, to))
    .map((each) => (each === seat ? { ...each, isGiven: true } : each));
  const taken: Seat = { ...seat, voter: to, voterEmail: toEmail, reason: "handed_over" };
  const after = { ...request, seats: [...given, taken] };
  if (isReachable(world, request) && !isReachable(world, after)) {
    return { refusal: "too few different people" };
  }
  const out = new Set([...excludedFrom(world, request), ...rows.map(({ voter }) => voter)]);
  const found = delegateOf(world, to, out);
  if (found === null) return { person, after };
  const standIn: Seat = {
    ...taken,
    voter: personOf(found.delegate),
    voterEmail: found.delegate,
    reason: "away",
    absences: [...(seat.absences ?? []), ...found.absences],
  };
  const others = after.seats.filter((each) => !isBefore(each, standIn.voter));
  return { person, after: { ...after, seats: [...others, standIn] } };
}

/** A new request; null where it could never be complete, even if everybody who may ever be asked were asked. */
export function created(world: World, draft: Omit<Request, "seats">): Request | null {
  let best: Request = { ...draft, seats: [], steps: [] };
  for (const [index, { notify }] of draft.stages.entries()) {
    const later = draft.steps.filter(({ stage }) => stage === index + 1);
    for (const name of [notify, ...later.map((step) => step.notify)]) {
      best = seated(world, best, index + 1, name, "asked");
    }
  }
  best = { ...best, stages: best.stages.map((stage) => ({ ...stage, isEntered: true })) };
  return isReachable(world, best) ? entered(world, { ...draft, seats: [] }, 1) : null;
}

/** Whom a reminder mails, once each: whoever can vote, and instead of somebody who is away their delegate. */
export function reminded(world: World, request: Request): string[] {
  const open = openStage(world, request);
  const used = currentVotes(request);
  const may = request.seats.filter((seat) => seat.stage === open && mayVote(world, request, seat));
  const isAway = ({ person, voter }: Seat) =>
    may.some(
      (seat) => seat.person === person && personOf(seat.absences?.at(-1)?.email ?? "@") === voter,
    );
  const asked = may.filter(
    (seat) => !isUsed(used, seat.person) && !isUsed(used, seat.voter) && !isAway(seat),
  );
  return [...new Set(asked.map(({ voter }) => voter))].sort();
}
