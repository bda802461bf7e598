// The log_entries, log_openings and log_nodes tables: what is in a tree, what its entries stand for, and the hashes of
// its full tiles. Rows are only ever added, except openings, which leave with their request.

import type { Queryable, Transaction } from "../../database/database.ts";
import {
  rootOver,
  type TileHash,
  type TreeNode,
  type TreeRange,
  tileRangeOf,
} from "../../domain/proof/tree.ts";

export type NewEntry = {
  entry: string;
  leafHash: Buffer;
  subject: string;
  approvalId: string | null;
  salt: Buffer;
  fact: string;
};

/** An entry, and what it stands for unless that was deleted. */
export type OpenedEntry = {
  index: number;
  entry: string;
  opening: { salt: Buffer; fact: string } | null;
};

/** An entry with its place, which is after those that are there: the caller holds the tree and knows its size. */
export type PlacedEntry = NewEntry & { treeId: number; index: number };

export async function insertMany(tx: Transaction, entries: readonly PlacedEntry[]): Promise<void> {
  await tx.query({
    name: "logEntries.insertMany",
    text: `
      with added as (
        insert into log_entries (tree_id, index, entry, leaf_hash)
        select tree_id, index, entry, leaf_hash
        from unnest($1::integer[], $2::bigint[], $3::text[], $4::bytea[]) as given (tree_id, index, entry, leaf_hash)
      )
      insert into log_openings (tree_id, index, subject, approval_id, salt, fact)
      select tree_id, index, subject, approval_id, salt, fact
      from unnest($1::integer[], $2::bigint[], $5::text[], $6::text[], $7::bytea[], $8::text[])
        as given (tree_id, index, subject, approval_id, salt, fact)`,
    values: [
      entries.map(({ treeId }) => treeId),
      entries.map(({ index }) => index),
      entries.map(({ entry }) => entry),
      entries.map(({ leafHash }) => leafHash),
      entries.map(({ subject }) => subject),
      entries.map(({ approvalId }) => approvalId),
      entries.map(({ salt }) => salt),
      entries.map(({ fact }) => fact),
    ],
  });
}

export async function insertTileHashes(
  tx: Transaction,
  hashes: readonly (TileHash & { treeId: number })[],
): Promise<void> {
  if (hashes.length === 0) return;
  await tx.query({
    name: "logNodes.insertMany",
    text: `
      insert into log_nodes (tree_id, level, index, hash)
      select tree_id, level, index, hash
      from unnest($1::integer[], $2::smallint[], $3::bigint[], $4::bytea[]) as given (tree_id, level, index, hash)`,
    values: [
      hashes.map(({ treeId }) => treeId),
      hashes.map(({ level }) => level),
      hashes.map(({ index }) => index),
      hashes.map(({ hash }) => hash),
    ],
  });
}

/** The salt of each of these requests that has one, from whichever of its workspace's trees. */
export async function findSalts(
  db: Queryable,
  asked: readonly { workspaceId: string; approvalId: string }[],
): Promise<{ workspaceId: string; approvalId: string; salt: Buffer }[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<{ workspace_id: string; approval_id: string; salt: Buffer }>({
    name: "logOpenings.findSalts",
    text: `
      select asked.workspace_id, asked.approval_id, o.salt
      from unnest($1::text[], $2::text[]) as asked (workspace_id, approval_id)
      cross join lateral (
        select o.salt from log_openings o
        join log_trees t on t.id = o.tree_id and t.workspace_id = asked.workspace_id
        where o.approval_id = asked.approval_id
        limit 1
      ) as o`,
    values: [
      asked.map(({ workspaceId }) => workspaceId),
      asked.map(({ approvalId }) => approvalId),
    ],
  });
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    approvalId: row.approval_id,
    salt: row.salt,
  }));
}

type OpenedRow = { index: string; entry: string; salt: Buffer | null; fact: string | null };

const openedColumns = "e.index, e.entry, o.salt, o.fact";

/** The entries of a range, in order. */
export async function listRange(
  db: Queryable,
  { treeId, from, to }: TreeRange & { treeId: number },
): Promise<OpenedEntry[]> {
  const { rows } = await db.query<OpenedRow>({
    name: "logEntries.listRange",
    text: `
      select ${openedColumns} from log_entries e
      left join lateral (
        select o.salt, o.fact from log_openings o where o.tree_id = e.tree_id and o.index = e.index limit 1
      ) as o on true
      where e.tree_id = $1 and e.index >= $2 and e.index < $3
      order by e.index`,
    values: [treeId, from, to],
  });
  return rows.map(toOpened);
}

