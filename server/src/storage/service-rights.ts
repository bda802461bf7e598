// What the service's role may do to each table. What is final it can only add: no statement of the service, ours or a
// stranger's, changes or deletes it afterwards. The owner's role grants this after each migration, and runs nothing else.

import type pg from "pg";
import type { Queryable } from "../database/database.ts";
import { type MigrateOptions, migrate } from "../database/migrations.ts";

/** Every table may be read. `update` names the columns, or stands for all of them. */
export type TableRights = { insert?: true; update?: true | readonly string[]; delete?: true };

const read: TableRights = {};
const added: TableRights = { insert: true };
const changed: TableRights = { insert: true, update: true };
const removed: TableRights = { insert: true, delete: true };
const free: TableRights = { insert: true, update: true, delete: true };

/** A table that isn't here can't be used; a test holds this list to the schema. */
export const serviceRights: Readonly<Record<string, TableRights>> = {
  // Final once written. Whole requests leave by delete_old_requests, which is the owner's.
  activity: added,
  events: added,
  evidence: added,
  log_checkpoints: added,
  log_contradictions: added,
  log_cosignatures: added,
  log_entries: added,
  log_nodes: added,
  log_openings: added,
  receipts: added,
  redemptions: added,
  revisions: added,
  votes: added,
  // Final once decided: a trigger refuses the rest. What was asked, of whom and until when never changes.
  approvals: {
    insert: true,
    update: [
      "status",
      "edit",
      "resolved_at",
      "resolved_by_email",
      "resolution_note",
      "remind_at",
      "voting",
      "has_seats",
      "has_channels",
    ],
  },
  // A tree only grows, which a trigger holds, and the service grows only what it has sealed.
  log_trees: { insert: true, update: ["size", "root", "seal", "sealed_by", "closed_at"] },
  signing_keys: { insert: true, update: ["retired_at", "revoked_at"] },
  // Who was asked, and how far that got.
  reviewers: { insert: true, update: ["opened_at", "code_tries"] },
  seats: {
    insert: true,
    update: ["person_email", "reviewer_id", "group_id", "reason", "given_to", "absence_ids"],
  },
  stages: { insert: true, update: ["entered_at", "completed_at"] },
  steps: { insert: true, update: ["due_at", "done_at", "outcome"] },
  votings: {
    insert: true,
    update: ["later_owners", "revision", "stage", "escalated_at", "stuck_at", "unreachable_at"],
  },
  // Queues. A fact that waits for the log is in its own table already.
  channel_news: free,
  log_pending: removed,
  search_backlog: free,
  search_queue: free,
  voting_checks: removed,
  // Deliveries at work.
  attempts: free,
  callback_notices: changed,
  channel_messages: changed,
  deliveries: changed,
  mailboxes: changed,
  log_tellings: changed,
  // What can be computed anew, or is counted.
  approval_words: changed,
  daily_figures: changed,
  monthly_usage: changed,
  search_seasons: changed,
  // Settings, and people.
  absences: free,
  api_keys: changed,
  callback_secrets: changed,
  connection_codes: free,
  connection_tokens: free,
  connections: changed,
  endpoint_secrets: free,
  endpoints: changed,
  group_channels: free,
  group_members: free,
  groups: changed,
  members: free,
  passkeys: free,
  people: changed,
  person_settings: changed,
  push_identity: removed,
  push_subscriptions: free,
  sessions: free,
  sign_in_challenges: free,
  sign_in_secrets: free,
  slack_accounts: free,
  slack_connections: free,
  slack_link_codes: free,
  workspaces: changed,
  // The operator's, and the owner's.
  migrations: read,
  plans: read,
};

/** Functions that the service's role may call, and nobody else beside the owner. */
const serviceFunctions = ["delete_old_requests(text, integer)"];

/** Brings the schema up to date as its owner, and grants the service's role what it needs; null where they are one. */
export function migrateAsOwner(
  owner: pg.ClientConfig,
  serviceRole: string | null,
  tell?: MigrateOptions["tell"],
): Promise<string[]> {
  return migrate(owner, {
    ...(tell === undefined ? {} : { tell }),
    ...(serviceRole === null
      ? {}
      : { afterwards: (client) => grantServiceRights(client, serviceRole) }),
  });
}

/** Grants exactly the rights above. Where they are there already it changes nothing, so every start may call it. */
export async function grantServiceRights(client: Queryable, role: string): Promise<void> {
  const { rows } = await client.query<{ quoted: string; schema: string; is_owner: boolean }>(
    "select quote_ident($1) as quoted, quote_ident(current_schema()) as schema, $1 = current_user as is_owner",
    [role],
  );
  const { quoted = "", schema = "", is_owner: isOwner = true } = rows[0] ?? {};
  if (isOwner) return;
  const statements = [
    ...(await closeToOthers(client)),
    ...(await schemaStatements(client, role, { quoted, schema })),
    ...(await tableStatements(client, role, { quoted, schema })),
  ];
  if (statements.length === 0) return;
  await client.query(["begin", ...statements, "commit"].join(";\n"));
}

