// The channels of a workspace on the dashboard: what is connected, and where its groups are asked.

import * as groupChannels from "../../../storage/channels/group-channels.ts";
import * as slackConnections from "../../../storage/channels/slack-connections.ts";
import type { Channels, GroupChannels, SlackConnection } from "../../../wire/dashboard-channels.ts";
import type { DashboardCalls, MemberVisit } from "../visit.ts";

export async function show(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<Channels> {
  const [slack, groups] = await Promise.all([
    slackConnections.find(db, workspaceId),
    groupChannels.list(db, workspaceId),
  ]);
  return {
    slack: slack === null ? null : toSlack(slack),
    groups: groups.filter(hasAny).map(toGroupChannels),
  };
}

/** Never with a secret. */
export function toSlack(connection: slackConnections.SlackConnection): SlackConnection {
  const { teamName, mode, matchesEmail, showsPayload, connectedBy } = connection;
  const { connectedAt, brokenAt, brokenReason } = connection;
  return {
    ...{ teamName, mode, matchesEmail, showsPayload, connectedBy },
    connectedAt: connectedAt.toISOString(),
    broken:
      brokenAt === null || brokenReason === null
        ? null
        : { at: brokenAt.toISOString(), reason: brokenReason },
  };
}

export function toGroupChannels(found: groupChannels.GroupChannels): GroupChannels {
  const { groupId, slackChannel, teamsHost, mailAfterMinutes } = found;
  return { groupId, slackChannel, teamsHost, mailAfterMinutes };
}

/** A row stays behind when everything was taken away. */
function hasAny({ slackChannel, teamsHost, mailAfterMinutes }: GroupChannels): boolean {
  return [slackChannel, teamsHost, mailAfterMinutes].some((each) => each !== null);
}
