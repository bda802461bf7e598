// A request as a card in Teams tells it, and the webhook of the group that gets the card. Never the payload.

import type { Queryable } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import type { TeamsRequest } from "../../domain/channels/teams-card.ts";
import { isOpen, isSeatAwaited } from "../approvals/may-still-decide.ts";

export type ToldRequest = Omit<TeamsRequest, "outcome"> & {
  status: ApprovalStatus;
  resolvedByEmail: string | null;
  isEdited: boolean;
  /** The group is awaited just now: in this stage, and 1 where there are none. Null when it isn't. */
  askedInStage: number | null;
  /** Null when the group has no place in Teams any more. */
  webhook: { secretKeyId: string; sealed: Buffer } | null;
};

type Row = {
  id: string;
  workspace_name: string;
  group_name: string;
  summary: string;
  agent_name: string | null;
  expires_at: Date;
  status: ApprovalStatus;
  resolved_by_email: string | null;
  is_edited: boolean;
  asked_in_stage: number | null;
  teams_secret_key_id: string | null;
  teams_sealed: Buffer | null;
};

const seatOfGroup =
  "s.workspace_id = a.workspace_id and s.approval_id = a.id and s.group_id = g.id";

const findSql = `
  select a.id, w.name as workspace_name, g.name as group_name, a.summary, a.agent_name, a.expires_at, a.status,
    a.resolved_by_email, a.edit is not null as is_edited,
    case when not (${isOpen("a")}) then null
      when not a.has_seats then case when a.group_id = g.id then 1 end
      when ${isSeatAwaited(seatOfGroup)} then (
        select v.stage from votings v where v.workspace_id = a.workspace_id and v.approval_id = a.id
      ) end as asked_in_stage,
    c.teams_secret_key_id, c.teams_sealed
  from approvals a
  join workspaces w on w.id = a.workspace_id
  join groups g on g.workspace_id = a.workspace_id and g.id = $3
  left join group_channels c on c.workspace_id = g.workspace_id and c.group_id = g.id
  where a.workspace_id = $1 and a.id = $2`;

export async function find(
  db: Queryable,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
  groupId: string,
): Promise<ToldRequest | null> {
  const { rows } = await db.query<Row>({
    name: "teamsRequests.find",
    text: findSql,
    values: [workspaceId, approvalId, groupId],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { teams_secret_key_id: secretKeyId, teams_sealed: sealed } = row;
  return {
    id: row.id,
    workspaceName: row.workspace_name,
    groupName: row.group_name,
    summary: row.summary,
    agentName: row.agent_name,
    expiresAt: row.expires_at,
    status: row.status,
    resolvedByEmail: row.resolved_by_email,
    isEdited: row.is_edited,
    askedInStage: row.asked_in_stage,
    webhook: secretKeyId === null || sealed === null ? null : { secretKeyId, sealed },
  };
}
