// The actions on a pending request: remind its approvers, mail them again, or cancel it.

import { useMutation } from "@tanstack/react-query";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { queryClient, queryFor, refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";

type RequestActionsProps = {
  workspaceId: string;
  requestId: string;
  /** Several people vote on it. */
  isVoted: boolean;
};

export function RequestActions({ workspaceId, requestId, isVoted }: RequestActionsProps) {
  const toast = useToast();
  const params = { workspaceId, requestId };
  const mailAgain = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/requests/:requestId/mail-again", { params }),
    onSuccess: async ({ sent }) => {
      toast(sent === 1 ? "The mail is on its way again." : `${sent} mails are on their way again.`);
      await refresh("GET /workspaces/:workspaceId/requests/:requestId");
    },
  });
  const remind = useMutation({
    mutationFn: () => call("POST /workspaces/:workspaceId/requests/:requestId/remind", { params }),
    onSuccess: async ({ reminded }) => {
      toast(remindedWords(reminded));
      await refresh("GET /workspaces/:workspaceId/requests/:requestId");
    },
  });
  const cancel = async () => {
    const now = await call("POST /workspaces/:workspaceId/requests/:requestId/cancel", {
      params,
    });
    const { queryKey } = queryFor("GET /workspaces/:workspaceId/requests/:requestId", { params });
    queryClient.setQueryData(queryKey, now);
    toast("The request is cancelled.");
    await refresh("GET /workspaces/:workspaceId/requests", "GET /workspaces/:workspaceId/overview");
  };
  return (
    <>
      {isVoted && (
        <Button isBusy={remind.isPending} onClick={() => remind.mutate()}>
          Remind
        </Button>
      )}
      <Button isBusy={mailAgain.isPending} onClick={() => mailAgain.mutate()}>
        Send the mail again
      </Button>
      <ConfirmDialog
        title="Cancel this request?"
        description="Nobody can decide it any more. The agent is told that it was cancelled, and the links in the mails say so. This can’t be undone."
        confirmLabel="Cancel request"
        dismissLabel="Keep it"
        isDanger
        trigger={<Button variant="danger">Cancel request</Button>}
        onConfirm={cancel}
      />
      <Problem error={mailAgain.error} />
      <Problem error={remind.error} />
    </>
  );
}

function remindedWords(people: number): string {
  if (people === 0) return "Nobody is left to remind.";
  return people === 1 ? "One person is being reminded." : `${people} people are being reminded.`;
}
