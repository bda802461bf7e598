// The log_cosignatures table, by which others have seen the installation's log; and log_contradictions, where they have
// seen another one.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ContradictedLog } from "../deliveries/new-deliveries.ts";

export type WitnessedHead = {
  treeId: number;
  origin: string;
  /** Of the newest checkpoint. */
  size: number;
  note: string;
  /** The largest size that this witness has cosigned, 0 before its first. */
  cosignedSize: number;
};

/**
 * The newest checkpoint of the installation's log; null while there is none. With `slotMs` the newest from before the
 * present slot of so many milliseconds: whoever asks in a slot gets the same.
 */
export async function findHead(
  db: Queryable,
  { witness, slotMs = null }: { witness: string; slotMs?: number | null },
): Promise<WitnessedHead | null> {
  const { rows } = await db.query<{
    tree_id: number;
    origin: string;
    size: string;
    note: string;
    cosigned_size: string;
  }>({
    name: "logCosignatures.findHead",
    text: `
      select t.id as tree_id, t.origin, c.size, c.note, coalesce(w.size, 0) as cosigned_size
      from (
        select id, origin from log_trees where coalesce(workspace_id, '') = '' and closed_at is null limit 1
      ) as t
      cross join lateral (
        select size, note from log_checkpoints c
        where c.tree_id = t.id and ($2::float8 is null or c.signed_at < to_timestamp(
          floor(extract(epoch from now()) * 1000 / $2::float8) * $2::float8 / 1000
        ))
        order by c.size desc limit 1
      ) as c
      left join lateral (
        select size from log_cosignatures w
        where w.tree_id = t.id and w.witness = $1 order by w.size desc limit 1
      ) as w on true`,
    values: [witness, slotMs],
  });
  const [row] = rows;
  return row === undefined
    ? null
    : {
        treeId: row.tree_id,
        origin: row.origin,
        size: Number(row.size),
        note: row.note,
        cosignedSize: Number(row.cosigned_size),
      };
}

export type WitnessState = Omit<WitnessedHead, "note"> & {
  /** When the first checkpoint was signed that it has not cosigned; null if it has all. */
  behindSince: Date | null;
  /** What it has seen of another log of this name. */
  contradictedSize: number | null;
  now: Date;
};

/** How far a witness is; null while there is no checkpoint. */
export async function findState(db: Queryable, witness: string): Promise<WitnessState | null> {
  const head = await findHead(db, { witness });
  if (head === null) return null;
  const { rows } = await db.query<{
    behind_since: Date | null;
    contradicted_size: string | null;
    now: Date;
  }>(
    `select
       (select c.signed_at from log_checkpoints c
        where c.tree_id = $1 and c.size > $2 order by c.size limit 1) as behind_since,
       (select k.witnessed_size from log_contradictions k
        where k.tree_id = $1 and k.witness = $3) as contradicted_size,
       now_ms() as now`,
    [head.treeId, head.cosignedSize, witness],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a select without a table answers one row");
  const { note: _note, ...rest } = head;
  const contradictedSize = row.contradicted_size === null ? null : Number(row.contradicted_size);
  return { ...rest, behindSince: row.behind_since, contradictedSize, now: row.now };
}

export async function insert(
  tx: Transaction,
  cosignature: { treeId: number; size: number; witness: string; line: string },
): Promise<void> {
  await tx.query({
    name: "logCosignatures.insert",
    text: `
      insert into log_cosignatures (tree_id, size, witness, line) values ($1, $2, $3, $4)
      on conflict do nothing`,
    values: [cosignature.treeId, cosignature.size, cosignature.witness, cosignature.line],
  });
}

export type Contradiction = ContradictedLog & { treeId: number };

/**
 * Keeps that a witness contradicts this log, and tells every owner of the installation: one mail for each person. False,
 * and no mail, if that was told already.
 */
export async function insertContradiction(
  tx: Transaction,
  { treeId, ...detail }: Contradiction,
): Promise<boolean> {
  const { rows } = await tx.query<{ is_new: boolean }>(
    `with told as (
       insert into log_contradictions (tree_id, witness, witnessed_size, size) values ($1, $2, $3, $4)
       on conflict do nothing
       returning tree_id
     ), owner as (
       select distinct on (lower(m.email)) m.workspace_id, m.email from members m
       where m.role = 'owner' and m.joined_at is not null and exists (select from told)
       order by lower(m.email), m.workspace_id
     ), event as (
       insert into events (workspace_id, kind, detail)
       select distinct workspace_id, 'log.contradicted', $5::jsonb from owner
       returning workspace_id, id
     ), mail as (
       insert into deliveries (workspace_id, event_id, channel, recipient)
       select event.workspace_id, event.id, 'mail', owner.email
       from event join owner on owner.workspace_id = event.workspace_id
     )
     select exists (select from told) as is_new`,
    [treeId, detail.witness, detail.witnessedSize, detail.size, detail],
  );
  return rows[0]?.is_new === true;
}