/** A table of the same name in a schema that comes first would take a trigger's rows, so nobody may make one. */
async function closeToOthers(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('revoke temporary on database %I from public', d.datname) as statement
     from pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
     where d.datname = current_database() and pg_has_role(d.datdba, 'usage')
       and a.grantee = 0 and a.privilege_type = 'TEMPORARY'
     union all
     select format('revoke create on schema %I from public', n.nspname)
     from pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
     where n.nspname = current_schema() and pg_has_role(n.nspowner, 'usage')
       and a.grantee = 0 and a.privilege_type = 'CREATE'`,
  );
  return rows.map(({ statement }) => statement);
}

type Grantee = { quoted: string; schema: string };

async function schemaStatements(
  client: Queryable,
  role: string,
  { quoted, schema }: Grantee,
): Promise<string[]> {
  const { rows } = await client.query<{ connects: boolean; uses: boolean }>(
    `select has_database_privilege($1, current_database(), 'connect') as connects,
       has_schema_privilege($1, current_schema(), 'usage') as uses`,
    [role],
  );
  const { rows: functions } = await client.query<{ name: string }>(
    "select name from unnest($2::text[]) as name where not has_function_privilege($1, name, 'execute')",
    [role, serviceFunctions],
  );
  const { rows: names } = await client.query<{ name: string }>(
    "select quote_ident(current_database()) as name",
  );
  return [
    ...(rows[0]?.connects ? [] : [`grant connect on database ${names[0]?.name} to ${quoted}`]),
    ...(rows[0]?.uses ? [] : [`grant usage on schema ${schema} to ${quoted}`]),
    ...functions.map(({ name }) => `grant execute on function ${name} to ${quoted}`),
  ];
}

/** For each table whose rights differ: all of them anew, in one transaction, so that a running service misses none. */
async function tableStatements(
  client: Queryable,
  role: string,
  { quoted, schema }: Grantee,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string; held: string[] }>(grantedSql, [role]);
  return rows.flatMap(({ name, held }) => {
    const rights = serviceRights[name];
    if (rights === undefined) return [];
    const wanted = privilegesOf(rights);
    if (wanted.toSorted().join() === held.toSorted().join()) return [];
    const table = `${schema}.${name}`;
    return [
      `revoke all on ${table} from ${quoted}`,
      `grant ${wanted.join(", ")} on ${table} to ${quoted}`,
    ];
  });
}

/** As PostgreSQL's catalogue and its GRANT both write them. */
function privilegesOf({ insert, update, delete: removal }: TableRights): string[] {
  const updates =
    update === undefined
      ? []
      : update === true
        ? ["UPDATE"]
        : update.map((column) => `UPDATE (${column})`);
  return ["SELECT", ...(insert ? ["INSERT"] : []), ...updates, ...(removal ? ["DELETE"] : [])];
}

const grantedSql = `
  select c.relname as name, array(
    select a.privilege_type from aclexplode(c.relacl) a where a.grantee = g.oid
    union all
    select a.privilege_type || ' (' || t.attname || ')'
    from pg_attribute t, aclexplode(t.attacl) a
    where t.attrelid = c.oid and t.attacl is not null and a.grantee = g.oid
  ) as held
  from pg_class c, pg_roles g
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and g.rolname = $1`;

/** What the connection's own role may do beyond what the service needs. */
export type RoleStanding = {
  role: string;
  /** It owns the tables, or is as good as their owner: nothing is out of its reach. */
  isOwner: boolean;
  /** Rights beyond the table above, such as `DELETE on events`. */
  excess: string[];
};

export async function examineRole(db: Queryable): Promise<RoleStanding> {
  const { rows } = await db.query<{ role: string; is_owner: boolean; excess: string[] }>(
    standingSql,
    [
      Object.keys(serviceRights),
      Object.values(serviceRights).map((rights) => privilegesOf(rights).join()),
    ],
  );
  const [{ role, is_owner: isOwner, excess } = { role: "", is_owner: true, excess: [] }] = rows;
  return { role, isOwner, excess };
}

/** What an operator should know of it, with what to do; null where the role is as it should be. */
export function flawOfRole({ role, isOwner, excess }: RoleStanding): string | null {
  if (isOwner) {
    return `the service runs as ${role}, which owns its tables: whoever gets hold of DATABASE_URL could change decided requests and the log. Run it as a second role, and give the owner's address in DATABASE_OWNER_URL for migrating (docs/operating.md, "Two roles")`;
  }
  if (excess.length === 0) return null;
  const [shown, more] = [excess.slice(0, excessShown), excess.length - excessShown];
  const list = `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `the service's role ${role} may do more than it needs: ${list}. Take that from it and from PUBLIC (docs/operating.md, "Two roles")`;
}

const excessShown = 5;

// A role that may become the owner, by membership or as a superuser, is as good as the owner.
const standingSql = `
  select current_user as role, exists (
    select from pg_class c where c.oid = to_regclass('approvals') and pg_has_role(c.relowner, 'member')
  ) as is_owner, array(
    select p.name || ' on ' || t.name
    from unnest($1::text[], $2::text[]) as t (name, rights)
    cross join unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) as p (name)
    where to_regclass(t.name) is not null and has_table_privilege(to_regclass(t.name), p.name)
      and p.name <> all (string_to_array(t.rights, ','))
    union all
    select 'CREATE on schema ' || current_schema() where has_schema_privilege(current_schema(), 'create')
    union all
    select p || ' on database ' || current_database()
    from unnest(array['CREATE', 'TEMPORARY']) as p where has_database_privilege(current_database(), p)
  ) as excess`;
