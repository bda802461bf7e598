// The slack_accounts table: which Slack account is whose, and how that is known. It counts for one app in one Slack team:
// the holder of another app's secrets could forge what that app says. There an account belongs to one address, and an
// address to one account.

import type { Queryable, Transaction } from "../../database/database.ts";

export type SlackAccount = {
  teamId: string;
  appId: string;
  slackUserId: string;
  /** In lower case. */
  email: string;
  /** `linked` was proven by a code from the inbox; `email` is what Slack says. */
  source: "linked" | "email";
  createdAt: Date;
};

type SlackAccountRow = {
  team_id: string;
  app_id: string;
  slack_user_id: string;
  email: string;
  source: "linked" | "email";
  created_at: Date;
};

const columns = "team_id, app_id, slack_user_id, email, source, created_at";

type SlackApp = { teamId: string; appId: string };
type SlackUser = SlackApp & { slackUserId: string };

export async function find(
  db: Queryable,
  { teamId, appId, slackUserId }: SlackUser,
): Promise<SlackAccount | null> {
  const { rows } = await db.query<SlackAccountRow>(
    `select ${columns} from slack_accounts where team_id = $1 and app_id = $2 and slack_user_id = $3`,
    [teamId, appId, slackUserId],
  );
  return rows.map(toAccount)[0] ?? null;
}

export async function findByEmail(
  db: Queryable,
  { teamId, appId, email }: SlackApp & { email: string },
): Promise<SlackAccount | null> {
  const { rows } = await db.query<SlackAccountRow>(
    `select ${columns} from slack_accounts where team_id = $1 and app_id = $2 and email = lower($3)`,
    [teamId, appId, email],
  );
  return rows.map(toAccount)[0] ?? null;
}

export async function listOfPerson(db: Queryable, email: string): Promise<SlackAccount[]> {
  const { rows } = await db.query<SlackAccountRow>(
    `select ${columns} from slack_accounts where email = lower($1) order by team_id`,
    [email],
  );
  return rows.map(toAccount);
}

/** With the name of each team, as a workspace that is connected to it knows it. An account in two apps is one entry. */
export async function listWithTeams(
  db: Queryable,
  email: string,
): Promise<(SlackAccount & { teamName: string })[]> {
  const { rows } = await db.query<SlackAccountRow & { team_name: string }>(
    `select distinct on (team_id, slack_user_id) ${columns}, coalesce((
       select c.team_name from slack_connections c where c.team_id = a.team_id order by c.connected_at desc limit 1
     ), team_id) as team_name
     from slack_accounts a where email = lower($1) order by team_id, slack_user_id, source desc`,
    [email],
  );
  return rows.map((row) => ({ ...toAccount(row), teamName: row.team_name }));
}

/** Whether a workspace that asked somebody, of the last ones, is connected to Slack. */
export async function canLink(db: Queryable, email: string): Promise<boolean> {
  const { rows } = await db.query<{ can_link: boolean }>(
    `select exists (
       select from (
         select r.workspace_id from reviewers r
         where lower(r.email) = lower($1) order by lower(r.email) desc, r.id desc limit ${placesLookedAtMax}
       ) as asked
       join slack_connections c on c.workspace_id = asked.workspace_id and c.broken_at is null
     ) as can_link`,
    [email],
  );
  return rows[0]?.can_link === true;
}

const placesLookedAtMax = 1_000;

/** Ends what linked either of the two before, through this app, so that each has one again. */
export async function link(
  tx: Transaction,
  { teamId, appId, slackUserId, email }: SlackUser & { email: string },
): Promise<void> {
  const values = [teamId, slackUserId, email, appId];
  await tx.query(
    `delete from slack_accounts
     where team_id = $1 and app_id = $4 and (slack_user_id = $2 or email = lower($3))`,
    values,
  );
  await tx.query(
    `insert into slack_accounts (team_id, app_id, slack_user_id, email, source)
     values ($1, $4, $2, lower($3), 'linked')`,
    values,
  );
}

/**
 * Keeps what Slack says of somebody's address. It replaces what Slack said before, and nothing that was proven; false
 * when either of the two is linked to another.
 */
export async function rememberEmail(
  tx: Transaction,
  { teamId, appId, slackUserId, email }: SlackUser & { email: string },
): Promise<boolean> {
  const values = [teamId, slackUserId, email, appId];
  await tx.query(
    `delete from slack_accounts
     where team_id = $1 and app_id = $4 and (slack_user_id = $2 or email = lower($3)) and source = 'email'
       and (slack_user_id, email) <> ($2, lower($3))`,
    values,
  );
  const { rows } = await tx.query<{ is_theirs: boolean }>(
    `with kept as (
       insert into slack_accounts (team_id, app_id, slack_user_id, email, source)
       values ($1, $4, $2, lower($3), 'email')
       on conflict do nothing
       returning true
     )
     select exists (select from kept) or exists (
       select from slack_accounts
       where team_id = $1 and app_id = $4 and slack_user_id = $2 and email = lower($3)
     ) as is_theirs`,
    values,
  );
  return rows[0]?.is_theirs === true;
}

/** In all apps of the team. False when there was none. */
export async function remove(
  tx: Transaction,
  { teamId, email }: { teamId: string; email: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    "delete from slack_accounts where team_id = $1 and email = lower($2)",
    [teamId, email],
  );
  return (rowCount ?? 0) > 0;
}

/** Slack no longer says that the address is theirs. What was linked stays. */
export async function removeMatched(
  tx: Transaction,
  { teamId, appId, email }: SlackApp & { email: string },
): Promise<void> {
  await tx.query(
    "delete from slack_accounts where team_id = $1 and app_id = $2 and email = lower($3) and source = 'email'",
    [teamId, appId, email],
  );
}

function toAccount(row: SlackAccountRow): SlackAccount {
  return {
    teamId: row.team_id,
    appId: row.app_id,
    slackUserId: row.slack_user_id,
    email: row.email,
    source: row.source,
    createdAt: row.created_at,
  };
}