/** The texts of a range, in order. */
export async function listTexts(
  db: Queryable,
  { treeId, from, to }: TreeRange & { treeId: number },
): Promise<string[]> {
  const { rows } = await db.query<{ entry: string }>({
    name: "logEntries.listTexts",
    text: "select entry from log_entries where tree_id = $1 and index >= $2 and index < $3 order by index",
    values: [treeId, from, to],
  });
  return rows.map(({ entry }) => entry);
}

/** Entries of one request in these trees, in order. */
export async function listOfApproval(
  db: Queryable,
  { treeIds, approvalId }: { treeIds: readonly number[]; approvalId: string },
): Promise<(OpenedEntry & { treeId: number })[]> {
  const { rows } = await db.query<OpenedRow & { tree_id: number }>({
    name: "logEntries.listOfApproval",
    text: `
      select o.tree_id, ${openedColumns} from log_openings o
      cross join lateral (
        select e.index, e.entry from log_entries e where e.tree_id = o.tree_id and e.index = o.index limit 1
      ) as e
      where o.approval_id = $2 and o.tree_id = any ($1::integer[])
      order by o.tree_id, e.index`,
    values: [treeIds, approvalId],
  });
  return rows.map((row) => ({ treeId: row.tree_id, ...toOpened(row) }));
}

/** Of entries about this subject that belong to no request: the newest before an index. */
export async function findNewestAbout(
  db: Queryable,
  { treeId, subject, before }: { treeId: number; subject: string; before: number },
): Promise<OpenedEntry | null> {
  const { rows } = await db.query<OpenedRow>({
    name: "logEntries.findNewestAbout",
    text: `
      select ${openedColumns} from (
        select tree_id, index, salt, fact from log_openings
        where approval_id is null and subject = $2 and tree_id = $1 and index < $3
        order by index desc limit 1
      ) as o
      cross join lateral (
        select e.index, e.entry from log_entries e where e.tree_id = o.tree_id and e.index = o.index limit 1
      ) as e`,
    values: [treeId, subject, before],
  });
  const [row] = rows;
  return row === undefined ? null : toOpened(row);
}

/** Entries about this subject that belong to no request, in order, from an index on. */
export async function listAbout(
  db: Queryable,
  about: { treeId: number; subject: string; from: number; before: number; limit: number },
): Promise<OpenedEntry[]> {
  const { rows } = await db.query<OpenedRow>({
    name: "logEntries.listAbout",
    text: `
      select ${openedColumns} from (
        select tree_id, index, salt, fact from log_openings
        where approval_id is null and subject = $2 and tree_id = $1 and index >= $3 and index < $4
        order by index limit $5
      ) as o
      cross join lateral (
        select e.index, e.entry from log_entries e where e.tree_id = o.tree_id and e.index = o.index limit 1
      ) as e
      order by e.index`,
    values: [about.treeId, about.subject, about.from, about.before, about.limit],
  });
  return rows.map(toOpened);
}

/** Entries by tree and index; those that don't exist are left out. */
export async function listAt(
  db: Queryable,
  places: readonly { treeId: number; index: number }[],
): Promise<(NewEntry & { treeId: number; index: number })[]> {
  const { rows } = await db.query<{
    tree_id: number;
    index: string;
    entry: string;
    leaf_hash: Buffer;
    subject: string | null;
    approval_id: string | null;
    salt: Buffer | null;
    fact: string | null;
  }>({
    name: "logEntries.listAt",
    text: `
      select e.tree_id, e.index, e.entry, e.leaf_hash, o.subject, o.approval_id, o.salt, o.fact
      from unnest($1::integer[], $2::bigint[]) as asked (tree_id, index)
      cross join lateral (
        select * from log_entries e where e.tree_id = asked.tree_id and e.index = asked.index limit 1
      ) as e
      join lateral (
        select * from log_openings o where o.tree_id = asked.tree_id and o.index = asked.index limit 1
      ) as o on true`,
    values: [places.map(({ treeId }) => treeId), places.map(({ index }) => index)],
  });
  return rows.flatMap((row) =>
    row.salt === null || row.fact === null || row.subject === null
      ? []
      : {
          treeId: row.tree_id,
          index: Number(row.index),
          entry: row.entry,
          leafHash: row.leaf_hash,
          subject: row.subject,
          approvalId: row.approval_id,
          salt: row.salt,
          fact: row.fact,
        },
  );
}

