// The tables of connected clients: who connected what, codes on their way, and tokens, all of them as digests.

import type { Queryable, Transaction } from "../../database/database.ts";
import {
  oauthAccessMinutes,
  oauthCodeSeconds,
  oauthRefreshDays,
  oauthTokensPerConnectionMax,
} from "../../domain/limits.ts";

export type Connection = {
  apiKeyId: string;
  email: string;
  clientName: string;
  redirectHost: string;
  /** Null in connections from before it was kept. */
  redirectUri: string | null;
};

type ConnectionRow = {
  api_key_id: string;
  email: string;
  client_name: string;
  redirect_host: string;
  redirect_uri: string | null;
};

export type NewCode = {
  workspaceId: string;
  digest: Buffer;
  email: string;
  clientDigest: Buffer;
  clientName: string;
  redirectUri: string;
  challenge: string;
};

/** `apiKeyId` is that of the connection that a used code made. */
export type Code = NewCode & { apiKeyId: string | null };

type KeyOf = { workspaceId: string; apiKeyId: string };

type Person = { workspaceId: string; email: string };

/** Codes that nobody came for make room. */
export async function insertCode(tx: Transaction, code: NewCode): Promise<void> {
  await tx.query(
    `delete from connection_codes where digest = any (array(
       select digest from connection_codes where expires_at <= now() limit 100 for update skip locked
     ))`,
  );
  await tx.query(
    `insert into connection_codes
       (workspace_id, digest, email, client_digest, client_name, redirect_uri, challenge, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, now_ms() + interval '${oauthCodeSeconds} seconds')`,
    [
      code.workspaceId,
      code.digest,
      code.email,
      code.clientDigest,
      code.clientName,
      code.redirectUri,
      code.challenge,
    ],
  );
}

type CodeRow = {
  workspace_id: string;
  digest: Buffer;
  email: string;
  client_digest: Buffer;
  client_name: string;
  redirect_uri: string;
  challenge: string;
  api_key_id: string | null;
};

const codeColumns =
  "workspace_id, digest, email, client_digest, client_name, redirect_uri, challenge, api_key_id";

export async function findCode(db: Queryable, digest: Buffer): Promise<Code | null> {
  const { rows } = await db.query<CodeRow>(
    `select ${codeColumns} from connection_codes where digest = $1 and expires_at > now()`,
    [digest],
  );
  return rows.map(toCode)[0] ?? null;
}

export async function lockCode(tx: Transaction, digest: Buffer): Promise<Code | null> {
  const { rows } = await tx.query<CodeRow>(
    `select ${codeColumns} from connection_codes where digest = $1 and expires_at > now() for update`,
    [digest],
  );
  return rows.map(toCode)[0] ?? null;
}

export async function setCodeUsed(tx: Transaction, code: NewCode, apiKeyId: string): Promise<void> {
  await tx.query(
    "update connection_codes set api_key_id = $3 where workspace_id = $1 and digest = $2",
    [code.workspaceId, code.digest, apiKeyId],
  );
}

export async function deleteCodesOf(tx: Transaction, person: Person): Promise<void> {
  await tx.query(
    "delete from connection_codes where workspace_id = $1 and lower(email) = lower($2)",
    [person.workspaceId, person.email],
  );
}

