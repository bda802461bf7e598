// Takes Slack away from a workspace. The second step says what happens to messages that are there.

import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";

type DisconnectSlackProps = { workspaceId: string; teamName: string };

export function DisconnectSlack({ workspaceId, teamName }: DisconnectSlackProps) {
  const toast = useToast();
  const disconnect = async () => {
    await call("POST /workspaces/:workspaceId/slack/disconnect", { params: { workspaceId } });
    await refresh("GET /workspaces/:workspaceId/channels");
    toast("Slack is disconnected");
  };
  return (
    <ConfirmDialog
      title={
        <>
          Disconnect <Visible text={teamName} />?
        </>
      }
      description="People are asked by mail and push from now on, and nobody decides in Slack. Messages that are in Slack stay as they are. The tokens and the groups' Slack channels are deleted here; remove the app in Slack as well."
      confirmLabel="Disconnect"
      isDanger
      trigger={<Button variant="danger">Disconnect</Button>}
      onConfirm={disconnect}
    />
  );
}
