// The log_checkpoints table: every head of a log that was ever signed, with the lines of witnesses.

import type { Queryable, Transaction } from "../../database/database.ts";
import { withSignatures } from "../../domain/proof/note.ts";
import { installation } from "./log-pending.ts";

export type KeptCheckpoint = {
  treeId: number;
  size: number;
  /** The signed note, without cosignatures. */
  note: string;
  signedAt: Date;
};

type CheckpointRow = { tree_id: number; size: string; note: string; signed_at: Date };

/**
 * Keeps the checkpoints of heads that are committed. Those of workspaces' logs go into the installation's in the same
 * statement. Answers how many were new: another process may have signed the same heads.
 */
export async function insertMany(
  tx: Transaction,
  signingKeyId: string,
  checkpoints: readonly {
    treeId: number;
    size: number;
    note: string;
    isOfInstallation: boolean;
  }[],
): Promise<number> {
  const { rowCount } = await tx.query({
    name: "logCheckpoints.insertMany",
    text: `
      with given as materialized (
        select tree_id, size, note, is_of_installation
        from unnest($2::integer[], $3::bigint[], $4::text[], $5::boolean[])
          as given (tree_id, size, note, is_of_installation)
      ), kept as (
        insert into log_checkpoints (tree_id, size, note, signing_key_id)
        -- In one order, so that processes that sign the same heads never wait for each other in a circle.
        select tree_id, size, note, $1 from given order by tree_id
        on conflict (tree_id, size) do nothing
        returning tree_id, size
      ), told as (
        insert into log_pending (workspace_id, source, subject)
        select '${installation}', 'k', tree_id || ':' || size from kept
        where tree_id not in (select tree_id from given where is_of_installation)
      )
      select from kept`,
    values: [
      signingKeyId,
      checkpoints.map(({ treeId }) => treeId),
      checkpoints.map(({ size }) => size),
      checkpoints.map(({ note }) => note),
      checkpoints.map(({ isOfInstallation }) => isOfInstallation),
    ],
  });
  return rowCount ?? 0;
}

export async function findNewest(db: Queryable, treeId: number): Promise<KeptCheckpoint | null> {
  const { rows } = await db.query<CheckpointRow>({
    name: "logCheckpoints.findNewest",
    text: `
      select tree_id, size, note, signed_at from log_checkpoints
      where tree_id = $1 order by size desc limit 1`,
    values: [treeId],
  });
  return toKeptOrNull(rows);
}

/** Walks from witness to witness of a tree, however much each has cosigned. */
const newestOfWitnesses = (trees: string) => `
      walk (tree_id, witness) as (
        select t.id, (
          select w.witness from log_cosignatures w where w.tree_id = t.id order by w.witness limit 1
        ) from ${trees}
        union all
        select walk.tree_id, (
          select w.witness from log_cosignatures w
          where w.tree_id = walk.tree_id and w.witness > walk.witness order by w.witness limit 1
        ) from walk where walk.witness is not null
      ), seen (tree_id, size) as (
        select walk.tree_id, (
          select w.size from log_cosignatures w
          where w.tree_id = walk.tree_id and w.witness = walk.witness order by w.size desc limit 1
        ) from walk where walk.witness is not null
      )`;

/** Of each witness the newest, oldest first. */
export async function listNewestCosigned(db: Queryable, treeId: number): Promise<KeptCheckpoint[]> {
  const { rows } = await db.query<CheckpointRow>({
    name: "logCheckpoints.listNewestCosigned",
    text: `
      with recursive ${newestOfWitnesses("(select $1::integer as id) as t")}
      select c.tree_id, c.size, c.note, c.signed_at
      from (select distinct tree_id, size from seen) as s
      cross join lateral (
        select * from log_checkpoints c where c.tree_id = s.tree_id and c.size = s.size limit 1
      ) as c
      order by c.size`,
    values: [treeId],
  });
  return rows.map(toKept);
}

export type WitnessedCheckpoint = KeptCheckpoint & {
  origin: string;
  cosigners: number;
  /** Nobody believes it any more. */
  isKeyRevoked: boolean;
};

