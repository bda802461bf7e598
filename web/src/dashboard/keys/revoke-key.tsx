// Revokes a key. The dialog names it, says what follows at once, and offers to cancel what the key has pending.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { ApiKey } from "../../../../server/src/wire/dashboard-keys.ts";
import type { KeyRevocation } from "../../../../server/src/wire/dashboard-removals.ts";
import { describeCount } from "../../look/shares.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { CheckField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { queryFor, refresh } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";

type RevokeKeyProps = { apiKey: ApiKey; workspaceId: string };

export function RevokeKey({ apiKey, workspaceId }: RevokeKeyProps) {
  const toast = useToast();
  const [isOpen, setOpen] = useState(false);
  const [cancelPending, setCancelPending] = useState(false);
  const params = { workspaceId, keyId: apiKey.id };
  const revocation = useQuery({
    ...queryFor("GET /workspaces/:workspaceId/keys/:keyId/revocation", { params }),
    enabled: isOpen,
    staleTime: 0,
  });
  const revoke = async () => {
    const { cancelled } = await call("POST /workspaces/:workspaceId/keys/:keyId/revoke", {
      params,
      body: { cancelPending },
    });
    await refresh(
      "GET /workspaces/:workspaceId/keys",
      "GET /workspaces/:workspaceId/requests",
      "GET /workspaces/:workspaceId/overview",
    );
    toast(
      <>
        Revoked <Visible text={apiKey.name} />
        {cancelled > 0 && ` and cancelled ${requests(cancelled)}`}
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
      description="The next call with this key is refused with 401. You can’t restore a revoked key."
      confirmLabel="Revoke this key"
      isDanger
      isReady={revocation.isSuccess && !revocation.isFetching}
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next);
        setCancelPending(false);
      }}
      trigger={
        <Button isSmall variant="danger" aria-label={`Revoke ${toVisibleText(apiKey.name)}`}>
          Revoke
        </Button>
      }
      onConfirm={revoke}
    >
      <Answered query={revocation} label="Looking up its requests" lines={1}>
        {({ pending }) => (
          <PendingChoice pending={pending} isChosen={cancelPending} onChoose={setCancelPending} />
        )}
      </Answered>
    </ConfirmDialog>
  );
}

type PendingChoiceProps = KeyRevocation & {
  isChosen: boolean;
  onChoose: (isWanted: boolean) => void;
};

function PendingChoice({ pending, isChosen, onChoose }: PendingChoiceProps) {
  const { count, isMore } = pending;
  if (count === 0 && !isMore) return <p>No request of this key is pending.</p>;
  const isOne = count === 1 && !isMore;
  return (
    <CheckField
      // So many wait that not all were looked at.
      label={`Also cancel its ${isMore ? "pending requests" : requests(count)}`}
      hint={
        isChosen
          ? `${isOne ? "It is" : "They are"} cancelled, and the agent is told. This can’t be undone.`
          : `${isOne ? "It stays" : "They stay"} pending and can still be approved.`
      }
      checked={isChosen}
      onChange={(event) => onChoose(event.currentTarget.checked)}
    />
  );
}

function requests(count: number): string {
  return `${describeCount(count)} pending ${count === 1 ? "request" : "requests"}`;
}
