// People: the members of this workspace, and the approver groups that agents can ask.

import { PageHead } from "../parts/page-head.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { useCall } from "../service/queries.ts";
import { useMembership } from "../session/membership.ts";
import { usePageSearch } from "../shell/page-search.ts";
import { GroupsView } from "./groups-view.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { MembersView } from "./members-view.tsx";
import { NewGroupDialog } from "./new-group-dialog.tsx";
import "../parts/manage.css";
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
  // Most plans have groups. A button that appears later would push the page down.
  const hasGroups = workspace.data?.hasGroups ?? true;
  return (
    <>
      <PageHead
        title="People"
        subtitle={
          chosen === "members"
            ? "Members see and run this workspace."
            : "All members of a group are asked. The first decision counts."
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
