// The redemptions table: which approved actions were handed out to run, when, and to which API key. A row is written
// once and never changes.

import type { Queryable, Transaction } from "../../database/database.ts";

/** An API key as people know it. Never the secret. */
export type RedeemingKey = { id: string; name: string };
export type Redemption = { redeemedAt: Date; redeemedBy: RedeemingKey };

type RedemptionRow = { redeemed_at: Date; api_key_id: string; api_key_name: string };

/**
 * Redeems an approval if it is approved and nobody has redeemed it: of any number of racing calls, one does. Checks the
 * caller's key in the same statement. Null for an unknown key; `redeemedAt` is null if this call did not do it.
 */
export async function insert(
  tx: Transaction,
  call: { keyDigest: Buffer; id: string; idempotencyKey: string | null },
): Promise<{ workspaceId: string; apiKeyId: string; redeemedAt: Date | null } | null> {
  const { rows } = await tx.query<{
    workspace_id: string;
    api_key_id: string;
    redeemed_at: Date | null;
  }>({
    name: "redemptions.insert",
    text: `
      with caller as (
        select workspace_id, id from api_keys where digest = $1 and revoked_at is null
      ), redeemed as (
        insert into redemptions (workspace_id, approval_id, api_key_id, idempotency_key)
        select caller.workspace_id, a.id, caller.id, $3
        from caller
        cross join lateral (
          select a.id from approvals a
          where a.workspace_id = caller.workspace_id and a.id = $2 and a.status = (select 'APPROVED')
          limit 1
        ) as a
        on conflict (workspace_id, approval_id) do nothing
        returning redeemed_at
      )
      select caller.workspace_id, caller.id as api_key_id,
        (select redeemed_at from redeemed) as redeemed_at
      from caller`,
    values: [call.keyDigest, call.id, call.idempotencyKey],
  });
  const [row] = rows;
  return row === undefined
    ? null
    : { workspaceId: row.workspace_id, apiKeyId: row.api_key_id, redeemedAt: row.redeemed_at };
}

/** The redemption of an approval, with the name of its key, which may be revoked since. */
export async function find(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<(Redemption & { idempotencyKey: string | null }) | null> {
  const { rows } = await db.query<RedemptionRow & { idempotency_key: string | null }>({
    name: "redemptions.find",
    text: `
      select r.redeemed_at, r.api_key_id, k.name as api_key_name, r.idempotency_key
      from redemptions r
      join api_keys k on k.workspace_id = r.workspace_id and k.id = r.api_key_id
      where r.workspace_id = $1 and r.approval_id = $2`,
    values: [workspaceId, id],
  });
  const [row] = rows;
  return row === undefined
    ? null
    : {
        redeemedAt: row.redeemed_at,
        redeemedBy: { id: row.api_key_id, name: row.api_key_name },
        idempotencyKey: row.idempotency_key,
      };
}
