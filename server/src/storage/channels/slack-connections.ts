// The slack_connections table: the Slack app through which a workspace reaches its people. Its secrets stay sealed here.

import type { Queryable, Transaction } from "../../database/database.ts";

export type SlackMode = "socket" | "http";

export type SlackConnection = {
  workspaceId: string;
  teamId: string;
  teamName: string;
  appId: string;
  botUserId: string;
  mode: SlackMode;
  secretKeyId: string;
  sealedBotToken: Buffer;
  /** There in mode `socket`. */
  sealedAppToken: Buffer | null;
  /** There in mode `http`. */
  sealedSigningSecret: Buffer | null;
  /** A Slack profile counts as the person whose confirmed address it has. */
  matchesEmail: boolean;
  showsPayload: boolean;
  connectedBy: string | null;
  connectedAt: Date;
  /** Slack no longer takes the token; null while it does. */
  brokenAt: Date | null;
  brokenReason: string | null;
};

export type NewSlackConnection = Omit<SlackConnection, "connectedAt" | "brokenAt" | "brokenReason">;

type SlackConnectionRow = {
  workspace_id: string;
  team_id: string;
  team_name: string;
  app_id: string;
  bot_user_id: string;
  mode: SlackMode;
  secret_key_id: string;
  sealed_bot_token: Buffer;
  sealed_app_token: Buffer | null;
  sealed_signing_secret: Buffer | null;
  matches_email: boolean;
  shows_payload: boolean;
  connected_by: string | null;
  connected_at: Date;
  broken_at: Date | null;
  broken_reason: string | null;
};

const columns = `
  workspace_id, team_id, team_name, app_id, bot_user_id, mode, secret_key_id, sealed_bot_token, sealed_app_token,
  sealed_signing_secret, matches_email, shows_payload, connected_by, connected_at, broken_at, broken_reason`;

export async function find(db: Queryable, workspaceId: string): Promise<SlackConnection | null> {
  const { rows } = await db.query<SlackConnectionRow>(
    `select ${columns} from slack_connections where workspace_id = $1`,
    [workspaceId],
  );
  return rows.map(toConnection)[0] ?? null;
}

/** Several workspaces may share one app, so a click names no single one of them. */
export async function listOfApp(
  db: Queryable,
  { teamId, appId }: { teamId: string; appId: string },
): Promise<SlackConnection[]> {
  const { rows } = await db.query<SlackConnectionRow>(
    `select ${columns} from slack_connections where team_id = $1 and app_id = $2 order by workspace_id`,
    [teamId, appId],
  );
  return rows.map(toConnection);
}

/** Those whose secret may have signed a call, in whatever team: the payload tells it, but isn't proven yet. */
export async function listOverHttp(db: Queryable, appId: string): Promise<SlackConnection[]> {
  const { rows } = await db.query<SlackConnectionRow>(
    `select ${columns} from slack_connections where app_id = $1 and mode = 'http' order by workspace_id`,
    [appId],
  );
  return rows.map(toConnection);
}

/** All, or those of one mode. */
export async function list(
  db: Queryable,
  { mode = null }: { mode?: SlackMode | null } = {},
): Promise<SlackConnection[]> {
  const { rows } = await db.query<SlackConnectionRow>(
    `select ${columns} from slack_connections where $1::text is null or mode = $1 order by workspace_id`,
    [mode],
  );
  return rows.map(toConnection);
}

/** Replaces an earlier connection of the workspace, which a create heeds from then on. */
export async function put(tx: Transaction, connection: NewSlackConnection): Promise<Date> {
  const { rows } = await tx.query<{ connected_at: Date }>(
    `with told as (update workspaces set has_channels = true where id = $1 and not has_channels)
     insert into slack_connections (
       workspace_id, team_id, team_name, app_id, bot_user_id, mode, secret_key_id, sealed_bot_token, sealed_app_token,
       sealed_signing_secret, matches_email, shows_payload, connected_by
     ) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict (workspace_id) do update set
       team_id = $2, team_name = $3, app_id = $4, bot_user_id = $5, mode = $6, secret_key_id = $7,
       sealed_bot_token = $8, sealed_app_token = $9, sealed_signing_secret = $10, matches_email = $11,
       shows_payload = $12, connected_by = $13, connected_at = now_ms(), broken_at = null, broken_reason = null
     returning connected_at`,
    [
      connection.workspaceId,
      connection.teamId,
      connection.teamName,
      connection.appId,
      connection.botUserId,
      connection.mode,
      connection.secretKeyId,
      connection.sealedBotToken,
      connection.sealedAppToken,
      connection.sealedSigningSecret,
      connection.matchesEmail,
      connection.showsPayload,
      connection.connectedBy,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a connection to Slack was not stored");
  return row.connected_at;
}

/** Null when there is none. */
export async function change(
  tx: Transaction,
  workspaceId: string,
  { matchesEmail, showsPayload }: Pick<SlackConnection, "matchesEmail" | "showsPayload">,
): Promise<SlackConnection | null> {
  const { rows } = await tx.query<SlackConnectionRow>(
    `update slack_connections set matches_email = $2, shows_payload = $3 where workspace_id = $1
     returning ${columns}`,
    [workspaceId, matchesEmail, showsPayload],
  );
  return rows.map(toConnection)[0] ?? null;
}

/** False when there was none. */
export async function remove(tx: Transaction, workspaceId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `with told as (
       update workspaces set has_channels = exists (
         select from group_channels g where g.workspace_id = $1 and g.teams_sealed is not null
       ) where id = $1
     )
     delete from slack_connections where workspace_id = $1`,
    [workspaceId],
  );
  return rowCount === 1;
}

/** Of this very connection: one that was made since then has another token. */
export async function markBroken(
  tx: Transaction,
  { workspaceId, connectedAt, reason }: { workspaceId: string; connectedAt: Date; reason: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update slack_connections set broken_at = now_ms(), broken_reason = $3
     where workspace_id = $1 and connected_at = $2 and broken_at is null`,
    [workspaceId, connectedAt, reason],
  );
  return rowCount === 1;
}

function toConnection(row: SlackConnectionRow): SlackConnection {
  return {
    workspaceId: row.workspace_id,
    teamId: row.team_id,
    teamName: row.team_name,
    appId: row.app_id,
    botUserId: row.bot_user_id,
    mode: row.mode,
    secretKeyId: row.secret_key_id,
    sealedBotToken: row.sealed_bot_token,
    sealedAppToken: row.sealed_app_token,
    sealedSigningSecret: row.sealed_signing_secret,
    matchesEmail: row.matches_email,
    showsPayload: row.shows_payload,
    connectedBy: row.connected_by,
    connectedAt: row.connected_at,
    brokenAt: row.broken_at,
    brokenReason: row.broken_reason,
  };
}
