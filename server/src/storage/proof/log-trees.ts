// The log_trees table: each workspace's log and the installation's, how far it has grown, and in which database it
// lives. A tree whose row is locked grows by one commit at a time.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { Head, Seal } from "../../domain/proof/head-seal.ts";
import type { LogOwner } from "./log-pending.ts";

export type LogTree = Head & {
  owner: LogOwner;
  home: string;
  isClosed: boolean;
  /** Null as long as nothing was added. Without ours the head was written by somebody else. */
  seal: Seal | null;
};

type TreeRow = {
  id: number;
  owner: string;
  origin: string;
  home: string;
  size: string;
  root: Buffer;
  is_closed: boolean;
  seal: Buffer | null;
  sealed_by: string | null;
};

const columns = `t.id, coalesce(t.workspace_id, '') as owner, t.origin, t.home, t.size, t.root,
    t.closed_at is not null as is_closed, t.seal, t.sealed_by`;

/** A tree that is held until the commit, and the database in which this was asked. */
export type HeldTree = { tree: LogTree; homeNow: string };

/** The open trees of these owners, locked until the commit. One that another process holds is left out. */
export async function lockMany(tx: Transaction, owners: readonly LogOwner[]): Promise<HeldTree[]> {
  const { rows } = await tx.query<TreeRow & { home_now: string }>({
    name: "logTrees.lockMany",
    text: `
      select ${columns}, (select log_home()) as home_now from log_trees t
      where coalesce(t.workspace_id, '') = any ($1::text[]) and t.closed_at is null
      for update of t skip locked`,
    values: [owners],
  });
  return rows.map((row) => ({ tree: toTree(row), homeNow: row.home_now }));
}

export async function lock(tx: Transaction, owner: LogOwner): Promise<LogTree | null> {
  const [held] = await lockMany(tx, [owner]);
  return held?.tree ?? null;
}

/** Those of these owners that have no open tree, in the order given. */
export async function listWithoutTree(
  tx: Transaction,
  owners: readonly LogOwner[],
): Promise<LogOwner[]> {
  const { rows } = await tx.query<{ owner: string }>({
    name: "logTrees.listWithoutTree",
    text: `
      select asked.owner from unnest($1::text[]) with ordinality as asked (owner, n)
      where not exists (
        select from log_trees t where coalesce(t.workspace_id, '') = asked.owner and t.closed_at is null
      )
      order by asked.n`,
    values: [owners],
  });
  return rows.map(({ owner }) => owner);
}

/** Null if there is an open one, which another process has just made or holds, or one of that name. */
export async function insert(
  tx: Transaction,
  { owner, origin, home, root }: Pick<LogTree, "owner" | "origin" | "home" | "root">,
): Promise<LogTree | null> {
  const { rows } = await tx.query<TreeRow>(
    `insert into log_trees as t (workspace_id, origin, home, root) values (nullif($1, ''), $2, $3, $4)
     on conflict do nothing
     returning ${columns}`,
    [owner, origin, home, root],
  );
  return toTreeOrNull(rows);
}

/** Under their locks. */
export async function growMany(
  tx: Transaction,
  trees: readonly (Head & { seal: Seal })[],
): Promise<void> {
  await tx.query({
    name: "logTrees.growMany",
    text: `
      update log_trees t set size = grown.size, root = grown.root, seal = grown.seal, sealed_by = grown.sealed_by
      from unnest($1::integer[], $2::bigint[], $3::bytea[], $4::bytea[], $5::text[])
        as grown (id, size, root, seal, sealed_by)
      where t.id = grown.id`,
    values: [
      trees.map(({ id }) => id),
      trees.map(({ size }) => size),
      trees.map(({ root }) => root),
      trees.map(({ seal }) => seal.seal),
      trees.map(({ seal }) => seal.sealedBy),
    ],
  });
}

/** Under its lock. It never grows again. */
export async function close(tx: Transaction, id: number): Promise<void> {
  await tx.query("update log_trees set closed_at = now_ms() where id = $1", [id]);
}

