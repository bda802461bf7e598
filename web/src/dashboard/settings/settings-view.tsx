// The first tab of the settings: a form for members who may change them, the facts for others.

import { LimitAdvice } from "../attention/limit-advice.tsx";
import { useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { CallbackSecret } from "./callback-secret.tsx";
import { LogExport } from "./log-export.tsx";
import { ProofFacts } from "./proof-facts.tsx";
import { ProofForm } from "./proof-form.tsx";
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
            <LimitAdvice workspace={found} isOnSettings />
            <SettingsForm workspace={found} />
            {found.role === "owner" ? <ProofForm workspace={found} /> : <ProofFacts {...found} />}
            <LogExport workspaceId={workspaceId} />
            <CallbackSecret workspaceId={workspaceId} />
          </div>
        ) : (
          <div className="settings-parts">
            <SettingsFacts workspace={found} />
            <ProofFacts {...found} />
          </div>
        )
      }
    </Answered>
  );
}