/** Of each of the installation's logs the newest, the newest of each witness, and the last ones that any has cosigned. */
export async function listOfInstallation(db: Queryable): Promise<WitnessedCheckpoint[]> {
  const { rows } = await db.query<
    CheckpointRow & { origin: string; cosigners: number; is_key_revoked: boolean }
  >({
    name: "logCheckpoints.listOfInstallation",
    text: `
      with recursive whole (id) as (
        select id from log_trees where coalesce(workspace_id, '') = '${installation}'
      ), ${newestOfWitnesses("whole as t")}, chosen (tree_id, size) as (
        select tree_id, size from seen
        union
        select t.id, w.size from whole as t
        cross join lateral (
          select w.size from log_cosignatures w where w.tree_id = t.id order by w.size desc limit ${cosignaturesLookedAt}
        ) as w
        union
        select t.id, c.size from whole as t
        cross join lateral (
          select c.size from log_checkpoints c where c.tree_id = t.id order by c.size desc limit 1
        ) as c
      )
      select c.tree_id, c.size, c.note, c.signed_at, (
        select t.origin from log_trees t where t.id = c.tree_id
      ) as origin, (
        select count(*)::int from log_cosignatures w where w.tree_id = c.tree_id and w.size = c.size
      ) as cosigners, (
        select k.revoked_at is not null from signing_keys k where k.id = c.signing_key_id
      ) as is_key_revoked
      from chosen
      cross join lateral (
        select * from log_checkpoints c where c.tree_id = chosen.tree_id and c.size = chosen.size limit 1
      ) as c`,
  });
  return rows.map((row) => ({
    ...toKept(row),
    ...{ origin: row.origin, cosigners: row.cosigners, isKeyRevoked: row.is_key_revoked },
  }));
}

/** Several witnesses cosign the same head within seconds of each other. */
const cosignaturesLookedAt = 32;

/** The newest of the open log of a workspace; null while there is none. */
export async function findNewestOf(
  db: Queryable,
  workspaceId: string,
): Promise<KeptCheckpoint | null> {
  const { rows } = await db.query<CheckpointRow>({
    name: "logCheckpoints.findNewestOf",
    text: `
      select c.tree_id, c.size, c.note, c.signed_at
      from (
        select id from log_trees where coalesce(workspace_id, '') = $1 and closed_at is null limit 1
      ) as t
      cross join lateral (
        select * from log_checkpoints c where c.tree_id = t.id order by c.size desc limit 1
      ) as c`,
    values: [workspaceId],
  });
  return toKeptOrNull(rows);
}

export async function find(
  db: Queryable,
  { treeId, size }: { treeId: number; size: number },
): Promise<KeptCheckpoint | null> {
  const { rows } = await db.query<CheckpointRow>({
    name: "logCheckpoints.find",
    text: "select tree_id, size, note, signed_at from log_checkpoints where tree_id = $1 and size = $2",
    values: [treeId, size],
  });
  return toKeptOrNull(rows);
}

/** Those named, with the names of their logs; one that doesn't exist is left out. */
export async function listAt(
  db: Queryable,
  places: readonly { treeId: number; size: number }[],
): Promise<(KeptCheckpoint & { origin: string })[]> {
  const { rows } = await db.query<CheckpointRow & { origin: string }>({
    name: "logCheckpoints.listAt",
    text: `
      select c.tree_id, c.size, c.note, c.signed_at, (
        select t.origin from log_trees t where t.id = c.tree_id
      ) as origin
      from unnest($1::integer[], $2::bigint[]) with ordinality as asked (tree_id, size, n)
      cross join lateral (
        select * from log_checkpoints c where c.tree_id = asked.tree_id and c.size = asked.size limit 1
      ) as c
      order by asked.n`,
    values: [places.map(({ treeId }) => treeId), places.map(({ size }) => size)],
  });
  return rows.map((row) => ({ ...toKept(row), origin: row.origin }));
}

/** Of one log, the newest first, from a size down. */
export async function listDown(
  db: Queryable,
  { treeId, from, limit }: { treeId: number; from: number; limit: number },
): Promise<KeptCheckpoint[]> {
  const { rows } = await db.query<CheckpointRow>(
    `select tree_id, size, note, signed_at from log_checkpoints
     where tree_id = $1 and size <= $2 order by size desc limit $3`,
    [treeId, from, limit],
  );
  return rows.map(toKept);
}

/** The note with the lines of its witnesses. */
export async function readCosigned(
  db: Queryable,
  { treeId, size, note }: Pick<KeptCheckpoint, "treeId" | "size" | "note">,
): Promise<string> {
  const { rows } = await db.query<{ line: string }>({
    name: "logCosignatures.list",
    text: "select line from log_cosignatures where tree_id = $1 and size = $2 order by witness",
    values: [treeId, size],
  });
  return withSignatures(
    note,
    rows.map(({ line }) => line),
  );
}

function toKeptOrNull([row]: CheckpointRow[]): KeptCheckpoint | null {
  return row === undefined ? null : toKept(row);
}

function toKept(row: CheckpointRow): KeptCheckpoint {
  return {
    treeId: row.tree_id,
    size: Number(row.size),
    note: row.note,
    signedAt: row.signed_at,
  };
}
