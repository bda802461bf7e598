// The places where a group is asked beside mail, and how long mail waits for them.

import type { Queryable, Transaction } from "../../database/database.ts";

export type GroupChannels = {
  workspaceId: string;
  groupId: string;
  slackChannel: { id: string; name: string } | null;
  /** The host of its Workflows webhook. The whole address is a secret. */
  teamsHost: string | null;
  /** Null: mail goes out at once. */
  mailAfterMinutes: number | null;
};

export type SealedTeamsUrl = { host: string; secretKeyId: string; sealed: Buffer };

type Row = {
  workspace_id: string;
  group_id: string;
  slack_channel: string | null;
  slack_channel_name: string | null;
  teams_host: string | null;
  mail_after_minutes: number | null;
};

type Where = { workspaceId: string; groupId: string };

const columns =
  "workspace_id, group_id, slack_channel, slack_channel_name, teams_host, mail_after_minutes";

/** A group without a row has no places, and its mails don't wait. */
export async function get(db: Queryable, { workspaceId, groupId }: Where): Promise<GroupChannels> {
  const { rows } = await db.query<Row>(
    `select ${columns} from group_channels where workspace_id = $1 and group_id = $2`,
    [workspaceId, groupId],
  );
  return rows.map(toGroupChannels)[0] ?? noneOf({ workspaceId, groupId });
}

/** Those of a workspace that have any. */
export async function list(db: Queryable, workspaceId: string): Promise<GroupChannels[]> {
  const { rows } = await db.query<Row>(
    `select ${columns} from group_channels where workspace_id = $1 order by group_id`,
    [workspaceId],
  );
  return rows.map(toGroupChannels);
}

/** They were channels of a Slack team that is no longer connected. */
export async function forgetSlackChannels(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query(
    `update group_channels set slack_channel = null, slack_channel_name = null, updated_at = now_ms()
     where workspace_id = $1 and slack_channel is not null`,
    [workspaceId],
  );
}

export async function setSlackChannel(
  tx: Transaction,
  { workspaceId, groupId }: Where,
  channel: { id: string; name: string } | null,
): Promise<void> {
  await tx.query(
    `insert into group_channels (workspace_id, group_id, slack_channel, slack_channel_name) values ($1, $2, $3, $4)
     on conflict (workspace_id, group_id) do update set
       slack_channel = excluded.slack_channel, slack_channel_name = excluded.slack_channel_name, updated_at = now_ms()`,
    [workspaceId, groupId, channel?.id ?? null, channel?.name ?? null],
  );
}

export async function setTeams(
  tx: Transaction,
  { workspaceId, groupId }: Where,
  teams: SealedTeamsUrl | null,
): Promise<void> {
  await tx.query(
    `insert into group_channels (workspace_id, group_id, teams_host, teams_secret_key_id, teams_sealed)
     values ($1, $2, $3, $4, $5)
     on conflict (workspace_id, group_id) do update set
       teams_host = excluded.teams_host, teams_secret_key_id = excluded.teams_secret_key_id,
       teams_sealed = excluded.teams_sealed, updated_at = now_ms()`,
    [
      ...[workspaceId, groupId, teams?.host ?? null],
      ...[teams?.secretKeyId ?? null, teams?.sealed ?? null],
    ],
  );
}

export async function setMailDelay(
  tx: Transaction,
  { workspaceId, groupId }: Where,
  minutes: number | null,
): Promise<void> {
  await tx.query(
    `insert into group_channels (workspace_id, group_id, mail_after_minutes) values ($1, $2, $3)
     on conflict (workspace_id, group_id) do update set
       mail_after_minutes = excluded.mail_after_minutes, updated_at = now_ms()`,
    [workspaceId, groupId, minutes],
  );
}

/**
 * Notes whether requests of a workspace are to look for channels: if Slack is connected, or a group is asked in Teams.
 * The caller holds the workspace's lock. To be called after each change of either.
 */
export async function noteOfWorkspace(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query(
    `with needed as (
       select exists (select from slack_connections c where c.workspace_id = $1) or exists (
         select from group_channels g where g.workspace_id = $1 and g.teams_sealed is not null
       ) as has_channels
     )
     update workspaces w set has_channels = needed.has_channels
     from needed
     where w.id = $1 and w.has_channels <> needed.has_channels`,
    [workspaceId],
  );
}

function noneOf(where: Where): GroupChannels {
  return { ...where, slackChannel: null, teamsHost: null, mailAfterMinutes: null };
}

function toGroupChannels(row: Row): GroupChannels {
  const { slack_channel: id, slack_channel_name: name } = row;
  return {
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    slackChannel: id === null || name === null ? null : { id, name },
    teamsHost: row.teams_host,
    mailAfterMinutes: row.mail_after_minutes,
  };
}
