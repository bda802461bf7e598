// People: the members of this workspace, the approver groups that agents can ask, and who is away.

import { AbsencesView } from "../absences/absences-view.tsx";
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
  { id: "absences", label: "Absences" },
] as const;

const subtitles: Record<(typeof tabs)[number]["id"], string> = {
  members: "Members see and run this workspace.",
  groups: "All members of a group are asked. The first decision counts.",
  absences: "Colleagues who are asked instead of people who are away.",
};

export function PeoplePage() {
  const { workspaceId, role, canChange } = useMembership();
  const [search, change] = usePageSearch();
  const offered = tabs.filter(({ id }) => id !== "absences" || canChange);
  const chosen = offered.find(({ id }) => id === search.tab)?.id ?? "members";
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  // Most plans have groups. A button that appears later would push the page down.
  const hasGroups = workspace.data?.hasGroups ?? true;
  return (
    <>
      <PageHead
        title="People"
        subtitle={subtitles[chosen]}
        actions={
          !canChange ? undefined : chosen === "members" ? (
            <InviteDialog workspaceId={workspaceId} ownRole={role} />
          ) : chosen === "groups" && hasGroups ? (
            <NewGroupDialog workspaceId={workspaceId} />
          ) : undefined
        }
      />
      <Tabs
        label="People"
        tabs={offered}
        value={chosen}
        onChange={(tab) => change({ tab: tab === "members" ? undefined : tab })}
      >
        {chosen === "members" && <MembersView workspaceId={workspaceId} role={role} />}
        {chosen === "groups" && <GroupsView workspaceId={workspaceId} canChange={canChange} />}
        {chosen === "absences" && <AbsencesView workspaceId={workspaceId} />}
      </Tabs>
    </>
  );
}
