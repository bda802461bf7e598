// The first tab of the settings: a form for those who may change them, the facts for everybody else.

import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { useCall } from "../queries.ts";
import { SettingsFacts } from "./settings-facts.tsx";
import { SettingsForm } from "./settings-form.tsx";

type SettingsViewProps = { workspaceId: string; canChange: boolean };

export function SettingsView({ workspaceId, canChange }: SettingsViewProps) {
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  if (workspace.isPending) return <Loading label="Loading the settings" lines={8} />;
  if (workspace.isError) {
    return <Problem error={workspace.error} onRetry={() => workspace.refetch()} />;
  }
  return canChange ? (
    <SettingsForm workspace={workspace.data} />
  ) : (
    <SettingsFacts workspace={workspace.data} />
  );
}
