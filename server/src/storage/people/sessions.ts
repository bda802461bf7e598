// The sessions table: who is signed in, where and since when. Found by the digest of a token that only a cookie holds.

import type { Queryable, Transaction } from "../../database/database.ts";
import { sessionDaysMax, sessionIdleDaysMax, sessionsPerPersonMax } from "../../domain/limits.ts";
import type { Role } from "../../domain/workspace/role.ts";

export type SignInMethod = "code" | "link" | "passkey" | "oidc";

export type NewSession = {
  personId: string;
  tokenDigest: Buffer;
  method: SignInMethod;
  userAgent: string | null;
  address: string | null;
};

export type Session = {
  id: string;
  method: SignInMethod;
  userAgent: string | null;
  address: string | null;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
};

/** Somebody who is signed in, and their role in the workspace that they ask about: null when they have none there. */
export type Visitor = {
  personId: string;
  email: string;
  sessionId: string;
  /** How the session was opened. */
  method: SignInMethod;
  role: Role | null;
  /** It was last noted as used some minutes ago. */
  isStale: boolean;
};

/** The sessions that a person used longest ago make room when there are very many. */
export async function insert(tx: Transaction, session: NewSession): Promise<{ id: string }> {
  const { personId, tokenDigest, method, userAgent, address } = session;
  await tx.query(
    `delete from sessions where person_id = $1 and (
       expires_at <= now() or id in (
         select id from sessions where person_id = $1 order by last_seen_at desc offset $2
       )
     )`,
    [personId, sessionsPerPersonMax - 1],
  );
  const { rows } = await tx.query<{ id: string }>(
    `insert into sessions (person_id, token_digest, method, user_agent, address, expires_at)
     values ($1, $2, $3, $4, $5, now_ms() + interval '${sessionDaysMax} days')
     returning id`,
    [personId, tokenDigest, method, userAgent, address],
  );
  return rows[0] as { id: string };
}

/** Of a row `s` of sessions. */
export const isAlive = `s.expires_at > now() and s.last_seen_at > now() - interval '${sessionIdleDaysMax} days'`;

/**
 * The person behind a token: a member, or somebody who was asked to decide. Membership is read with it: a removed member
 * has no role at the very next call.
 */
export async function findVisitor(
  db: Queryable,
  tokenDigest: Buffer,
  workspaceId: string | null,
): Promise<Visitor | null> {
  const { rows } = await db.query<{
    person_id: string;
    email: string;
    session_id: string;
    method: SignInMethod;
    role: Role | null;
    is_stale: boolean;
  }>({
    name: "sessions.findVisitor",
    text: `
      select p.id as person_id, p.email, s.id as session_id, s.method,
        s.last_seen_at < now() - interval '5 minutes' as is_stale, (
        select m.role from members m
        where m.workspace_id = $2 and lower(m.email) = lower(p.email) and m.joined_at is not null
      ) as role
      from sessions s
      join people p on p.id = s.person_id
      where s.token_digest = $1 and ${isAlive}
        and (
          exists (select from members m where lower(m.email) = lower(p.email))
          or exists (select from reviewers r where lower(r.email) = lower(p.email))
        )`,
    values: [tokenDigest, workspaceId],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { person_id: personId, email, session_id: sessionId, method, role } = row;
  return { personId, email, sessionId, method, role, isStale: row.is_stale };
}

export async function touch(tx: Transaction, sessionId: string): Promise<void> {
  await tx.query("update sessions set last_seen_at = now_ms() where id = $1", [sessionId]);
}

/** Last used first. */
export async function list(db: Queryable, personId: string): Promise<Session[]> {
  const { rows } = await db.query<{
    id: string;
    method: SignInMethod;
    user_agent: string | null;
    address: string | null;
    created_at: Date;
    last_seen_at: Date;
    expires_at: Date;
  }>(
    `select id, method, user_agent, address, created_at, last_seen_at, expires_at from sessions s
     where person_id = $1 and ${isAlive} order by last_seen_at desc, id desc`,
    [personId],
  );
  return rows.map((row) => ({
    id: row.id,
    method: row.method,
    userAgent: row.user_agent,
    address: row.address,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
  }));
}

/** False when the person has no such session. */
export async function remove(
  tx: Transaction,
  { personId, sessionId }: { personId: string; sessionId: string },
): Promise<boolean> {
  const { rowCount } = await tx.query("delete from sessions where person_id = $1 and id = $2", [
    personId,
    sessionId,
  ]);
  return rowCount === 1;
}

/** The session of a browser in which somebody, the same person or another, has signed in anew. */
export async function removeReplaced(tx: Transaction, tokenDigest: Buffer): Promise<void> {
  await tx.query("delete from sessions where token_digest = $1", [tokenDigest]);
}

export async function removeOthers(
  tx: Transaction,
  { personId, sessionId }: { personId: string; sessionId: string },
): Promise<number> {
  const { rowCount } = await tx.query("delete from sessions where person_id = $1 and id <> $2", [
    personId,
    sessionId,
  ]);
  return rowCount ?? 0;
}

/** Sessions that have ended by themselves. */
export async function removeStale(tx: Transaction, limit: number): Promise<void> {
  await tx.query(
    `delete from sessions where id = any (array(
       select id from sessions where expires_at < now() order by expires_at limit $1
     ))`,
    [limit],
  );
}
