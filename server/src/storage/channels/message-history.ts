// The messages of one request, for its page in the dashboard: through which channel, to whom, and what became of them.

import type { Queryable } from "../../database/database.ts";
import type { MessageChannelName } from "../../domain/channels/wanted-messages.ts";
import { historyEntriesMax } from "../../domain/limits.ts";

export type ToldMessage = {
  channel: MessageChannelName;
  /** A person's address, the group's channel in Slack if it is still the same, or the group's name, as called today. */
  to: string;
  /** Null when it is for a group. */
  email: string | null;
  state: "due" | "sent" | "failed" | "skipped";
  /** When it first arrived. Later changes of it are no news to its readers. */
  sentAt: Date | null;
  failedAt: Date | null;
  failure: string | null;
};

type Row = {
  channel: MessageChannelName;
  to: string;
  email: string | null;
  state: ToldMessage["state"];
  sent_at: Date | null;
  failed_at: Date | null;
  failure: string | null;
};

export async function list(
  db: Queryable,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
): Promise<ToldMessage[]> {
  const { rows } = await db.query<Row>({
    name: "messageHistory.list",
    text: `
      select m.channel, m.state, coalesce(m.arrived_at, m.sent_at) as sent_at, m.failed_at, m.failure,
        case when m.group_id is null then m.target end as email,
        coalesce(
          case when m.channel = 'slack' and coalesce(m.slack_channel = c.slack_channel, true)
            then '#' || c.slack_channel_name end,
          g.name, m.target
        ) as to
      from channel_messages m
      left join groups g on g.workspace_id = m.workspace_id and g.id = m.group_id
      left join group_channels c on c.workspace_id = m.workspace_id and c.group_id = m.group_id
      where m.approval_id = $2 and m.workspace_id = $1
      order by m.created_at, m.channel, m.target
      limit ${historyEntriesMax}`,
    values: [workspaceId, approvalId],
  });
  return rows.map(({ sent_at: sentAt, failed_at: failedAt, ...row }) => ({
    ...row,
    sentAt,
    failedAt,
  }));
}
