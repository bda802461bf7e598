// The deliveries table as operators and members look at it. Claims, ends of attempts and resends have files of their own.

import type { Queryable } from "../../database/database.ts";
import type { DeliveryState } from "../../domain/delivery/delivery.ts";
import type { AttemptOutcome } from "../../domain/shown/attempt.ts";
import type { Channel, Destination } from "../../domain/shown/destination.ts";

/** An endpoint may have been disabled since. */
type StoredDestination =
  | Exclude<Destination, Endpoint>
  | (Endpoint & { name: string | null; isDisabled: boolean; isDeleted: boolean });
type Endpoint = Extract<Destination, { kind: "endpoint" }>;

export type Delivery = {
  id: string;
  workspaceId: string;
  approvalId: string | null;
  /** The summary of that approval. */
  summary: string | null;
  event: string;
  eventAt: Date;
  state: DeliveryState;
  destination: StoredDestination;
  attempts: number;
  /** When the next attempt is due; null when none is. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  last: { outcome: AttemptOutcome | null; httpStatus: number | null } | null;
};

export type Attempt = {
  number: number;
  startedAt: Date;
  finishedAt: Date | null;
  /** Null while it is under way. */
  outcome: AttemptOutcome | null;
  httpStatus: number | null;
  durationMs: number | null;
  responseStart: string | null;
};

type DeliveryRow = {
  id: string;
  workspace_id: string;
  approval_id: string | null;
  summary: string | null;
  event: string;
  event_at: Date;
  state: DeliveryState;
  channel: Channel;
  endpoint_id: string | null;
  url: string;
  endpoint_name: string | null;
  is_disabled: boolean;
  is_deleted: boolean;
  email: string | null;
  attempts: number;
  due_at: Date;
  created_at: Date;
  finished_at: Date | null;
  last_outcome: AttemptOutcome | null;
  last_http_status: number | null;
};

const deliveryColumns = `
  d.id, d.workspace_id, ev.approval_id, a.summary, ev.kind as event, ev.created_at as event_at, d.state, d.channel, d.endpoint_id,
  e.url, e.name as endpoint_name, e.disabled_at is not null as is_disabled,
  e.deleted_at is not null as is_deleted, coalesce(d.recipient, r.email) as email, d.attempts,
  d.due_at, d.created_at, d.finished_at, t.outcome as last_outcome, t.http_status as last_http_status`;
const deliveryJoins = `
  join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
  left join endpoints e on e.workspace_id = d.workspace_id and e.id = d.endpoint_id
  left join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
  left join attempts t on t.workspace_id = d.workspace_id and t.delivery_id = d.id and t.number = d.attempts
  left join lateral (
    select a.summary from approvals a where a.workspace_id = d.workspace_id and a.id = ev.approval_id limit 1
  ) as a on true`;

/** A workspace's deliveries, newest first; of one approval, or only the failed and skipped ones, if asked for. */
export async function list(
  db: Queryable,
  filter: { workspaceId: string; approvalId: string | null; isFailed: boolean; limit: number },
): Promise<Delivery[]> {
  const condition = filter.isFailed ? "d.state in ('failed', 'skipped')" : "true";
  const ofApproval =
    filter.approvalId === null
      ? "$2::text is null"
      : "d.event_id in (select id from events where workspace_id = $1 and approval_id = $2)";
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from deliveries d ${deliveryJoins}
     where d.workspace_id = $1 and ${condition} and ${ofApproval}
     order by d.id desc
     limit $3`,
    [filter.workspaceId, filter.approvalId, filter.limit],
  );
  return rows.map(toDelivery);
}

// A mail about how somebody signs in concerns only its reader. Only mails to people who aren't reviewers can be one.
export const isOfWorkspace = `
  (d.recipient is null or not exists (
    select from events ev
    where ev.workspace_id = d.workspace_id and ev.id = d.event_id and ev.kind like 'person.%'
  ))`;

/** These deliveries of a workspace, newest first. */
export async function listByIds(
  db: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<Delivery[]> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from unnest($2::text[]) as asked (id)
     join deliveries d on d.workspace_id = $1 and d.id = asked.id ${deliveryJoins}
     order by d.id desc`,
    [workspaceId, ids],
  );
  return rows.map(toDelivery);
}

