// Open invitations, above every page.

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { queryClient, queryFor } from "../service/queries.ts";
import { roleName } from "../session/roles.ts";
import { Problem } from "../states/problem.tsx";

type Invitation = Me["invitations"][number];

export function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  return invitations.map((invitation) => (
    <InvitationBar key={invitation.workspaceId} invitation={invitation} />
  ));
}

function InvitationBar({ invitation }: { invitation: Invitation }) {
  const { workspaceId, workspaceName, role, invitedBy } = invitation;
  const navigate = useNavigate();
  const toast = useToast();
  const params = { workspaceId };
  const keep = (me: Me) => queryClient.setQueryData(queryFor("GET /me").queryKey, me);
  const joining = useMutation({
    mutationFn: () => call("POST /me/invitations/:workspaceId/accept", { params }),
    onSuccess: (me) => {
      keep(me);
      toast("You joined the workspace.");
      void navigate({ to: "/app/w/$workspaceId", params });
    },
  });
  const declining = useMutation({
    mutationFn: () => call("POST /me/invitations/:workspaceId/decline", { params }),
    onSuccess: (me) => {
      keep(me);
      toast("You declined the invitation.");
    },
  });
  const error = joining.error ?? declining.error;
  return (
    <section className="invitation" aria-label="Invitation">
      <Icon name="mail" />
      <p>
        You are invited to{" "}
        <strong>
          <Visible text={workspaceName} />
        </strong>{" "}
        as {roleName[role].toLowerCase()}
        {invitedBy !== null && (
          <span className="quiet">
            {" "}
            by <Visible text={invitedBy} />
          </span>
        )}
        .
      </p>
      <div className="invitation-actions">
        <Button
          isSmall
          isBusy={declining.isPending}
          disabled={joining.isPending}
          onClick={() => declining.mutate()}
        >
          Decline
        </Button>
        <Button
          isSmall
          variant="primary"
          isBusy={joining.isPending}
          disabled={declining.isPending}
          onClick={() => joining.mutate()}
        >
          Join
        </Button>
      </div>
      <Problem error={error} />
    </section>
  );
}
