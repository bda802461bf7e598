// The api_keys table. A key itself is never here, only its digest and its last four characters.

import type { Queryable, Transaction } from "../../database/database.ts";

export type ApiKey = {
  id: string;
  workspaceId: string;
  name: string;
  lastFour: string;
  createdAt: Date;
  /** To the minute; null when it was never used. */
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  /** Whom MCP asks for agents with this key that name nobody; null goes by the workspace. */
  defaultApprover: string | null;
  /** The person behind the agent, who never approves what is created with it; null is nobody. */
  ownerEmail: string | null;
};

type ApiKeyRow = {
  id: string;
  workspace_id: string;
  name: string;
  last_four: string;
  created_at: Date;
  last_used_at: Date | null;
  revoked_at: Date | null;
  default_approver: string | null;
  owner_email: string | null;
};

const columns = `
  id, workspace_id, name, last_four, created_at, last_used_at, revoked_at, default_approver, owner_email`;

/** The workspace that a key opens, or null when the key is unknown or revoked. */
export async function findWorkspaceId(db: Queryable, digest: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ workspace_id: string }>({
    name: "apiKeys.findWorkspaceId",
    text: "select workspace_id from api_keys where digest = $1 and revoked_at is null",
    values: [digest],
  });
  return rows[0]?.workspace_id ?? null;
}

/** Whom to ask for a caller who names nobody. The key's own default wins over the workspace's. */
export type DefaultApprover = { workspaceId: string; approver: string | null; isOfKey: boolean };

/** Null when the key is unknown or revoked. */
export async function findDefaultApprover(
  db: Queryable,
  digest: Buffer,
): Promise<DefaultApprover | null> {
  type Row = { workspace_id: string; approver: string | null; is_of_key: boolean };
  const { rows } = await db.query<Row>({
    name: "apiKeys.findDefaultApprover",
    text: `
      select k.workspace_id, coalesce(k.default_approver, w.default_approver) as approver,
        k.default_approver is not null as is_of_key
      from api_keys k
      join workspaces w on w.id = k.workspace_id
      where k.digest = $1 and k.revoked_at is null`,
    values: [digest],
  });
  return (
    rows.map(({ workspace_id, approver, is_of_key }) => ({
      workspaceId: workspace_id,
      approver,
      isOfKey: is_of_key,
    }))[0] ?? null
  );
}

export async function insert(
  tx: Transaction,
  key: {
    workspaceId: string;
    name: string;
    digest: Buffer;
    lastFour: string;
    defaultApprover: string | null;
    ownerEmail: string | null;
  },
): Promise<ApiKey> {
  const { workspaceId, name, digest, lastFour, defaultApprover, ownerEmail } = key;
  const { rows } = await tx.query<ApiKeyRow>(
    `insert into api_keys (workspace_id, name, digest, last_four, default_approver, owner_email)
     values ($1, $2, $3, $4, $5, $6)
     returning ${columns}`,
    [workspaceId, name, digest, lastFour, defaultApprover, ownerEmail],
  );
  return rows.map(toApiKey)[0] as ApiKey;
}

export async function update(
  tx: Transaction,
  key: Pick<ApiKey, "workspaceId" | "id" | "defaultApprover" | "ownerEmail">,
): Promise<ApiKey> {
  const { rows } = await tx.query<ApiKeyRow>(
    `update api_keys set default_approver = $3, owner_email = $4 where workspace_id = $1 and id = $2
     returning ${columns}`,
    [key.workspaceId, key.id, key.defaultApprover, key.ownerEmail],
  );
  return rows.map(toApiKey)[0] as ApiKey;
}

/** The keys in use whose own default is this approver, in whatever spelling. */
export async function listByDefaultApprover(
  db: Queryable,
  workspaceId: string,
  approver: string,
): Promise<ApiKey[]> {
  const { rows } = await db.query<ApiKeyRow>(
    `select ${columns} from api_keys
     where workspace_id = $1 and lower(default_approver) = lower($2) and revoked_at is null
     order by id`,
    [workspaceId, approver],
  );
  return rows.map(toApiKey);
}

