// Adds an address to a group. The field keeps the focus, because people are added one after another.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { Visible } from "../../look/visible-text.tsx";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError, otherError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";

type AddGroupMemberProps = { workspaceId: string; group: Group };

export function AddGroupMember({ workspaceId, group }: AddGroupMemberProps) {
  const [email, setEmail] = useState("");
  const toast = useToast();
  const adding = useMutation({
    mutationFn: (address: string) =>
      call("POST /workspaces/:workspaceId/groups/:groupId/members", {
        params: { workspaceId, groupId: group.id },
        body: { email: address },
      }),
    onSuccess: async (_, added) => {
      setEmail("");
      await refresh("GET /workspaces/:workspaceId/groups");
      toast(
        <>
          Added <Visible text={added} /> to <Visible text={group.name} />
        </>,
      );
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!adding.isPending) adding.mutate(email.trim());
  };
  return (
    <form className="group-add" onSubmit={submit} noValidate>
      <TextField
        label={
          <>
            Add somebody to <Visible text={group.name} />
          </>
        }
        type="email"
        inputMode="email"
        placeholder="name@example.com"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={fieldError(adding.error, "email")}
        autoComplete="off"
        spellCheck={false}
      />
      <Button type="submit" isBusy={adding.isPending}>
        Add
      </Button>
      <Problem error={otherError(adding.error, ["email"])} />
    </form>
  );
}