/** The hashes of a tile, or of a part of one: of leaves at level 0, of full tiles above. */
export async function listTileHashes(
  db: Queryable,
  { treeId, level, from, to }: TreeRange & { treeId: number; level: number },
): Promise<Buffer[]> {
  const { rows } =
    level === 0
      ? await db.query<{ hash: Buffer }>({
          name: "logEntries.listHashes",
          text: `
            select leaf_hash as hash from log_entries
            where tree_id = $1 and index >= $2 and index < $3 order by index`,
          values: [treeId, from, to],
        })
      : await db.query<{ hash: Buffer }>({
          name: "logNodes.listHashes",
          text: `
            select hash from log_nodes
            where tree_id = $1 and level = $4 and index >= $2 and index < $3 order by index`,
          values: [treeId, from, to, level],
        });
  return rows.map(({ hash }) => hash);
}

/** A node of one of several trees. */
export type NodeOf = TreeNode & { treeId: number };

/** The hashes of these nodes of one tree, which must all be there. */
export async function readNodes(
  db: Queryable,
  treeId: number,
  nodes: readonly TreeNode[],
): Promise<(node: TreeNode) => Buffer> {
  const hashOf = await readNodesOfMany(
    db,
    nodes.map((node) => ({ ...node, treeId })),
  );
  return (node) => hashOf({ ...node, treeId });
}

/** In one statement, however many trees and levels. */
export async function readNodesOfMany(
  db: Queryable,
  nodes: readonly NodeOf[],
): Promise<(node: NodeOf) => Buffer> {
  const asked = [...new Map(nodes.map((node) => [keyOfNode(node), node])).values()];
  const hashes = await listHashesUnder(db, asked);
  const known = new Map<string, Buffer>();
  for (const [at, node] of asked.entries()) {
    const { level, from, to } = tileRangeOf(node);
    const below = hashes.get(at) ?? [];
    if (below.length !== to - from) {
      throw new Error(`hashes of the log ${node.treeId} are missing at level ${level}`);
    }
    known.set(keyOfNode(node), rootOver(below));
  }
  return (node) => {
    const hash = known.get(keyOfNode(node));
    if (hash === undefined) throw new Error("a node that was not read is asked for");
    return hash;
  };
}

const keyOfNode = ({ treeId, height, index }: NodeOf) => `${treeId} ${height} ${index}`;

/** The hashes of tiles that each node is the root of, in order, by the node's place in the list. */
async function listHashesUnder(
  db: Queryable,
  nodes: readonly NodeOf[],
): Promise<Map<number, Buffer[]>> {
  if (nodes.length === 0) return new Map();
  const ranges = nodes.map(tileRangeOf);
  const { rows } = await db.query<{ place: number; hashes: Buffer[] }>({
    name: "logNodes.listUnder",
    text: `
      select (asked.n - 1)::int as place, array(
        select leaf_hash from log_entries
        where tree_id = asked.tree_id and index >= asked.low and index < asked.high and asked.level = 0
        order by index
      ) || array(
        select hash from log_nodes
        where tree_id = asked.tree_id and level = asked.level and index >= asked.low and index < asked.high
        order by index
      ) as hashes
      from unnest($1::integer[], $2::smallint[], $3::bigint[], $4::bigint[]) with ordinality
        as asked (tree_id, level, low, high, n)`,
    values: [
      nodes.map(({ treeId }) => treeId),
      ranges.map(({ level }) => level),
      ranges.map(({ from }) => from),
      ranges.map(({ to }) => to),
    ],
  });
  return new Map(rows.map(({ place, hashes }) => [place, hashes]));
}

function toOpened({ index, entry, salt, fact }: OpenedRow): OpenedEntry {
  return {
    index: Number(index),
    entry,
    opening: salt === null || fact === null ? null : { salt, fact },
  };
}
