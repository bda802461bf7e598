// The first tab of the settings: a form for members who may change them, the facts for others.

import { useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { CallbackSecret } from "./callback-secret.tsx";
import { SettingsFacts } from "./settings-facts.tsx";
import { SettingsForm } from "./settings-form.tsx";

type SettingsViewProps = { workspaceId: string; canChange: boolean };

export function SettingsView({ workspaceId, canChange }: SettingsViewProps) {
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  return (
    <Answered query={workspace} label="Loading the settings" lines={8}>
      {(found) =>
        canChange ? (
          <div className="settings-parts">
            <SettingsForm workspace={found} />
            <CallbackSecret workspaceId={workspaceId} />
          </div>
        ) : (
          <SettingsFacts workspace={found} />
        )
      }
    </Answered>
  );
}
