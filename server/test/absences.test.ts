// Absences: people say from when to when they are away and who is asked instead; owners, admins and operators see it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { absencesPerPersonMax } from "../src/domain/shown/field-limits.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { updateWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import { listAway } from "../src/storage/votings/seats.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { until } from "./patience.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { environmentOn, runCommand } from "./test-program.ts";
import { makeWorkspace, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const dayMs = 86_400_000;
const day = (days: number) => new Date(Date.now() + days * dayMs).toISOString();

let teams = 0;

/** Vera is a viewer, Adam an admin, and Gina in a group only. */
async function makeTeam() {
  const { id: workspaceId } = await makeWorkspace(db);
  teams += 1;
  const [vera, adam, gina] = ["vera", "adam", "gina"].map((name) => `${name}@t${teams}.example`);
  assert.ok(vera !== undefined && adam !== undefined && gina !== undefined);
  await makeMember(db, { workspaceId, email: vera, role: "viewer" });
  const adamId = await makeMember(db, { workspaceId, email: adam, role: "admin" });
  const group = await createGroup(db, { workspaceId, key: "g", name: "G", members: [gina] });
  assert.ok("members" in group);
  const as = async (email: string) => {
    const cookie = await signIn(service, email);
    return (name: keyof DashboardApi, ids: Record<string, string> = {}, body?: unknown) =>
      callDashboard(service, name, { cookie, params: { workspaceId, ...ids }, body });
  };
  const people = { vera, adam, gina };
  return {
    workspaceId,
    groupId: group.id,
    adamId,
    ...people,
    asVera: await as(vera),
    asAdam: await as(adam),
  };
}

async function untilOf(workspaceId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ absences_until: Date | null }>(
    "select absences_until from workspaces where id = $1",
    [workspaceId],
  );
  return rows[0]?.absences_until?.toISOString();
}

async function actionsOf(workspaceId: string) {
  const { rows } = await db.query<{ action: string; actor_email: string; subject: string }>(
    `select action, actor_email, subject from activity
     where workspace_id = $1 and action like 'absence.%' order by age(xmin) desc`,
    [workspaceId],
  );
  return rows.map(({ action, actor_email, subject }) => [action, actor_email, subject]);
}

const set = "POST /me/workspaces/:workspaceId/absences";
const change = "POST /me/absences/:absenceId";
const endOwn = "POST /me/absences/:absenceId/end";
const listAll = "GET /workspaces/:workspaceId/absences";
const endAny = "POST /workspaces/:workspaceId/absences/:absenceId/end";

test("a member is away from a time to a time, and the workspace knows until when it has absences", async () => {
  const { workspaceId, vera, adam, gina, asVera } = await makeTeam();
  const offered = await asVera("GET /workspaces/:workspaceId/colleagues");
  assert.deepEqual(offered.json.colleagues, [adam, gina, vera]);
  const near = { delegateEmail: adam.toUpperCase(), startsAt: day(-0.5), endsAt: day(2) };
  const { json: now } = await asVera(set, {}, near);
  assert.deepEqual([now.delegateEmail, now.hasBegun, now.endsAt], [adam, true, near.endsAt]);
  assert.ok(Date.parse(now.startsAt) > Date.parse(near.startsAt), "it begins when it is known");
  const far = { delegateEmail: gina, startsAt: day(10), endsAt: day(20) };
  const { json: later } = await asVera(set, {}, far);
  assert.equal(later.hasBegun, false);
  assert.equal(await untilOf(workspaceId), far.endsAt);
  const { json: own } = await asVera("GET /me/absences");
  assert.deepEqual(own.absences, [now, later]);
  assert.deepEqual(await listAway(db, workspaceId), [
    { id: now.id, person: vera, delegateEmail: adam },
  ]);
  await asVera(endOwn, { absenceId: later.id });
  assert.equal(await untilOf(workspaceId), near.endsAt);
  await asVera(endOwn, { absenceId: now.id });
  assert.equal(await untilOf(workspaceId), undefined);
  assert.deepEqual(await listAway(db, workspaceId), []);
  assert.equal((await asVera(endOwn, { absenceId: now.id })).status, 404);
  assert.deepEqual(
    (await actionsOf(workspaceId)).map(([action]) => action),
    ["absence.set", "absence.set", "absence.ended", "absence.ended"],
  );
});

