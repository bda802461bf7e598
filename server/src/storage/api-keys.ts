// The api_keys table. A key itself is never here, only its digest and its last four characters.

import type { Queryable, Transaction } from "./database.ts";

export type ApiKey = {
  id: string;
  workspaceId: string;
  name: string;
  lastFour: string;
  createdAt: Date;
  revokedAt: Date | null;
};

type ApiKeyRow = {
  id: string;
  workspace_id: string;
  name: string;
  last_four: string;
  created_at: Date;
  revoked_at: Date | null;
};

const columns = "id, workspace_id, name, last_four, created_at, revoked_at";

/** The workspace that a key opens, or null when the key is unknown or revoked. */
export async function findWorkspaceId(db: Queryable, digest: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ workspace_id: string }>({
    name: "apiKeys.findWorkspaceId",
    text: "select workspace_id from api_keys where digest = $1 and revoked_at is null",
    values: [digest],
  });
  return rows[0]?.workspace_id ?? null;
}

export async function insert(
  tx: Transaction,
  key: { workspaceId: string; name: string; digest: Buffer; lastFour: string },
): Promise<ApiKey> {
  const { rows } = await tx.query<ApiKeyRow>(
    `insert into api_keys (workspace_id, name, digest, last_four) values ($1, $2, $3, $4)
     returning ${columns}`,
    [key.workspaceId, key.name, key.digest, key.lastFour],
  );
  return rows.map(toApiKey)[0] as ApiKey;
}

/** Revokes a key for good; a key that is revoked already keeps its time. Null when there is no such key. */
export async function revoke(tx: Transaction, id: string): Promise<ApiKey | null> {
  const { rows } = await tx.query<ApiKeyRow>(
    `update api_keys set revoked_at = coalesce(revoked_at, now_ms()) where id = $1
     returning ${columns}`,
    [id],
  );
  return rows.map(toApiKey)[0] ?? null;
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
    revokedAt: row.revoked_at,
  };
}
