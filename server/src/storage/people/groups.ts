// The groups table and the people in each group: approvers who are asked together.

import type { Queryable, Transaction } from "../../database/database.ts";

export type Group = {
  id: string;
  workspaceId: string;
  key: string;
  name: string;
  members: string[];
  /** Its people never approve without a passkey. */
  requiresSignature: boolean;
  createdAt: Date;
};

type GroupRow = {
  id: string;
  workspace_id: string;
  key: string;
  name: string;
  members: string[];
  requires_signature: boolean;
  created_at: Date;
};

const columns = `
  g.id, g.workspace_id, g.key, g.name, g.requires_signature, g.created_at,
  array(
    select m.email from group_members m
    where m.workspace_id = g.workspace_id and m.group_id = g.id
    order by m.created_at, m.email
  ) as members`;

export type GroupOfCaller = {
  workspaceId: string;
  plan: string;
  planHasGroups: boolean;
  group: Group | null;
};

/** The group that a caller names, with what the caller's plan says; null when the key is unknown or revoked. */
export async function findOfCaller(
  db: Queryable,
  keyDigest: Buffer,
  groupKey: string,
): Promise<GroupOfCaller | null> {
  type Row = Omit<GroupRow, "id"> & { id: string | null; plan: string; has_groups: boolean };
  const { rows } = await db.query<Row>({
    name: "groups.findOfCaller",
    text: `
      select w.plan, p.has_groups, ${columns}, w.id as workspace_id
      from api_keys k
      join workspaces w on w.id = k.workspace_id
      join plans p on p.name = w.plan
      left join groups g on g.workspace_id = w.id and g.key = $2 and g.deleted_at is null
      where k.digest = $1 and k.revoked_at is null`,
    values: [keyDigest, groupKey],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    workspaceId: row.workspace_id,
    plan: row.plan,
    planHasGroups: row.has_groups,
    group: row.id === null ? null : toGroup({ ...row, id: row.id }),
  };
}

/** Those of the keys that name a group. */
export async function listByKeys(
  db: Queryable,
  workspaceId: string,
  keys: readonly string[],
): Promise<Group[]> {
  if (keys.length === 0) return [];
  const { rows } = await db.query<GroupRow>(
    `select ${columns} from groups g
     where g.workspace_id = $1 and g.key = any($2::text[]) and g.deleted_at is null`,
    [workspaceId, keys],
  );
  return rows.map(toGroup);
}

export async function get(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<Group> {
  const { rows } = await db.query<GroupRow>(
    `select ${columns} from groups g where g.workspace_id = $1 and g.id = $2`,
    [workspaceId, id],
  );
  const [group] = rows.map(toGroup);
  if (group === undefined) throw new Error(`group ${id} vanished`);
  return group;
}

export async function list(db: Queryable, workspaceId: string | null): Promise<Group[]> {
  const { rows } = await db.query<GroupRow>(
    `select ${columns} from groups g
     where ($1::text is null or g.workspace_id = $1) and g.deleted_at is null
     order by g.id`,
    [workspaceId],
  );
  return rows.map(toGroup);
}

/** Whether there is a group with this key. If so, nobody deletes it until the transaction ends. */
export async function lockByKey(
  tx: Transaction,
  { workspaceId, key }: { workspaceId: string; key: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    "select from groups where workspace_id = $1 and key = $2 and deleted_at is null for share",
    [workspaceId, key],
  );
  return rowCount === 1;
}

export async function count(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from groups where workspace_id = $1 and deleted_at is null",
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** Locks a group against changes by others until the transaction ends. Searches all workspaces when none is given. */
export async function lock(
  tx: Transaction,
  { workspaceId, id }: { workspaceId: string | null; id: string },
): Promise<Group | null> {
  const { rows } = await tx.query<GroupRow>(
    `select ${columns} from groups g
     where g.id = $1 and ($2::text is null or g.workspace_id = $2) and g.deleted_at is null
     for no key update`,
    [id, workspaceId],
  );
  return rows.map(toGroup)[0] ?? null;
}

/**
 * The id of the new group, or null when the workspace has one with this key. A deleted group with this key comes back
 * under the new name, without members: requests are filtered by the key, and then those of both are found. It still asks
 * for signatures, if it did: whoever may not turn that off must not get round it by deleting the group. Its last
 * deletion is not forgotten: a request that was being created meanwhile is cancelled (listStranded).
 */
export async function insert(
  tx: Transaction,
  group: { workspaceId: string; key: string; name: string },
): Promise<string | null> {
  const { rows } = await tx.query<{ id: string }>(
    `insert into groups (workspace_id, key, name) values ($1, $2, $3)
     on conflict on constraint groups_key_key do update
     set name = excluded.name, created_at = now_ms(), deleted_at = null
     where groups.deleted_at is not null
     returning id`,
    [group.workspaceId, group.key, group.name],
  );
  return rows[0]?.id ?? null;
}

export async function rename(
  tx: Transaction,
  group: { workspaceId: string; id: string },
  name: string,
): Promise<void> {
  await tx.query("update groups set name = $3 where workspace_id = $1 and id = $2", [
    group.workspaceId,
    group.id,
    name,
  ]);
}

export async function setSignature(
  tx: Transaction,
  group: { workspaceId: string; id: string },
  requiresSignature: boolean,
): Promise<void> {
  await tx.query("update groups set requires_signature = $3 where workspace_id = $1 and id = $2", [
    group.workspaceId,
    group.id,
    requiresSignature,
  ]);
}

/**
 * Marks a group as deleted. It has no members any more, so nobody can decide for it, and no places in other channels. The
 * time of it stays, see insert.
 */
export async function remove(
  tx: Transaction,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  await tx.query(
    `with gone as (
       delete from group_members where workspace_id = $1 and group_id = $2
     ), placeless as (
       delete from group_channels where workspace_id = $1 and group_id = $2
     )
     update groups set deleted_at = now_ms(), last_deleted_at = now_ms() where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
}

/** The groups that a person is in, locked against changes by others, in one order for all. */
export async function lockOfMember(
  tx: Transaction,
  member: { workspaceId: string; email: string },
): Promise<Group[]> {
  const { rows } = await tx.query<GroupRow>(
    `select ${columns} from groups g where ${hasMember} order by g.id for no key update of g`,
    [member.workspaceId, member.email],
  );
  return rows.map(toGroup);
}

export async function listOfMember(
  db: Queryable,
  member: { workspaceId: string; email: string },
): Promise<Group[]> {
  const { rows } = await db.query<GroupRow>(
    `select ${columns} from groups g where ${hasMember} order by g.id`,
    [member.workspaceId, member.email],
  );
  return rows.map(toGroup);
}

const hasMember = `
  g.workspace_id = $1 and exists (
    select from group_members m
    where m.workspace_id = g.workspace_id and m.group_id = g.id and lower(m.email) = lower($2)
  )`;

/** Says whether it is a new member. */
export async function insertMember(
  tx: Transaction,
  member: { workspaceId: string; groupId: string; email: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into group_members (workspace_id, group_id, email) values ($1, $2, $3)
     on conflict (workspace_id, group_id, lower(email)) do nothing`,
    [member.workspaceId, member.groupId, member.email],
  );
  return rowCount === 1;
}

/** Says whether there was such a member. */
export async function removeMember(
  tx: Transaction,
  member: { workspaceId: string; groupId: string; email: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    "delete from group_members where workspace_id = $1 and group_id = $2 and lower(email) = lower($3)",
    [member.workspaceId, member.groupId, member.email],
  );
  return rowCount === 1;
}

/** In one statement: its trigger queues in one order what must be looked at, so that two removals never wait for each other. */
export async function removeFromMany(
  tx: Transaction,
  { workspaceId, groupIds, email }: { workspaceId: string; groupIds: string[]; email: string },
): Promise<void> {
  await tx.query(
    "delete from group_members where workspace_id = $1 and group_id = any ($2) and lower(email) = lower($3)",
    [workspaceId, groupIds, email],
  );
}

function toGroup(row: GroupRow): Group {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    key: row.key,
    name: row.name,
    members: row.members,
    requiresSignature: row.requires_signature,
    createdAt: row.created_at,
  };
}
