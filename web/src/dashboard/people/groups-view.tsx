// Approver groups: several people are asked, and one decides. Agents address a group by its key.

import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { Visible } from "../../look/visible-text.tsx";
import { useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { Empty } from "../states/empty.tsx";
import { GroupCard } from "./group-card.tsx";

type GroupsViewProps = { workspaceId: string; canChange: boolean };

export function GroupsView({ workspaceId, canChange }: GroupsViewProps) {
  const params = { workspaceId };
  const workspace = useCall("GET /workspaces/:workspaceId", { params });
  const list = useCall("GET /workspaces/:workspaceId/groups", { params });
  return (
    <Answered query={workspace} label="Loading the groups">
      {({ plan, hasGroups }) => (
        <Answered query={list} label="Loading the groups">
          {({ groups }) => <Groups {...{ groups, plan, hasGroups, workspaceId, canChange }} />}
        </Answered>
      )}
    </Answered>
  );
}

type GroupsProps = GroupsViewProps & {
  groups: readonly Group[];
  plan: string;
  hasGroups: boolean;
};

function Groups({ groups, plan, hasGroups, workspaceId, canChange }: GroupsProps) {
  return (
    <>
      {!hasGroups && (
        <section className="plan-note" aria-label="Plan">
          <p>
            <strong>
              The plan “<Visible text={plan} />” has no approver groups.
            </strong>
          </p>
          <p>
            A request to <code>group:…</code> is refused with <code>plan_required</code>. The
            operator of this service can change the plan.
          </p>
        </section>
      )}
      {groups.length === 0 ? (
        <Empty title="No group yet">
          <p>
            A group asks several people at once, and the first decision counts. Agents send{" "}
            <code>"notify": "group:&lt;key&gt;"</code> in place of an address, so you can change the
            members without changing the agent.
          </p>
        </Empty>
      ) : (
        <ul className="group-list">
          {groups.map((group) => (
            <li key={group.id}>
              <GroupCard
                workspaceId={workspaceId}
                group={group}
                canExtend={canChange && hasGroups}
                canRemove={canChange}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
