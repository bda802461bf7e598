// The sign_in_challenges table: questions that a browser or an identity provider has still to answer. Each is answered
// once, because the row goes when the answer comes; how it is answered is not decided here.

import type { Transaction } from "../../database/database.ts";
import { signInChallengeMinutes } from "../../domain/limits.ts";

export type ChallengeKind = "passkey_new" | "passkey" | "oidc";

export type NewChallenge<Detail> = {
  kind: ChallengeKind;
  /** Null while it is not known who signs in. */
  personId: string | null;
  detail: Detail;
};

/** The id of the new question. */
export async function insert<Detail extends Record<string, string>>(
  tx: Transaction,
  { kind, personId, detail }: NewChallenge<Detail>,
): Promise<string> {
  const { rows } = await tx.query<{ id: string }>(
    `insert into sign_in_challenges (kind, person_id, detail, expires_at)
     values ($1, $2, $3, now_ms() + make_interval(mins => $4))
     returning id`,
    [kind, personId, detail, signInChallengeMinutes],
  );
  return (rows[0] as { id: string }).id;
}

export type TakenChallenge = {
  id: string;
  kind: ChallengeKind;
  personId: string | null;
  /** The challenge's detail must also hold this; a caller who doesn't know it takes nothing. */
  detail?: Record<string, string>;
};

/** The detail of the question, for the first caller who takes it in time. Null for all others. */
export async function take<Detail extends Record<string, string>>(
  tx: Transaction,
  { id, kind, personId, detail = {} }: TakenChallenge,
): Promise<Detail | null> {
  const { rows } = await tx.query<{ detail: Detail }>(
    `delete from sign_in_challenges
     where id = $1 and kind = $2 and person_id is not distinct from $3 and detail @> $4::jsonb
       and expires_at > now()
     returning detail`,
    [id, kind, personId, detail],
  );
  return rows[0]?.detail ?? null;
}

/** Removes questions that nobody answered in time. */
export async function removeStale(tx: Transaction, limit: number): Promise<void> {
  await tx.query(
    `delete from sign_in_challenges where id = any (array(
       select id from sign_in_challenges where expires_at < now() order by expires_at limit $1
     ))`,
    [limit],
  );
}
