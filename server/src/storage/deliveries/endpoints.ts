// The endpoints table: customers' webhook URLs, and the sealed secrets that sign what is sent there.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { EndpointKind } from "../../domain/approval/event.ts";
import { endpointNoticePauseMinutes, webhookSecretsMax } from "../../domain/limits.ts";

export type Endpoint = {
  id: string;
  workspaceId: string;
  /** The members' name for it; null when they gave none. */
  name: string | null;
  url: string;
  /** Null is every kind. */
  eventKinds: EndpointKind[] | null;
  createdAt: Date;
  /** A deleted endpoint is disabled, too. */
  deletedAt: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  /** The first failed attempt since the last that succeeded, and when the owners were warned about it. */
  failingSince: Date | null;
  warnedAt: Date | null;
};

type EndpointRow = {
  id: string;
  workspace_id: string;
  name: string | null;
  url: string;
  event_kinds: EndpointKind[] | null;
  created_at: Date;
  deleted_at: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  failing_since: Date | null;
  warned_at: Date | null;
};

const columns = `
  id, workspace_id, name, url, event_kinds, created_at, deleted_at, disabled_at, disabled_reason, failing_since,
  warned_at`;

export async function list(db: Queryable, workspaceId: string | null): Promise<Endpoint[]> {
  const { rows } = await db.query<EndpointRow>(
    `select ${columns} from endpoints
     where ($1::text is null or workspace_id = $1) and deleted_at is null
     order by id`,
    [workspaceId],
  );
  return rows.map(toEndpoint);
}

/** Searches all workspaces when none is given. */
export async function find(
  db: Queryable,
  endpoint: { workspaceId: string | null; id: string },
): Promise<Endpoint | null> {
  const found = await findOrDeleted(db, endpoint);
  return found?.deletedAt === null ? found : null;
}

/** Also finds a deleted one, for readers of its history. */
export async function findOrDeleted(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string | null; id: string },
): Promise<Endpoint | null> {
  const { rows } = await db.query<EndpointRow>(
    `select ${columns} from endpoints where id = $1 and ($2::text is null or workspace_id = $2)`,
    [id, workspaceId],
  );
  return rows.map(toEndpoint)[0] ?? null;
}

export async function insert(
  tx: Transaction,
  endpoint: Pick<Endpoint, "workspaceId" | "name" | "url"> & {
    eventKinds: readonly EndpointKind[] | null;
  },
): Promise<Endpoint> {
  const { rows } = await tx.query<EndpointRow>(
    `insert into endpoints (workspace_id, name, url, event_kinds) values ($1, $2, $3, $4)
     returning ${columns}`,
    [endpoint.workspaceId, endpoint.name, endpoint.url, endpoint.eventKinds],
  );
  return rows.map(toEndpoint)[0] as Endpoint;
}

/** A new address starts without failures: those at the old one no longer count. */
export async function update(
  tx: Transaction,
  endpoint: Pick<Endpoint, "workspaceId" | "id" | "name" | "url" | "eventKinds">,
): Promise<Endpoint> {
  const { rows } = await tx.query<EndpointRow>(
    `update endpoints
     set url = $3, event_kinds = $4, name = $5,
       failing_since = case when url = $3 then failing_since end,
       warned_at = case when url = $3 then warned_at end, is_told = is_told and url = $3,
       told_at = case when url = $3 then told_at end
     where workspace_id = $1 and id = $2
     returning ${columns}`,
    [endpoint.workspaceId, endpoint.id, endpoint.url, endpoint.eventKinds, endpoint.name],
  );
  return rows.map(toEndpoint)[0] as Endpoint;
}

/** Marks an endpoint as deleted and forgets its secrets. Deliveries that are still due are skipped, as if disabled. */
export async function remove(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
): Promise<Endpoint> {
  const { rows } = await tx.query<EndpointRow>(
    `with forgotten as (
       delete from endpoint_secrets where workspace_id = $1 and endpoint_id = $2
     )
     update endpoints
     set deleted_at = now_ms(), disabled_at = coalesce(disabled_at, now_ms()),
       disabled_reason = coalesce(disabled_reason, 'deleted'), failing_since = null, warned_at = null,
       is_told = false, told_at = null, is_given_up = false
     where workspace_id = $1 and id = $2
     returning ${columns}`,
    [endpoint.workspaceId, endpoint.id],
  );
  return rows.map(toEndpoint)[0] as Endpoint;
}

