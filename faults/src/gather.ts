// Reads the database at the end, as its owner, and each request once more as its agent would.

import { inSnapshot, type Queryable } from "../../server/src/database/database.ts";
import { bearer } from "./actors/agents.ts";
import { callNode } from "./actors/caller.ts";
import type { AttemptRow, DeliveryRow, EventRow, Evidence, RequestRow } from "./evidence.ts";
import type { World } from "./world/world.ts";

const readsAtOnce = 8;

export async function gather(world: World, faultsEndedAt: number): Promise<Evidence> {
  const { db, postgres, agents, people, receivers, mailbox, nodes } = world;
  // What they did after the rows are read would be missing there.
  await people.leave();
  const answers = new Map<string, string>();
  await readAnswers(world, await readRequests(db), answers);
  // Requests go on expiring: what is read later may be ahead of these answers, and never behind them.
  const rows = await inSnapshot(db, async (snapshot) => ({
    readAt: Date.now(),
    requests: await readRequests(snapshot),
    events: await readEvents(snapshot),
    deliveries: await readDeliveries(snapshot),
    attempts: await readAttempts(snapshot),
  }));
  const log = await postgres.readLog?.();
  const isBehind = ({ id, status }: Row) => JSON.parse(answers.get(id) ?? "{}").status !== status;
  await readAnswers(world, rows.requests.filter(isBehind), answers);
  return {
    ...rows,
    requests: rows.requests.map((row) => ({ ...row, answer: answers.get(row.id) ?? "" })),
    faultsEndedAt,
    workspaces: world.workspaces.map(({ id, endpoints }) => ({ id, endpoints })),
    ...{ creates: agents.creates, reads: agents.reads, cancels: agents.cancels },
    ...{ decisions: people.decisions, opens: people.opens },
    heard: receivers.heard,
    mails: mailbox.mails,
    outputs: [
      ...nodes.map(({ name, output }) => ({ process: name, text: output })),
      ...(log === undefined ? [] : [{ process: "PostgreSQL", text: log }]),
    ],
    secrets: [
      ...world.secrets,
      ...people.tokens.map((value) => ({ name: "a review link's token", value })),
    ],
  };
}

type Row = Omit<RequestRow, "answer">;

async function readRequests(db: Queryable): Promise<Row[]> {
  const { rows } = await db.query<Row>(
    `select id, workspace_id as "workspaceId", idempotency_key as "idempotencyKey", status, summary,
       payload, edit, ${ms("created_at", "createdAt")}, ${ms("expires_at", "expiresAt")},
       ${ms("resolved_at", "resolvedAt")}, resolved_by_email as "resolvedBy"
     from approvals order by id`,
  );
  return rows;
}

async function readAnswers(world: World, rows: readonly Row[], answers: Map<string, string>) {
  for (let at = 0; at < rows.length; at += readsAtOnce) {
    const some = rows.slice(at, at + readsAtOnce);
    await Promise.all(some.map(async (row) => answers.set(row.id, await read(world, row))));
  }
}

async function read({ nodes, workspaces }: World, { id, workspaceId }: Row): Promise<string> {
  const key = workspaces.find((workspace) => workspace.id === workspaceId)?.key ?? "";
  const call = { method: "GET", path: `/v1/requests/${id}`, headers: bearer(key) };
  const { status, answer } = await callNode(nodes, 0, call);
  if (status !== 200 || answer === null)
    throw new Error(`${id} can't be read: ${status} ${answer}`);
  return answer;
}

async function readEvents(db: Queryable): Promise<EventRow[]> {
  const { rows } = await db.query<EventRow>(
    `select id, workspace_id as "workspaceId", approval_id as "requestId", kind,
       ${ms("created_at", "createdAt")}
     from events where kind in ('request.created', 'request.approved', 'request.rejected',
       'request.expired', 'request.cancelled') order by id`,
  );
  return rows;
}

/** Webhooks and mails about requests: notices to members are not for these receivers. */
async function readDeliveries(db: Queryable): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>(
    `select d.id, d.workspace_id as "workspaceId", d.event_id as "eventId",
       d.endpoint_id as "endpointId", d.state, ${ms("d.due_at", "dueAt")}, d.attempts,
       ${ms("d.leased_until", "leasedUntil")}
     from deliveries d where d.endpoint_id is not null or d.reviewer_id is not null order by d.id`,
  );
  return rows;
}

async function readAttempts(db: Queryable): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>(
    `select delivery_id as "deliveryId", number, ${ms("started_at", "startedAt")}, outcome
     from attempts order by delivery_id, number`,
  );
  return rows;
}

/** A time of the database in milliseconds, exactly. */
function ms(column: string, name: string): string {
  return `(extract(epoch from ${column}) * 1000)::double precision as "${name}"`;
}

/** What is still to be done now: nothing of it waits for a later time. */
export async function countUnfinished({ db }: Pick<World, "db">): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select (
       select count(*) from deliveries where state = 'due'
         and (due_at <= now() or lease_token is not null or endpoint_id is not null)
     )::int + (
       select count(*) from approvals where status = 'PENDING' and expires_at <= now()
     )::int as count`,
  );
  return rows[0]?.count ?? 0;
}