/** Everything that followed from one approval, oldest first. */
export async function listOfApproval(
  db: Queryable,
  approval: { workspaceId: string; id: string },
  limit: number,
): Promise<Delivery[]> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from deliveries d ${deliveryJoins}
     where d.workspace_id = $1
       and d.event_id = any (array(select id from events where workspace_id = $1 and approval_id = $2))
     order by d.id
     limit $3`,
    [approval.workspaceId, approval.id, limit],
  );
  return rows.map(toDelivery);
}

/** As members of the workspace may see it. */
export async function findInWorkspace(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<Delivery | null> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from deliveries d ${deliveryJoins}
     where d.workspace_id = $1 and d.id = $2 and ${isOfWorkspace}`,
    [workspaceId, id],
  );
  return rows.map(toDelivery)[0] ?? null;
}

/** Only the id is known, so the workspaces are asked in turn: each has it at the end of one index walk. */
export async function find(db: Queryable, id: string): Promise<Delivery | null> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from workspaces w
     join deliveries d on d.workspace_id = w.id and d.id = $1 ${deliveryJoins}`,
    [id],
  );
  return rows.map(toDelivery)[0] ?? null;
}

/** How its mail leaves: held until later, or in a digest of `requests` requests. Null when it leaves alone. */
export async function findDigest(
  db: Queryable,
  delivery: { workspaceId: string; id: string },
): Promise<{ kind: "held" } | { kind: "digest"; requests: number } | null> {
  const { rows } = await db.query<{ requests: number }>(
    `select count(m.id)::int as requests
     from deliveries d
     left join deliveries m on m.digest_id = d.digest_id and m.workspace_id = d.workspace_id
     where d.workspace_id = $1 and d.id = $2 and d.mailbox is not null and d.round = 1
     group by d.id`,
    [delivery.workspaceId, delivery.id],
  );
  const [row] = rows;
  // A mail that was left alone in its digest is an ordinary one.
  if (row === undefined || row.requests === 1) return null;
  return row.requests === 0 ? { kind: "held" } : { kind: "digest", requests: row.requests };
}

export async function listAttempts(
  db: Queryable,
  delivery: { workspaceId: string; id: string },
): Promise<Attempt[]> {
  const { rows } = await db.query<{
    number: number;
    started_at: Date;
    finished_at: Date | null;
    outcome: AttemptOutcome | null;
    http_status: number | null;
    duration_ms: number | null;
    response_start: string | null;
  }>(
    `select number, started_at, finished_at, outcome, http_status, duration_ms, response_start
     from attempts where workspace_id = $1 and delivery_id = $2 order by number`,
    [delivery.workspaceId, delivery.id],
  );
  return rows.map((row) => ({
    number: row.number,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: row.outcome,
    httpStatus: row.http_status,
    durationMs: row.duration_ms,
    responseStart: row.response_start,
  }));
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    approvalId: row.approval_id,
    summary: row.summary,
    event: row.event,
    eventAt: row.event_at,
    state: row.state,
    destination: toDestination(row),
    attempts: row.attempts,
    nextAttemptAt: row.state === "due" ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    last:
      row.attempts === 0 ? null : { outcome: row.last_outcome, httpStatus: row.last_http_status },
  };
}

// A check of the schema promises which columns are there for which channel.
function toDestination(row: DeliveryRow): StoredDestination {
  const { channel } = row;
  switch (channel) {
    case "webhook": {
      const id = row.endpoint_id as string;
      const { url, endpoint_name: name, is_disabled: isDisabled, is_deleted: isDeleted } = row;
      return { kind: "endpoint", id, url, name, isDisabled, isDeleted };
    }
    case "mail":
      return { kind: "mailbox", email: row.email as string };
    case "callback":
      return { kind: "callback", host: row.email as string };
    default:
      return channel satisfies never;
  }
}
