// Whether the people of a group sign with a passkey when they approve. Only owners change it.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { CheckField } from "../forms/field.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { useMembership } from "../session/membership.ts";
import { Problem } from "../states/problem.tsx";

type GroupSignatureProps = { group: Group; canExtend: boolean };

export function GroupSignature({ group, canExtend }: GroupSignatureProps) {
  const { workspaceId, role } = useMembership();
  const toast = useToast();
  // The mutation tells of itself a moment later, and until then the box would jump back.
  const [wanted, setWanted] = useState<boolean | null>(null);
  const saving = useMutation({
    mutationFn: (requiresSignature: boolean) =>
      call("POST /workspaces/:workspaceId/groups/:groupId/signature", {
        params: { workspaceId, groupId: group.id },
        body: { requiresSignature },
      }),
    onSuccess: async ({ requiresSignature }) => {
      await refresh("GET /workspaces/:workspaceId/groups");
      toast(
        requiresSignature
          ? "New requests to this group need a passkey"
          : "New requests to this group need no passkey",
      );
    },
    onSettled: () => setWanted(null),
  });
  if (role !== "owner" || !canExtend) {
    if (!group.requiresSignature) return null;
    return <p className="quiet small">Approving needs a passkey.</p>;
  }
  return (
    <div className="group-signature">
      <CheckField
        label="Approving needs a passkey"
        hint="Holds for requests created from now on: those that are waiting don’t change."
        checked={wanted ?? group.requiresSignature}
        disabled={saving.isPending}
        onChange={(event) => {
          setWanted(event.currentTarget.checked);
          saving.mutate(event.currentTarget.checked);
        }}
      />
      <Problem error={saving.error} />
    </div>
  );
}