export async function countInUse(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from api_keys where workspace_id = $1 and revoked_at is null",
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** Searches all workspaces when none is given. */
export async function find(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string | null; id: string },
): Promise<ApiKey | null> {
  const { rows } = await db.query<ApiKeyRow>(
    `select ${columns} from api_keys where id = $1 and ($2::text is null or workspace_id = $2)`,
    [id, workspaceId],
  );
  return rows.map(toApiKey)[0] ?? null;
}

/** `connectedBy` is the person who connected the app that acts as the key. */
export type AskingKey = ApiKey & { connectedBy: string | null };

/** The key that created an approval; null for one from before keys were recorded, undefined when there is none. */
export async function findAsking(
  db: Queryable,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
): Promise<AskingKey | null | undefined> {
  const { rows } = await db.query<Partial<ApiKeyRow> & { connected_by: string | null }>(
    `select k.*, (
       select c.email from connections c where c.workspace_id = $1 and c.api_key_id = k.id
     ) as connected_by
     from approvals a
     left join lateral (
       select ${columns} from api_keys where workspace_id = $1 and id = a.key_id
     ) k on true
     where a.workspace_id = $1 and a.id = $2`,
    [workspaceId, approvalId],
  );
  return rows.map(({ connected_by, ...key }) =>
    isWhole(key) ? { ...toApiKey(key), connectedBy: connected_by } : null,
  )[0];
}

/** An outer join has nulls in place of a key. */
function isWhole(row: Partial<ApiKeyRow>): row is ApiKeyRow {
  return typeof row.id === "string";
}

/** Locks a key against changes by others until the transaction ends. Searches all workspaces when none is given. */
export async function lock(
  tx: Transaction,
  { workspaceId, id }: { workspaceId: string | null; id: string },
): Promise<ApiKey | null> {
  const { rows } = await tx.query<ApiKeyRow>(
    `select ${columns} from api_keys
     where id = $1 and ($2::text is null or workspace_id = $2) for no key update`,
    [id, workspaceId],
  );
  return rows.map(toApiKey)[0] ?? null;
}

/** Revokes a key for good. */
export async function revoke(
  tx: Transaction,
  key: { workspaceId: string; id: string },
): Promise<ApiKey> {
  const { rows } = await tx.query<ApiKeyRow>(
    `update api_keys set revoked_at = now_ms() where workspace_id = $1 and id = $2
     returning ${columns}`,
    [key.workspaceId, key.id],
  );
  return rows.map(toApiKey)[0] as ApiKey;
}

/** Notes that keys are in use. A note of the last minute, maybe by another process, stays as it is. */
export async function noteUse(tx: Transaction, digests: Buffer[]): Promise<void> {
  await tx.query({
    name: "apiKeys.noteUse",
    text: `
      update api_keys set last_used_at = now_ms()
      where digest = any ($1::bytea[])
        and (last_used_at is null or last_used_at < now() - interval '1 minute')
        and revoked_at is null`,
    values: [digests],
  });
}

/** All keys in use, oldest first, then the keys that were revoked last. */
export async function listWithRevoked(
  db: Queryable,
  workspaceId: string,
  revokedMax: number,
): Promise<ApiKey[]> {
  const { rows } = await db.query<ApiKeyRow>(
    `select ${columns} from api_keys where workspace_id = $1 and revoked_at is null
     union all (
       select ${columns} from api_keys where workspace_id = $1 and revoked_at is not null
       order by revoked_at desc, id desc
       limit $2
     )
     order by revoked_at desc nulls first, id`,
    [workspaceId, revokedMax],
  );
  return rows.map(toApiKey);
}

export async function list(db: Queryable, workspaceId: string | null): Promise<ApiKey[]> {
  const { rows } = await db.query<ApiKeyRow>(
    `select ${columns} from api_keys where $1::text is null or workspace_id = $1 order by id`,
    [workspaceId],
  );
  return rows.map(toApiKey);
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    lastFour: row.last_four,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    defaultApprover: row.default_approver,
    ownerEmail: row.owner_email,
  };
}
