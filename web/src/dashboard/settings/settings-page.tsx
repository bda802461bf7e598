// Settings, plan and usage, and activity of a workspace, each in its own tab.

import { ChannelsView } from "../channels/channels-view.tsx";
import { UsageView } from "../figures/usage-view.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { useMembership } from "../session/membership.ts";
import { usePageSearch } from "../shell/page-search.ts";
import { ActivityView } from "./activity-view.tsx";
import { SettingsView } from "./settings-view.tsx";
import "../parts/manage.css";
import "./settings.css";

const tabs = [
  { id: "settings", label: "Settings" },
  { id: "channels", label: "Channels" },
  { id: "usage", label: "Plan and usage" },
  { id: "activity", label: "Activity" },
] as const;

export function SettingsPage() {
  const { workspaceId, canChange, role } = useMembership();
  const [search, change] = usePageSearch();
  const chosen = tabs.find(({ id }) => id === search.tab)?.id ?? "settings";
  return (
    <>
      <PageHead title="Settings" subtitle="Settings, usage and activity of this workspace." />
      <Tabs
        label="Settings"
        tabs={tabs}
        value={chosen}
        onChange={(tab) => change({ tab: tab === "settings" ? undefined : tab })}
      >
        {chosen === "settings" && <SettingsView workspaceId={workspaceId} canChange={canChange} />}
        {chosen === "channels" && (
          <ChannelsView workspaceId={workspaceId} canChange={role === "owner"} />
        )}
        {chosen === "usage" && <UsageView workspaceId={workspaceId} />}
        {chosen === "activity" && <ActivityView workspaceId={workspaceId} />}
      </Tabs>
    </>
  );
}