/**
 * Enables an endpoint, or disables it for the given reason. Either way its past failures no longer count. `isGivenUp`
 * says that the service disabled it, not a person.
 */
export async function setDisabled(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
  reason: string | null,
  isGivenUp = false,
): Promise<Endpoint> {
  const { rows } = await tx.query<EndpointRow>(
    `update endpoints
     set disabled_reason = $3, failing_since = null, warned_at = null, is_told = false, told_at = null,
       is_given_up = $4, disabled_at = case when $3::text is not null then coalesce(disabled_at, now_ms()) end
     where workspace_id = $1 and id = $2
     returning ${columns}`,
    [endpoint.workspaceId, endpoint.id, reason, isGivenUp],
  );
  return rows.map(toEndpoint)[0] as Endpoint;
}

/** How many endpoints of a workspace get events. */
export async function countEnabled(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from endpoints where workspace_id = $1 and disabled_at is null",
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Locks an endpoint against changes by others until the transaction ends. Searches all workspaces when none is given.
 */
export async function lock(
  tx: Transaction,
  { workspaceId, id }: { workspaceId: string | null; id: string },
): Promise<Endpoint | null> {
  const { rows } = await tx.query<EndpointRow>(
    `select ${columns} from endpoints
     where id = $1 and ($2::text is null or workspace_id = $2) and deleted_at is null
     for no key update`,
    [id, workspaceId],
  );
  return rows.map(toEndpoint)[0] ?? null;
}

/** How many deliveries to an endpoint failed or were skipped, up to `countMax`, and when the oldest was made. */
export async function countUnsuccessful(
  db: Queryable,
  endpoint: { workspaceId: string; id: string },
  countMax: number,
): Promise<{ count: number; oldestAt: Date | null }> {
  const { rows } = await db.query<{ count: number; oldest_at: Date | null }>(
    `select count(*)::int as count, min(created_at) as oldest_at
     from (
       select created_at from deliveries
       where endpoint_id = $2 and workspace_id = $1 and state in ('failed', 'skipped')
       order by id
       limit $3
     ) as unsuccessful`,
    [endpoint.workspaceId, endpoint.id, countMax],
  );
  const [row] = rows;
  return { count: row?.count ?? 0, oldestAt: row?.oldest_at ?? null };
}

/** Notes that an attempt failed. Answers the endpoint as it is now, locked, with the database's time. */
export async function noteFailure(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
): Promise<{ endpoint: Endpoint; now: Date } | null> {
  const { rows } = await tx.query<EndpointRow & { now: Date }>(
    `update endpoints set failing_since = coalesce(failing_since, now_ms())
     where workspace_id = $1 and id = $2
     returning ${columns}, now_ms() as now`,
    [endpoint.workspaceId, endpoint.id],
  );
  return rows.map((row) => ({ endpoint: toEndpoint(row), now: row.now }))[0] ?? null;
}

export async function noteWarning(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
): Promise<void> {
  await tx.query(
    "update endpoints set warned_at = now_ms() where workspace_id = $1 and id = $2 and failing_since is not null",
    [endpoint.workspaceId, endpoint.id],
  );
}

export async function noteSuccess(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
): Promise<void> {
  await tx.query(
    `update endpoints set failing_since = null, warned_at = null, is_told = false
     where workspace_id = $1 and id = $2 and (failing_since is not null or is_told)`,
    [endpoint.workspaceId, endpoint.id],
  );
}

/**
 * Notes that the owners hear of a delivery that was given up. False when they know already, when they were mailed about
 * this endpoint a while ago, or when it was disabled or moved in the meantime. Of several workers one gets true.
 */
export async function noteTold(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string; url: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update endpoints set is_told = true, told_at = now_ms()
     where workspace_id = $1 and id = $2 and url = $3 and disabled_at is null and not is_told
       and (told_at is null or told_at <= now() - interval '${endpointNoticePauseMinutes} minutes')`,
    [endpoint.workspaceId, endpoint.id, endpoint.url],
  );
  return rowCount === 1;
}

/** How many deliveries to an endpoint wait for an attempt, up to `countMax`. */
export async function countDue(
  db: Queryable,
  endpoint: { workspaceId: string; id: string },
  countMax: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count
     from (
       select from deliveries
       where endpoint_id = $2 and workspace_id = $1 and state = 'due'
       order by endpoint_id, due_at, id
       limit $3
     ) as due`,
    [endpoint.workspaceId, endpoint.id, countMax],
  );
  return rows[0]?.count ?? 0;
}

