// Approver groups: several people of whom one decides. Agents address a group by its key.

import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { useCall } from "../queries.ts";
import { GroupCard } from "./group-card.tsx";

type GroupsViewProps = { workspaceId: string; canChange: boolean };

export function GroupsView({ workspaceId, canChange }: GroupsViewProps) {
  const params = { workspaceId };
  const workspace = useCall("GET /workspaces/:workspaceId", { params });
  const list = useCall("GET /workspaces/:workspaceId/groups", { params });
  if (list.isPending || workspace.isPending) return <Loading label="Loading the groups" />;
  if (workspace.isError) {
    return <Problem error={workspace.error} onRetry={() => workspace.refetch()} />;
  }
  if (list.isError) return <Problem error={list.error} onRetry={() => list.refetch()} />;
  const { groups } = list.data;
  return (
    <>
      {!workspace.data.hasGroups && (
        <section className="plan-note" aria-label="Plan">
          <p>
            <strong>The plan “{workspace.data.plan}” has no approver groups.</strong>
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
            A group asks several people at once, and the first one to decide decides. Agents send{" "}
            <code>"notify": "group:&lt;key&gt;"</code> in place of an address, so that people come
            and go without a change of the agent.
          </p>
        </Empty>
      ) : (
        <ul className="group-list">
          {groups.map((group) => (
            <li key={group.id}>
              <GroupCard
                workspaceId={workspaceId}
                group={group}
                canExtend={canChange && workspace.data.hasGroups}
                canRemove={canChange}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
