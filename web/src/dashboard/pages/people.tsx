// People: who runs this workspace, and the groups of approvers that agents can ask.

import { useMembership } from "../membership.ts";
import { usePageSearch } from "../page-search.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { GroupsView } from "../people/groups-view.tsx";
import { InviteDialog } from "../people/invite-dialog.tsx";
import { MembersView } from "../people/members-view.tsx";
import { NewGroupDialog } from "../people/new-group-dialog.tsx";
import { useCall } from "../queries.ts";
import "./manage.css";
import "./people.css";

const tabs = [
  { id: "members", label: "Members" },
  { id: "groups", label: "Approver groups" },
] as const;

export function PeoplePage() {
  const { workspaceId, role, canChange } = useMembership();
  const [search, change] = usePageSearch();
  const chosen = tabs.find(({ id }) => id === search.tab)?.id ?? "members";
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  const hasGroups = workspace.data?.hasGroups ?? false;
  return (
    <>
      <PageHead
        title="People"
        subtitle={
          chosen === "members"
            ? "Members see and run this workspace."
            : "Members of a group are asked together, and the first one to decide decides."
        }
        actions={
          !canChange ? undefined : chosen === "members" ? (
            <InviteDialog workspaceId={workspaceId} ownRole={role} />
          ) : hasGroups ? (
            <NewGroupDialog workspaceId={workspaceId} />
          ) : undefined
        }
      />
      <Tabs
        label="People"
        tabs={tabs}
        value={chosen}
        onChange={(tab) => change({ tab: tab === "members" ? undefined : tab })}
      >
        {chosen === "members" ? (
          <MembersView workspaceId={workspaceId} role={role} />
        ) : (
          <GroupsView workspaceId={workspaceId} canChange={canChange} />
        )}
      </Tabs>
    </>
  );
}
