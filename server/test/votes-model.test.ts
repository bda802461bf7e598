// Random lives of requests on which several people vote: votes, edits, removals, hand-overs, absences, steps, reminders,
// and every end. Each step is judged by a second writing of the rules (voting-model.ts), and what is in the tables after
// it by plain SQL (voting-invariants.ts). TEST_SEED repeats a run, TEST_STEPS makes it longer.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, type TestContext, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { openStageOf, placeOf, type VotingRecord } from "../src/domain/approval/voting-record.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { placeToHandOver } from "../src/domain/shown/reviewer-place.ts";
import { expireApprovals } from "../src/operations/approvals/expire-approvals.ts";
import { addMember, removeMemberByEmail } from "../src/operations/people/add-member.ts";
import { addGroupMember, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { beginAbsences, endAbsences } from "../src/operations/votings/begin-absences.ts";
import { recordVote } from "../src/operations/votings/cast-vote.ts";
import { checkRemoved } from "../src/operations/votings/check-people.ts";
import { handOver } from "../src/operations/votings/hand-over.ts";
import { remind } from "../src/operations/votings/remind.ts";
import { takeSteps } from "../src/operations/votings/take-steps.ts";
import { changeKey } from "../src/operations/workspaces/issue-key.ts";
import * as votings from "../src/storage/votings/votings.ts";
import { resolveNow, someEvidence } from "./test-evidence.ts";
import { startService, testKeyring } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { listBroken } from "./voting-invariants.ts";
import * as model from "./voting-model.ts";

const service = await startService();
const { db } = service;
const parts = { db, keyring: testKeyring };
after(() => service.stop());

/** A walk that is the same each time, so that a fault is met by whoever makes it, and one that is another every day. */
function listSeeds(): number[] {
  const { TEST_SEED: asked } = process.env;
  if (asked === "random") return [randomInt(2 ** 31)];
  if (asked !== undefined) return [Number(asked)];
  return [5, Number(new Date().toISOString().slice(0, 10).replaceAll("-", ""))];
}

const seeds = listSeeds();
const stepsWanted = Math.ceil((Number(process.env.TEST_STEPS) || 2_000) / seeds.length);

const names = ["ann", "bob", "cy", "dee", "eli", "fay", "gus", "hal"];
/** Members of the workspace, one of them in no group. */
const memberNames = ["gus", "hal"];
const home = (name: string) => `${name}@example.com`;
const texts = [
  '{"amount":1}',
  '{"amount":2}',
  '{"amount":3}',
  '{ "amount" : 1 }',
  '{ "amount" : 2 }',
];

/** The same numbers for the same seed. */
function makeRandom(from: number) {
  let state = from >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const upTo = (max: number) => Math.floor(next() * max);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[upTo(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  const some = <Item>(items: readonly Item[], least: number, most: number): Item[] => {
    const left = [...items];
    const count = Math.min(left.length, least + upTo(most - least + 1));
    return Array.from({ length: count }, () => left.splice(upTo(left.length), 1)[0] as Item);
  };
  return { chance: (share: number) => next() < share, upTo, pick, some };
}

let random = makeRandom(0);

/** An address of this person, as people write it. */
function spelled(name: string): string {
  return random.pick([
    home(name),
    home(name),
    home(name),
    `${name}+work@example.com`,
    `${name.toUpperCase()}@Example.com`,
  ]);
}

type Life = {
  workspaceId: string;
  approvalId: string;
  keyId: string;
  groupIds: Map<string, string>;
  world: model.World;
  request: model.Request;
};

type Place = Pick<Life, "workspaceId" | "keyId" | "groupIds"> & { key: string };

async function makePlace(): Promise<Place> {
  const { id: workspaceId, key, keyId, groupId } = await makeVoters(service).workspaceWith([]);
  await db.query("update workspaces set included = 1000000, cap = null where id = $1", [
    workspaceId,
  ]);
  const { rows } = await db.query<{ id: string }>(
    "insert into groups (workspace_id, key, name) values ($1, 'board', 'Board') returning id",
    [workspaceId],
  );
  return {
    ...{ workspaceId, key, keyId },
    groupIds: new Map([
      ["finance", groupId],
      ["board", rows[0]?.id ?? ""],
    ]),
  };
}

/** Other people, absences and owners than before. */
async function furnish({ workspaceId, keyId, groupIds }: Place): Promise<model.World> {
  const groups = new Map<string, string[]>();
  await db.query("delete from group_members where workspace_id = $1", [workspaceId]);
  await db.query("delete from absences where workspace_id = $1", [workspaceId]);
  for (const [key, id] of groupIds) {
    const emails = random.some(names.slice(0, 7), 2, 5).map(spelled);
    groups.set(key, emails);
    await db.query(
      `insert into group_members (workspace_id, group_id, email, created_at)
       select $1, $2, each.email, now_ms() - interval '1 hour' + each.n * interval '1 second'
       from unnest($3::text[]) with ordinality as each (email, n)`,
      [workspaceId, id, emails],
    );
  }
  const keyOwner = random.chance(0.25) ? spelled(random.pick(names)) : null;
  await db.query("update api_keys set owner_email = $2 where id = $1", [keyId, keyOwner]);
  const members = memberNames.map(home);
  for (const email of members) await join(workspaceId, email);
  const world: model.World = { groups, members, away: [], keyOwner };
  for (const name of random.some(names, 0, 2)) await leave({ workspaceId, world }, name);
  await beginAbsences(parts, 100);
  return world;
}

async function join(workspaceId: string, email: string): Promise<void> {
  assert.ok(!isRefusal(await addMember(db, { workspaceId, email, role: "viewer" })));
}

async function leave({ workspaceId, world }: Pick<Life, "workspaceId" | "world">, name: string) {
  if (world.away.some(({ email }) => model.personOf(email) === home(name))) return false;
  const delegate = home(random.pick(names.filter((each) => each !== name)));
  world.away.push({ email: home(name), delegate });
  await makeVoters(service).beAway(workspaceId, home(name), delegate);
  return true;
}

function draftOf(world: model.World): Omit<model.Request, "seats"> {
  const notify = () =>
    random.chance(0.7)
      ? `group:${random.pick([...world.groups.keys()])}`
      : spelled(random.pick(names));
  const stages = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, () => ({
    ...{ notify: notify(), isEntered: false },
    required: random.pick([1, 1, 2, 2, 3]),
  }));
  const asked = Array.from({ length: random.pick([0, 0, 1, 2]) }, notify);
  return {
    status: "PENDING",
    requester: random.chance(0.4) ? spelled(random.pick(names)) : null,
    owners: world.keyOwner === null ? [] : [world.keyOwner],
    stages,
    texts: [texts[0] ?? ""],
    approvals: [],
    steps: stages.flatMap((_, at) =>
      asked.map((name, nth) => ({
        stage: at + 1,
        number: nth + 1,
        notify: name,
        isArmed: false,
        isDone: false,
      })),
    ),
    isReminded: false,
  };
}

async function begin(place: Place): Promise<Life | null> {
  const world = await furnish(place);
  const draft = draftOf(world);
  const request = model.created(world, draft);
  const [first, ...later] = draft.stages;
  const steps = draft.steps.filter(({ stage }) => stage === 1);
  const body = {
    summary: "Pay",
    notify: first?.notify,
    quorum: first?.required,
    payload: JSON.parse(texts[0] ?? ""),
    requestedBy: draft.requester,
    ttlMinutes: 600,
    then: later.map(({ notify, required }) => ({ notify, quorum: required })),
    escalate: steps.map(({ notify, number }) => ({ notify, afterMinutes: 10 * number })),
  };
  const { status, json } = await service.call("POST", "/v1/requests", { key: place.key, body });
  assert.equal(
    status === 201 ? null : json.error.code,
    request === null ? "quorum_unreachable" : null,
    JSON.stringify({ body, json }),
  );
  if (request === null) return null;
  return { ...place, approvalId: json.id, world, request };
}

/** What happens in a life. Each says what it was, for the story that a failure tells. */
type Deed = (life: Life) => Promise<string | null>;

function knownName({ request }: Life): string {
  const seated = request.seats.map(({ voter }) => voter.split("@")[0] ?? "");
  return seated.length > 0 && random.chance(0.85) ? random.pick(seated) : random.pick(names);
}

const voteBy: Deed = async (life) => {
  const { world, request } = life;
  const verdict = random.chance(0.05) ? "reject" : "approve";
  const isStale = random.chance(0.05);
  const ballot: model.Ballot = {
    email: spelled(knownName(life)),
    verdict,
    revision: model.revisionOf(request) + (isStale ? random.pick([-1, 1]) : 0),
    edit: verdict === "approve" && random.chance(0.2) ? random.pick(texts) : null,
  };
  const told = `vote ${JSON.stringify(ballot)}`;
  const right = model.judge(world, request, ballot);
  const evidence = someEvidence;
  const cast = { ...ballot, note: null, via: "link", evidence } as Parameters<typeof recordVote>[2];
  const result = await recordVote(parts, life, cast);
  if ("refusal" in result) {
    assert.deepEqual({ refusal: result.refusal }, right, told);
    return `${told}: ${result.refusal}`;
  }
  const { votes, revision } = result.record;
  const voter = model.personOf(ballot.email);
  const recorded = votes.find((vote) => vote.voter === voter && vote.revision === revision);
  const person = recorded?.person ?? "";
  assert.ok(
    "people" in right && right.people.includes(person),
    `${told} counted for ${person}, right is ${JSON.stringify(right)}`,
  );
  life.request = model.cast(world, request, ballot, person);
  assert.equal(result.resolution?.status ?? "PENDING", life.request.status, told);
  return `${told}: for ${person}`;
};

function shownTo(record: VotingRecord, email: string): string | null {
  return placeToHandOver({ stage: openStageOf(record), you: placeOf(record, email) });
}

const passOn: Deed = async (life) => {
  const fromEmail = spelled(knownName(life));
  const record = await votings.find(db, life);
  const wish = {
    fromEmail,
    toEmail: random.chance(0.8) ? home(random.pick(names)) : spelled(random.pick(names)),
    place: record === null ? null : shownTo(record, fromEmail),
  };
  const told = `hand over ${JSON.stringify(wish)}`;
  const right = model.passings(life.world, life.request, wish.fromEmail, wish.toEmail);
  if (record !== null && random.chance(0.1)) {
    const stale = { ...wish, place: random.pick([null, "9", "1 for nobody@example.com"]) };
    assert.ok("refusal" in (await handOver(parts, life, stale)), `${told}, from another page`);
  }
  const result = await handOver(parts, life, wish);
  if ("refusal" in result) {
    const said = "message" in result ? result.message : result.refusal;
    assert.ok(
      right.some((each) => "refusal" in each && said.includes(each.refusal)),
      `${told}: ${said}, right is ${JSON.stringify(right)}`,
    );
    return `${told}: ${said}`;
  }
  const from = model.personOf(wish.fromEmail);
  const to = model.personOf(wish.toEmail);
  const open = model.openStage(life.world, life.request);
  const given = result.record.seats.find(
    (seat) =>
      seat.stage === open &&
      seat.voter === to &&
      seat.reason === "handed_over" &&
      result.record.seats.some(
        (other) =>
          other.stage === open &&
          other.person === seat.person &&
          other.voter === from &&
          other.givenTo === wish.toEmail,
      ) &&
      !life.request.seats.some(
        (known) => known.stage === open && known.person === seat.person && known.voter === to,
      ),
  );
  const passed = right.find((each) => "person" in each && each.person === given?.person);
  assert.ok(
    passed !== undefined && "after" in passed,
    `${told} for ${given?.person}, right is ${JSON.stringify(right)}`,
  );
  life.request = passed.after;
  return `${told}: of ${given?.person}`;
};

const changeGroup: Deed = async ({ world, groupIds }) => {
  const [key, id] = random.pick([...groupIds]);
  const emails = world.groups.get(key) ?? [];
  if (emails.length > 0 && random.chance(0.5)) {
    const email = random.pick(emails);
    assert.ok(!isRefusal(await removeGroupMember(db, id, email)));
    world.groups.set(
      key,
      emails.filter((each) => each !== email),
    );
    await checkRemoved(db, 100);
    return `remove ${email} from ${key}`;
  }
  const email = spelled(random.pick(names));
  assert.ok(!isRefusal(await addGroupMember(db, id, email)));
  const isThere = emails.some((each) => each.toLowerCase() === email.toLowerCase());
  if (!isThere) world.groups.set(key, [...emails, email]);
  await checkRemoved(db, 100);
  return `add ${email} to ${key}`;
};

const changeMembers: Deed = async ({ world, workspaceId }) => {
  const email = home(random.pick(memberNames));
  const isMember = world.members.includes(email);
  if (isMember) assert.ok(!isRefusal(await removeMemberByEmail(db, { workspaceId, email })));
  else await join(workspaceId, email);
  const others = world.members.filter((each) => each !== email);
  world.members = isMember ? others : [...others, email];
  await checkRemoved(db, 100);
  return `${email} ${isMember ? "leaves" : "joins"} the workspace`;
};

const goAway: Deed = async (life) => {
  const name = knownName(life);
  if (!(await leave(life, name))) return null;
  life.request = model.absented(life.world, life.request, home(name));
  await beginAbsences(parts, 100);
  return `${name} goes away: ${JSON.stringify(life.world.away)}`;
};

const comeBack: Deed = async (life) => {
  const { world, workspaceId } = life;
  const back = world.away.pop();
  if (back === undefined) return null;
  await db.query("update absences set ends_at = now_ms() where workspace_id = $1 and email = $2", [
    workspaceId,
    back.email,
  ]);
  await endAbsences(db, 100);
  life.request = model.returned(world, life.request, back.email);
  await beginAbsences(parts, 100);
  await checkRemoved(db, 100);
  return `${back.email} comes back`;
};

const letTimePass: Deed = async (life) => {
  const armed = life.request.steps.filter(({ isArmed, isDone }) => isArmed && !isDone);
  if (armed.length === 0) return null;
  const step = random.pick(armed);
  await db.query(
    "update steps set due_at = now_ms() where approval_id = $1 and stage = $2 and number = $3",
    [life.approvalId, step.stage, step.number],
  );
  life.request = model.stepped(life.world, life.request, step);
  await takeSteps(parts, 100);
  return `step ${step.stage}.${step.number} for ${step.notify}`;
};

const remindAll: Deed = async (life) => {
  const { request, world, approvalId } = life;
  const result = await remind(db, life);
  const people = model.reminded(world, request);
  const pending = request.isReminded ? "too_early" : people.length === 0 ? "nobody" : "reminded";
  const right = request.status !== "PENDING" ? "closed" : pending;
  assert.equal(result.kind, right);
  if (right !== "reminded") return `remind: ${right}`;
  const mailed = (await makeVoters(service).mailsOf(approvalId, "request.reminded")).map(
    model.personOf,
  );
  assert.deepEqual(mailed.sort(), people, "who is reminded");
  life.request = { ...request, isReminded: true };
  return `remind ${mailed.join(", ")}`;
};

const changeOwner: Deed = async (life) => {
  if (life.request.status !== "PENDING") return null;
  const ownerEmail = spelled(knownName(life));
  assert.ok(!isRefusal(await changeKey(db, { id: life.keyId, ownerEmail })));
  await checkRemoved(db, 100);
  life.world.keyOwner = ownerEmail;
  life.request = { ...life.request, owners: [...life.request.owners, ownerEmail] };
  const open = model.openStage(life.world, life.request);
  if (open !== null) life.request = model.entered(life.world, life.request, open);
  return `the key belongs to ${ownerEmail}`;
};

const cancel: Deed = async (life) => {
  const { workspaceId, approvalId: id } = life;
  const at = await resolveNow(inOneStatement(db), { workspaceId, id }, { status: "CANCELLED" });
  assert.equal(at !== null, life.request.status === "PENDING");
  if (at !== null) life.request = { ...life.request, status: "CANCELLED" };
  return "cancel";
};

const expire: Deed = async (life) => {
  const { workspaceId, approvalId, request } = life;
  if (request.status !== "PENDING") return null;
  await db.query(
    "update approvals set created_at = now_ms() - interval '1 day', expires_at = now_ms() where id = $1",
    [approvalId],
  );
  life.request = { ...request, status: "EXPIRED" };
  // A vote and a hand-over come too late, also before anybody has noted the end.
  await voteBy(life);
  await passOn(life);
  await expireApprovals(db, workspaceId, [approvalId]);
  return "expire";
};

const deeds: [share: number, deed: Deed][] = [
  [52, voteBy],
  [12, passOn],
  [9, changeGroup],
  [3, changeMembers],
  [6, goAway],
  [3, comeBack],
  [8, letTimePass],
  [3, remindAll],
  [3, changeOwner],
  [1, cancel],
  [1, expire],
];
const allShares = deeds.reduce((sum, [share]) => sum + share, 0);

function pickDeed(): Deed {
  let left = random.upTo(allShares);
  for (const [share, deed] of deeds) {
    left -= share;
    if (left < 0) return deed;
  }
  throw new Error("no deed");
}

/** What the tables say, in the model's words. */
async function readLife({ workspaceId, approvalId }: Life) {
  const { rows } = await db.query({
    name: "votesModel.read",
    text: `
      select a.status, v.revision, v.stage, a.payload,
        (select coalesce(json_agg(json_build_array(s.stage, s.person, s.voter, s.reason, s.given_to is not null)
           order by s.stage, s.person, s.voter), '[]')
         from seats s where s.workspace_id = $1 and s.approval_id = $2) as seats,
        (select coalesce(json_agg(json_build_array(x.revision, x.stage, x.person, x.voter)
           order by x.revision, x.stage, x.person), '[]')
         from votes x where x.workspace_id = $1 and x.approval_id = $2 and x.verdict = 'approve') as approvals,
        (select coalesce(json_agg(json_build_array(t.stage, t.number, t.due_at is not null, t.done_at is not null)
           order by t.stage, t.number), '[]')
         from steps t where t.workspace_id = $1 and t.approval_id = $2) as steps,
        (select coalesce(json_agg(r.payload order by r.number), '[]')
         from revisions r where r.workspace_id = $1 and r.approval_id = $2) as texts,
        v.stuck_at is not null as is_stuck
      from approvals a join votings v on v.workspace_id = a.workspace_id and v.approval_id = a.id
      where a.workspace_id = $1 and a.id = $2`,
    values: [workspaceId, approvalId],
  });
  return rows[0];
}

function told({ world, request }: Life) {
  const sorted = (rows: unknown[][]) =>
    rows
      .map((row) => JSON.stringify(row))
      .sort()
      .map((row) => JSON.parse(row));
  return {
    status: request.status,
    revision: model.revisionOf(request),
    stage: model.openStage(world, request) ?? request.stages.length,
    seats: sorted(
      request.seats.map((seat) => [seat.stage, seat.person, seat.voter, seat.reason, seat.isGiven]),
    ),
    approvals: sorted(
      request.approvals.map((vote) => [vote.revision, vote.stage, vote.person, vote.voter]),
    ),
    steps: request.steps.map((step) => [step.stage, step.number, step.isArmed, step.isDone]),
    texts: request.texts.slice(1),
  };
}

async function assertSame(life: Life): Promise<void> {
  const { payload, is_stuck, ...stored } = await readLife(life);
  const right = told(life);
  assert.deepEqual(stored, right);
  if (life.request.status === "PENDING") {
    assert.equal(is_stuck, !model.isReachable(life.world, life.request), "whether it is stuck");
  }
  assert.equal(payload, life.request.texts[0]);
  assert.deepEqual(await listBroken(db, life), []);
}

async function walk(t: TestContext, seed: number): Promise<void> {
  random = makeRandom(seed);
  const seen = new Map<string, number>();
  const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  const place = await makePlace();
  for (let steps = 0; steps < stepsWanted; ) {
    const life = await begin(place);
    if (life === null) {
      note("unreachable");
      continue;
    }
    const story = [JSON.stringify({ ...life, groups: [...life.world.groups] })];
    try {
      await assertSame(life);
      const end = 10 + random.upTo(20);
      for (let nth = 0, closed = 0; nth < end && closed < 2; nth += 1) {
        const deed = pickDeed();
        const what = await deed(life).catch((fault: unknown) => {
          story.push(`failing: ${deed.name ?? ""}`);
          throw fault;
        });
        if (what === null) continue;
        story.push(what);
        steps += 1;
        note(
          what
            .replace(/[{].*[}]/, "")
            .replace(/\S*@\S*/g, "")
            .split(":")[0] ?? "",
        );
        if (life.request.status !== "PENDING") closed += 1;
        await assertSame(life);
      }
      note(life.request.status);
      // Removals and absences of later lives would look at it again and again.
      await cancel(life);
    } catch (fault) {
      t.diagnostic(`TEST_SEED=${seed}, step ${steps}:\n${story.join("\n")}`);
      throw fault;
    }
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
  t.diagnostic(`${Math.round(process.cpuUsage().user / 1e6)} s of processor time`);
}

for (const seed of seeds) {
  test(`a second writing of the rules agrees with each of ${stepsWanted} random steps (TEST_SEED=${seed})`, (t) =>
    walk(t, seed));
}
