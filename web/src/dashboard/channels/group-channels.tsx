// The channels of one group, on its card.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { GroupChannels as Places } from "../../../../server/src/wire/dashboard-channels.ts";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { useCall } from "../service/queries.ts";
import { GroupChannelsDialog } from "./group-channels-dialog.tsx";
import { GroupFacts } from "./group-facts.tsx";
import "./channels.css";

type GroupChannelsProps = { workspaceId: string; group: Group; canChange: boolean };

/** Nothing is shown until it is known, nor if it can't be read: the card's own facts matter more. */
export function GroupChannels({ workspaceId, group, canChange }: GroupChannelsProps) {
  const { data } = useCall("GET /workspaces/:workspaceId/channels", { params: { workspaceId } });
  if (data === undefined) return null;
  const own = data.groups.find(({ groupId }) => groupId === group.id);
  if (own === undefined && !canChange) return null;
  const places = own ?? placeless(group.id);
  return (
    <section className="group-channels" aria-label={`Channels of ${toVisibleText(group.name)}`}>
      <GroupFacts channels={places} />
      {canChange && (
        <GroupChannelsDialog
          workspaceId={workspaceId}
          group={group}
          places={places}
          hasSlack={data.slack !== null}
        />
      )}
    </section>
  );
}

function placeless(groupId: string): Places {
  return { groupId, slackChannel: null, teamsHost: null, mailAfterMinutes: null };
}