test("an absence names a colleague other than oneself, ends within a year, and overlaps no other one", async () => {
  const { vera, adam, asVera } = await makeTeam();
  const good = { delegateEmail: adam, startsAt: day(1), endsAt: day(5) };
  const { json: first } = await asVera(set, {}, good);
  for (const [wrong, status, field] of [
    [{ delegateEmail: "eve@evil.example" }, 400, "delegateEmail"],
    [{ delegateEmail: vera }, 400, "delegateEmail"],
    [{ delegateEmail: "" }, 400, "delegateEmail"],
    [{ delegateEmail: `${adam}\u0000` }, 400, "delegateEmail"],
    [{ startsAt: day(400), endsAt: day(401) }, 400, "startsAt"],
    [{ endsAt: day(400) }, 400, "endsAt"],
    [{ endsAt: day(-1) }, 400, "endsAt"],
    [{ startsAt: day(9), endsAt: day(8) }, 400, "endsAt"],
    [{ startsAt: "tomorrow" }, 400, "startsAt"],
    [{ startsAt: day(4), endsAt: day(6) }, 409, undefined],
    [{ startsAt: day(0.5), endsAt: day(1.5) }, 409, undefined],
  ] as const) {
    const { status: told, json } = await asVera(set, {}, { ...good, ...wrong });
    assert.deepEqual([told, json.error.field], [status, field], JSON.stringify(wrong));
  }
  assert.equal((await asVera(set, {}, { ...good, startsAt: day(5), endsAt: day(6) })).status, 200);
  const { json: own } = await asVera("GET /me/absences");
  assert.equal(own.absences.length, 2);
  const moved = await asVera(change, { absenceId: first.id }, { startsAt: day(2), endsAt: day(4) });
  assert.equal(moved.status, 200, JSON.stringify(moved.json));
  const onto = await asVera(change, { absenceId: first.id }, { endsAt: day(5.5) });
  assert.equal(onto.status, 409);
});

test("another spelling of one's own address is oneself", async () => {
  const { workspaceId, vera, asVera } = await makeTeam();
  const tagged = vera.replace("@", "+agent@");
  await makeMember(db, { workspaceId, email: tagged, role: "viewer" });
  const { status, json } = await asVera(
    set,
    {},
    {
      delegateEmail: tagged,
      startsAt: day(1),
      endsAt: day(2),
    },
  );
  assert.deepEqual([status, json.error.field], [400, "delegateEmail"]);
});

test("with the limit to domains, a colleague of another domain stands in for nobody", async () => {
  const { workspaceId, adam, asVera } = await makeTeam();
  await updateWorkspace(db, workspaceId, {
    approverLimit: "domains",
    approverDomains: ["elsewhere.example"],
  });
  const { json: offered } = await asVera("GET /workspaces/:workspaceId/colleagues");
  assert.deepEqual(offered.colleagues, []);
  const times = { startsAt: day(1), endsAt: day(2) };
  const { status, json } = await asVera(set, {}, { ...times, delegateEmail: adam });
  assert.deepEqual([status, json.error.field], [400, "delegateEmail"]);
});

test("of an absence that has begun only the end can be changed, and a person has so many at most", async () => {
  const { adam, gina, asVera } = await makeTeam();
  const { json: begun } = await asVera(
    set,
    {},
    {
      delegateEmail: adam,
      startsAt: day(0),
      endsAt: day(1),
    },
  );
  const at = { absenceId: begun.id };
  assert.equal((await asVera(change, at, { delegateEmail: gina })).status, 409);
  assert.equal((await asVera(change, at, { startsAt: day(0.5) })).status, 409);
  const longer = day(0.5);
  const { json: shortened } = await asVera(change, at, { endsAt: longer });
  assert.deepEqual([shortened.endsAt, shortened.startsAt], [longer, begun.startsAt]);
  const more = Array.from({ length: absencesPerPersonMax }, (_, n) =>
    asVera(set, {}, { delegateEmail: adam, startsAt: day(2 + n), endsAt: day(2.5 + n) }),
  );
  const statuses = (await Promise.all(more)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, absencesPerPersonMax - 1);
  assert.equal(statuses.filter((status) => status === 409).length, 1);
});

test("of overlapping absences that are set at once, one is kept", async () => {
  const { adam, gina, asVera } = await makeTeam();
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      asVera(
        set,
        {},
        {
          delegateEmail: n % 2 === 0 ? adam : gina,
          startsAt: day(1 + n / 10),
          endsAt: day(3),
        },
      ),
    ),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
});

test("owners and admins see everybody's absences and end them, and nobody else's are touched by others", async () => {
  const { workspaceId, vera, adam, asVera, asAdam } = await makeTeam();
  const away = { startsAt: day(0), endsAt: day(1) };
  const { json: veras } = await asVera(set, {}, { ...away, delegateEmail: adam });
  const { json: adams } = await asAdam(set, {}, { ...away, delegateEmail: vera });
  assert.equal((await asVera(endOwn, { absenceId: adams.id })).status, 404);
  assert.equal((await asVera(change, { absenceId: adams.id }, { endsAt: day(2) })).status, 404);
  assert.equal((await asVera(listAll)).status, 403);
  assert.equal((await asVera(endAny, { absenceId: adams.id })).status, 403);
  const { json: all } = await asAdam(listAll);
  assert.deepEqual(
    new Set(all.absences.map(({ id }: { id: string }) => id)),
    new Set([veras.id, adams.id]),
  );
  assert.equal((await asAdam(endAny, { absenceId: veras.id })).status, 200);
  assert.deepEqual((await asAdam(listAll)).json.absences.length, 1);
  assert.deepEqual((await actionsOf(workspaceId)).at(-1), ["absence.ended", adam, vera]);
});