export async function insertSecret(
  tx: Transaction,
  secret: { workspaceId: string; endpointId: string; secretKeyId: string; sealed: Buffer },
): Promise<void> {
  await tx.query(
    `insert into endpoint_secrets (workspace_id, endpoint_id, secret_key_id, sealed)
     values ($1, $2, $3, $4)`,
    [secret.workspaceId, secret.endpointId, secret.secretKeyId, secret.sealed],
  );
}

/**
 * Lets the secrets of an endpoint end after some hours, at the latest. Says when. All but the newest few end at once:
 * each live secret signs every webhook.
 */
export async function endSecrets(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
  hours: number,
): Promise<Date> {
  const { rows } = await tx.query<{ ends_at: Date }>(
    `with ending as (
       update endpoint_secrets
       set expires_at = least(expires_at, now_ms() + $3 * interval '1 hour' * (id = any (array(
         select id from endpoint_secrets
         where workspace_id = $1 and endpoint_id = $2
         order by id desc limit ${webhookSecretsMax - 1}
       )))::integer)
       where workspace_id = $1 and endpoint_id = $2
     )
     select now_ms() + $3 * interval '1 hour' as ends_at`,
    [endpoint.workspaceId, endpoint.id, hours],
  );
  return (rows[0] as { ends_at: Date }).ends_at;
}

/** The sealed secrets of an endpoint that are alive, newest first. */
export async function listLiveSecrets(
  db: Queryable,
  endpoint: { workspaceId: string; id: string },
): Promise<{ secretKeyId: string; sealed: Buffer }[]> {
  const { rows } = await db.query<{ secret_key_id: string; sealed: Buffer }>(
    `select secret_key_id, sealed from endpoint_secrets
     where workspace_id = $1 and endpoint_id = $2 and (expires_at is null or expires_at > now())
     order by id desc`,
    [endpoint.workspaceId, endpoint.id],
  );
  return rows.map((row) => ({ secretKeyId: row.secret_key_id, sealed: row.sealed }));
}

/** The keys that made the live secrets, and the links of the requests that end next. */
export async function listSecretKeyIds(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ secret_key_id: string }>(
    `select secret_key_id from endpoint_secrets where expires_at is null or expires_at > now()
     union
     select secret_key_id from callback_secrets where expires_at is null or expires_at > now()
     union
     select teams_secret_key_id from group_channels where teams_secret_key_id is not null
     union
     select secret_key_id from slack_connections
     union
     select secret_key_id from push_identity
     union
     select secret_key_id from signing_keys where retired_at is null
     union
     select sealed_by from log_trees where closed_at is null and sealed_by is not null
     union
     select r.secret_key_id
     from (
       select workspace_id, id from approvals
       where status = 'PENDING' and expires_at > now()
       order by expires_at
       limit 1000
     ) as a
     join reviewers r on r.workspace_id = a.workspace_id and r.approval_id = a.id
     order by 1`,
  );
  return rows.map((row) => row.secret_key_id);
}

function toEndpoint(row: EndpointRow): Endpoint {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    url: row.url,
    eventKinds: row.event_kinds,
    createdAt: row.created_at,
    deletedAt: row.deleted_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
    warnedAt: row.warned_at,
  };
}