/** With the database in which this was asked. One that doesn't exist is left out. */
export async function listByIds(db: Queryable, ids: readonly number[]): Promise<HeldTree[]> {
  const { rows } = await db.query<TreeRow & { home_now: string }>({
    name: "logTrees.listByIds",
    text: `
      select ${columns}, (select log_home()) as home_now from log_trees t
      where t.id = any ($1::integer[]) order by t.id`,
    values: [ids],
  });
  return rows.map((row) => ({ tree: toTree(row), homeNow: row.home_now }));
}

/** All trees of an owner, oldest first: the first has generation 1. */
export async function listOf(db: Queryable, owner: LogOwner): Promise<LogTree[]> {
  const { rows } = await db.query<TreeRow>(
    `select ${columns} from log_trees t where coalesce(t.workspace_id, '') = $1 order by t.id`,
    [owner],
  );
  return rows.map(toTree);
}

/** All trees, the open ones of each owner included. */
export async function list(db: Queryable): Promise<LogTree[]> {
  const { rows } = await db.query<TreeRow>(
    `select ${columns} from log_trees t order by t.workspace_id nulls first, t.id`,
  );
  return rows.map(toTree);
}

/** The open trees whose head is in no checkpoint, or that began in another database. */
export async function listToMend(db: Queryable, homeNow: string): Promise<LogTree[]> {
  const { rows } = await db.query<TreeRow>({
    name: "logTrees.listToMend",
    text: `
      select ${columns} from log_trees t
      where t.closed_at is null and (t.home <> $1 or t.size > 0 and not exists (
        select from log_checkpoints c where c.tree_id = t.id and c.size = t.size
      ))`,
    values: [homeNow],
  });
  return rows.map(toTree);
}

/** The owners of open trees whose heads one of these keys has sealed, or none: they have not grown since seals are made. */
export async function listToSeal(
  db: Queryable,
  secretKeyIds: readonly string[],
): Promise<LogOwner[]> {
  const { rows } = await db.query<{ owner: string }>(
    `select coalesce(t.workspace_id, '') as owner from log_trees t
     where t.closed_at is null and (t.seal is null or t.sealed_by = any ($1::text[]))
     order by 1`,
    [secretKeyIds],
  );
  return rows.map(({ owner }) => owner);
}

/** The database that this is: cluster, oid and timeline. */
export async function readHome(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ home: string }>({
    name: "logTrees.readHome",
    text: "select log_home() as home",
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the database doesn't say which one it is");
  return row.home;
}

/** A checkpoint must never be older than its entries: the commit waits for the disk, whatever the operator has set. */
export async function commitDurably(tx: Transaction): Promise<void> {
  await tx.query("set local synchronous_commit = on");
}

/** The transaction's own time. */
export async function readNow(tx: Queryable): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>("select now_ms() as now");
  const [row] = rows;
  if (row === undefined) throw new Error("the database tells no time");
  return row.now;
}

/** Whether it was opened longer ago than this. */
export async function isOlderThan(db: Queryable, id: number, ms: number): Promise<boolean> {
  const { rows } = await db.query<{ is_older: boolean }>(
    `select created_at < now() - $2::float8 * interval '1 ms' as is_older from log_trees where id = $1`,
    [id, ms],
  );
  return rows[0]?.is_older === true;
}

/** Requests that are not in the log yet: those from before it, without those that just wait for it. */
export async function countRequestsBefore(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select (
       select count(*) from approvals a where a.workspace_id = $1
     )::int - (
       select count(*) from log_pending p
       cross join lateral (
         select e.kind from events e where e.workspace_id = p.workspace_id and e.id = p.subject limit 1
       ) as e
       where p.workspace_id = $1 and p.source = 'e' and e.kind = 'request.created'
     )::int as count`,
    [workspaceId],
  );
  return Math.max(0, rows[0]?.count ?? 0);
}

function toTreeOrNull([row]: TreeRow[]): LogTree | null {
  return row === undefined ? null : toTree(row);
}

function toTree(row: TreeRow): LogTree {
  return {
    id: row.id,
    owner: row.owner,
    origin: row.origin,
    home: row.home,
    size: Number(row.size),
    root: row.root,
    isClosed: row.is_closed,
    seal:
      row.seal === null || row.sealed_by === null
        ? null
        : { seal: row.seal, sealedBy: row.sealed_by },
  };
}
