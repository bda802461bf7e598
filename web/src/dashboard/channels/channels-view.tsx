// The tab of the settings about channels: Slack for the whole workspace, and which groups have places of their own.

import { Link } from "@tanstack/react-router";
import type { Channels } from "../../../../server/src/wire/dashboard-channels.ts";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { Visible } from "../../look/visible-text.tsx";
import { useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { GroupFacts } from "./group-facts.tsx";
import { SlackPanel } from "./slack-panel.tsx";
import "./channels.css";

type ChannelsViewProps = { workspaceId: string; canChange: boolean };

export function ChannelsView({ workspaceId, canChange }: ChannelsViewProps) {
  const params = { workspaceId };
  const channels = useCall("GET /workspaces/:workspaceId/channels", { params });
  const groups = useCall("GET /workspaces/:workspaceId/groups", { params });
  return (
    <Answered query={channels} label="Loading the channels" lines={6}>
      {(found) => (
        <div className="settings-parts">
          <SlackPanel workspaceId={workspaceId} slack={found.slack} canChange={canChange} />
          <Answered query={groups} label="Loading the groups">
            {(told) => (
              <GroupsPanel workspaceId={workspaceId} channels={found} groups={told.groups} />
            )}
          </Answered>
          <p className="quiet">
            Mail always stays: it is the default, and goes out at once when another channel fails.
            Everybody sets up push messages, quiet hours and their own Slack account in their inbox.
          </p>
        </div>
      )}
    </Answered>
  );
}

type GroupsPanelProps = { workspaceId: string; channels: Channels; groups: readonly Group[] };

function GroupsPanel({ workspaceId, channels, groups }: GroupsPanelProps) {
  const withChannels = groups.flatMap((group) => {
    const own = channels.groups.find(({ groupId }) => groupId === group.id);
    return own === undefined ? [] : [{ group, own }];
  });
  return (
    <section className="panel channel-panel" aria-labelledby="channel-groups-title">
      <h2 id="channel-groups-title">Groups</h2>
      <p className="quiet">
        A group can be asked in a Slack channel or in Teams. Change that{" "}
        <Link to="/app/w/$workspaceId/people" params={{ workspaceId }} search={{ tab: "groups" }}>
          on the group itself
        </Link>
        .
      </p>
      {withChannels.length === 0 ? (
        <p>All groups are asked by mail.</p>
      ) : (
        <ul className="channel-groups">
          {withChannels.map(({ group, own }) => (
            <li key={group.id}>
              <h3>
                <Visible text={group.name} />
              </h3>
              <GroupFacts channels={own} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
