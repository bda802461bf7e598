// Revokes a key. The dialog names it and says what follows at once.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { ApiKey } from "../../../../server/src/wire/dashboard-keys.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";

type RevokeKeyProps = { apiKey: ApiKey; workspaceId: string };

export function RevokeKey({ apiKey, workspaceId }: RevokeKeyProps) {
  const toast = useToast();
  const revoke = async () => {
    await call("POST /workspaces/:workspaceId/keys/:keyId/revoke", {
      params: { workspaceId, keyId: apiKey.id },
    });
    await refresh("GET /workspaces/:workspaceId/keys");
    toast(
      <>
        Revoked <Visible text={apiKey.name} />
      </>,
    );
  };
  return (
    <ConfirmDialog
      title={
        <>
          {apiKey.connection === undefined ? "Revoke the key" : "Revoke the connected app"} “
          <Visible text={apiKey.name} />”
          {apiKey.connection === undefined ? ` (…${apiKey.lastFour})` : ""}?
        </>
      }
      description="The next call with this key is refused with 401. Requests created with it stay and can still be decided. You can’t restore a revoked key."
      confirmLabel="Revoke this key"
      isDanger
      trigger={
        <Button isSmall variant="danger" aria-label={`Revoke ${toVisibleText(apiKey.name)}`}>
          Revoke
        </Button>
      }
      onConfirm={revoke}
    />
  );
}