export async function insert(
  tx: Transaction,
  connection: Connection & { workspaceId: string; clientDigest: Buffer },
): Promise<void> {
  const { workspaceId, apiKeyId, email, clientDigest, clientName } = connection;
  await tx.query(
    `insert into connections
       (workspace_id, api_key_id, email, client_digest, client_name, redirect_host, redirect_uri)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      workspaceId,
      apiKeyId,
      email,
      clientDigest,
      clientName,
      connection.redirectHost,
      connection.redirectUri,
    ],
  );
}

/** Those that work, or would if their person called. */
export async function listInUseOf(db: Queryable, person: Person): Promise<KeyOf[]> {
  const { rows } = await db.query<{ api_key_id: string }>(
    `select c.api_key_id from connections c
     join api_keys k on k.workspace_id = c.workspace_id and k.id = c.api_key_id
     where c.workspace_id = $1 and lower(c.email) = lower($2) and k.revoked_at is null
     order by c.api_key_id`,
    [person.workspaceId, person.email],
  );
  return rows.map((row) => ({ workspaceId: person.workspaceId, apiKeyId: row.api_key_id }));
}

/** Those whose tokens have all expired: nothing can wake them up. */
export async function listIdle(db: Queryable, workspaceId: string): Promise<KeyOf[]> {
  const { rows } = await db.query<{ api_key_id: string }>(
    `select c.api_key_id from connections c
     join api_keys k on k.workspace_id = c.workspace_id and k.id = c.api_key_id
     where c.workspace_id = $1 and k.revoked_at is null
       and not exists (
         select from connection_tokens t
         where t.workspace_id = c.workspace_id and t.api_key_id = c.api_key_id
           and t.expires_at > now()
       )
     order by c.api_key_id`,
    [workspaceId],
  );
  return rows.map((row) => ({ workspaceId, apiKeyId: row.api_key_id }));
}

/** The connections among these keys, by the id of the key. Searches all workspaces when none is given. */
export async function findByKey(
  db: Queryable,
  workspaceId: string | null,
  keys: readonly { id: string }[],
): Promise<Map<string, Connection>> {
  const { rows } = await db.query<ConnectionRow>(
    `select api_key_id, email, client_name, redirect_host, redirect_uri from connections
     where ($1::text is null or workspace_id = $1) and api_key_id = any ($2)`,
    [workspaceId, keys.map(({ id }) => id)],
  );
  return new Map(rows.map((row) => [row.api_key_id, toConnection(row)]));
}

/** Both of a pair. Expired tokens of the connection make room, and the oldest if there are very many. */
export async function insertTokens(
  tx: Transaction,
  { workspaceId, apiKeyId }: KeyOf,
  { access, refresh }: { access: Buffer; refresh: Buffer },
): Promise<void> {
  await tx.query(
    `delete from connection_tokens where workspace_id = $1 and api_key_id = $2 and (
       expires_at <= now() or digest in (
         select digest from connection_tokens where workspace_id = $1 and api_key_id = $2
         order by expires_at desc offset $3
       )
     )`,
    [workspaceId, apiKeyId, oauthTokensPerConnectionMax],
  );
  await tx.query(
    `insert into connection_tokens (workspace_id, api_key_id, digest, kind, expires_at)
     values ($1, $2, $3, 'access', now_ms() + interval '${oauthAccessMinutes} minutes'),
       ($1, $2, $4, 'refresh', now_ms() + interval '${oauthRefreshDays} days')`,
    [workspaceId, apiKeyId, access, refresh],
  );
}

/** A refresh token, with the connection that it belongs to. */
export type RefreshToken = KeyOf & {
  email: string;
  clientDigest: Buffer;
  clientName: string;
  /** Since its first use; null before that. */
  usedSecondsAgo: number | null;
};

type RefreshRow = {
  workspace_id: string;
  api_key_id: string;
  email: string;
  client_digest: Buffer;
  client_name: string;
  used_seconds_ago: number | null;
};

/** Of a connection that was not revoked. */
export async function findRefresh(db: Queryable, digest: Buffer): Promise<RefreshToken | null> {
  const { rows } = await db.query<RefreshRow>(
    `select t.workspace_id, t.api_key_id, c.email, c.client_digest, c.client_name,
       extract(epoch from now() - t.used_at)::float as used_seconds_ago
     from connection_tokens t
     join connections c using (workspace_id, api_key_id)
     join api_keys k on k.workspace_id = t.workspace_id and k.id = t.api_key_id
     where t.digest = $1 and t.kind = 'refresh' and t.expires_at > now() and k.revoked_at is null`,
    [digest],
  );
  return (
    rows.map((row) => ({
      workspaceId: row.workspace_id,
      apiKeyId: row.api_key_id,
      email: row.email,
      clientDigest: row.client_digest,
      clientName: row.client_name,
      usedSecondsAgo: row.used_seconds_ago,
    }))[0] ?? null
  );
}

export async function setUsed(
  tx: Transaction,
  { workspaceId, apiKeyId }: KeyOf,
  digest: Buffer,
): Promise<void> {
  await tx.query(
    `update connection_tokens set used_at = now_ms()
     where workspace_id = $1 and api_key_id = $2 and digest = $3`,
    [workspaceId, apiKeyId, digest],
  );
}

/** Those issued within the last minute. */
export async function countRefreshed(
  db: Queryable,
  { workspaceId, apiKeyId }: KeyOf,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from connection_tokens
     where workspace_id = $1 and api_key_id = $2 and kind = 'refresh'
       and expires_at > now() + interval '${oauthRefreshDays} days' - interval '1 minute'`,
    [workspaceId, apiKeyId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * The workspace and the key behind an access token; null when it is unknown, expired or revoked, and when the person who
 * connected the client has lost the right to.
 */
export async function findCaller(
  db: Queryable,
  digest: Buffer,
): Promise<{ workspaceId: string; keyDigest: Buffer } | null> {
  const { rows } = await db.query<{ workspace_id: string; digest: Buffer }>({
    name: "connections.findCaller",
    text: `
      select k.workspace_id, k.digest
      from connection_tokens t
      join connections c using (workspace_id, api_key_id)
      join api_keys k on k.workspace_id = t.workspace_id and k.id = t.api_key_id
      where t.digest = $1 and t.kind = 'access' and t.expires_at > now() and k.revoked_at is null
        and exists (
          select from members m
          where m.workspace_id = t.workspace_id and lower(m.email) = lower(c.email)
            and m.joined_at is not null and m.role in ('owner', 'admin')
        )`,
    values: [digest],
  });
  const [row] = rows;
  return row === undefined ? null : { workspaceId: row.workspace_id, keyDigest: row.digest };
}

function toConnection(row: ConnectionRow): Connection {
  return {
    apiKeyId: row.api_key_id,
    email: row.email,
    clientName: row.client_name,
    redirectHost: row.redirect_host,
    redirectUri: row.redirect_uri,
  };
}

function toCode(row: CodeRow): Code {
  return {
    workspaceId: row.workspace_id,
    digest: row.digest,
    email: row.email,
    clientDigest: row.client_digest,
    clientName: row.client_name,
    redirectUri: row.redirect_uri,
    challenge: row.challenge,
    apiKeyId: row.api_key_id,
  };
}