test("an absence says that nobody is asked instead once a limit of domains excludes the delegate", async () => {
  const { workspaceId, adam, asVera, asAdam } = await makeTeam();
  await asVera(set, {}, { delegateEmail: adam, startsAt: day(0), endsAt: day(1) });
  const shown = async () => [
    ...(await asVera("GET /me/absences")).json.absences,
    ...(await asAdam(listAll)).json.absences,
  ];
  const isAllowed = (absence: { isDelegateNotAllowed?: true }) =>
    absence.isDelegateNotAllowed !== true;
  assert.deepEqual((await shown()).map(isAllowed), [true, true]);
  const limit = { approverLimit: "domains" } as const;
  await updateWorkspace(db, workspaceId, { ...limit, approverDomains: ["elsewhere.example"] });
  assert.deepEqual(await listAway(db, workspaceId), []);
  assert.deepEqual((await shown()).map(isAllowed), [false, false]);
  const words = ["absence", "list", "--workspace", workspaceId];
  const listed = await runCommand(environmentOn(service.database.url), words);
  assert.match(listed.stdout, new RegExp(`nobody, ${adam} may not be asked`));
  const domain = adam.slice(adam.indexOf("@") + 1);
  await updateWorkspace(db, workspaceId, { ...limit, approverDomains: [domain] });
  assert.deepEqual((await shown()).map(isAllowed), [true, true]);
});

test("nobody is asked instead by a delegate who left, and a person who left changes nothing any more", async () => {
  const { workspaceId, groupId, adamId, vera, gina, asVera, asAdam } = await makeTeam();
  const away = { startsAt: day(0), endsAt: day(1), delegateEmail: gina };
  await asVera(set, {}, away);
  const { json: adams } = await asAdam(set, {}, { ...away, delegateEmail: vera });
  assert.equal((await listAway(db, workspaceId)).length, 2);
  await removeGroupMember(db, groupId, gina);
  assert.deepEqual(
    (await listAway(db, workspaceId)).map(({ delegateEmail }) => delegateEmail),
    [vera],
  );
  const { json: own } = await asVera("GET /me/absences");
  assert.equal(own.absences[0].isDelegateGone, true);
  // Another workspace keeps them signed in.
  const other = await makeWorkspace(db);
  await db.query("update members set workspace_id = $1 where id = $2", [other.id, adamId]);
  assert.deepEqual((await asAdam("GET /me/absences")).json.absences, []);
  assert.equal((await asAdam(endOwn, { absenceId: adams.id })).status, 404);
  const later = { ...away, startsAt: day(2), endsAt: day(3) };
  const refused = await asAdam(set, {}, later);
  const nowhere = await asAdam(set, { workspaceId: "ws_none" }, later);
  assert.deepEqual([refused.status, nowhere.status], [404, 404]);
  assert.deepEqual(refused.json, nowhere.json, "as if there were no such workspace");
});

test("the command line sets an absence of anybody who is asked, lists it and ends it", async () => {
  const { workspaceId, gina, adam } = await makeTeam();
  const run = (...words: string[]) => runCommand(environmentOn(service.database.url), words);
  const words = ["absence", "set", "--workspace", workspaceId, "--until", day(3), "--json"];
  const made = await run(...words, "--email", gina, "--delegate", adam);
  assert.equal(made.code, 0, made.stderr);
  const { id, startsAt } = JSON.parse(made.stdout);
  assert.ok(Math.abs(Date.parse(startsAt) - Date.now()) < dayMs, "without --from it begins now");
  const stranger = await run(...words, "--email", "eve@evil.example", "--delegate", adam);
  assert.match(stranger.stderr, /neither a member of this workspace nor in one of its groups/);
  assert.match((await run("absence", "list", "--workspace", workspaceId)).stdout, /gina@.* adam@/);
  assert.match((await run("absence", "end", id)).stdout, /Ended the absence of gina@/);
  assert.equal((await run("absence", "end", id)).code, 1);
});

test("an absence that begins while its change waits has begun: only its end can be changed", async () => {
  const { workspaceId, adam, gina, asVera } = await makeTeam();
  const times = { startsAt: day(1), endsAt: day(5) };
  const { json: before } = await asVera(set, {}, { delegateEmail: adam, ...times });
  const holder = await db.connect();
  try {
    await holder.query("begin");
    await holder.query("select from workspaces where id = $1 for update", [workspaceId]);
    const changing = asVera(change, { absenceId: before.id }, { delegateEmail: gina });
    await until(async () => {
      const { rows } = await db.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    await db.query("update absences set starts_at = clock_timestamp() where id = $1", [before.id]);
    await holder.query("commit");
    assert.equal((await changing).status, 409);
  } finally {
    holder.release();
  }
});
