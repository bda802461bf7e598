// The secret that signs callbacks: shown on demand, and rotated. Both are noted in the activity.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Verifying } from "../endpoints/verifying.tsx";
import { CopyBox } from "../forms/copy-box.tsx";
import { Dialog, DialogActions } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";

type CallbackSecretProps = { workspaceId: string };

export function CallbackSecret({ workspaceId }: CallbackSecretProps) {
  return (
    <section className="panel callback-secret" aria-labelledby="callback-secret-title">
      <div>
        <h2 id="callback-secret-title">Callback secret</h2>
        <p className="quiet">
          Signs the outcomes that are sent to the <code>callbackUrl</code> of a request. Whoever
          knows it can forge them, so each look is noted in the activity.
        </p>
      </div>
      <div className="callback-secret-actions">
        <SecretDialog workspaceId={workspaceId} {...showing} />
        <SecretDialog workspaceId={workspaceId} {...rotation} />
      </div>
    </section>
  );
}

type Way = {
  name:
    | "POST /workspaces/:workspaceId/callback-secret/show"
    | "POST /workspaces/:workspaceId/callback-secret/rotate";
  button: string;
  question: string;
  before: string;
  confirm: string;
  title: string;
  after: string;
};

const showing: Way = {
  name: "POST /workspaces/:workspaceId/callback-secret/show",
  button: "Show secret",
  question: "Show the callback secret?",
  before: "The activity will say that you looked at it.",
  confirm: "Show it",
  title: "The callback secret",
  after:
    "Receivers of callbacks verify signatures with it. Owners and admins can look at it again.",
};

const rotation: Way = {
  name: "POST /workspaces/:workspaceId/callback-secret/rotate",
  button: "Rotate secret",
  question: "Rotate the callback secret?",
  before:
    "For 24 hours both secrets sign every callback, so your receivers can switch without losing one. Then the old secret stops working.",
  confirm: "Make a new secret",
  title: "The new callback secret",
  after: "For 24 hours the old secret signs beside it.",
};

function SecretDialog({ workspaceId, name, ...words }: CallbackSecretProps & Way) {
  const [isOpen, setOpen] = useState(false);
  const asking = useMutation({
    mutationFn: () => call(name, { params: { workspaceId } }),
    onSuccess: () => refresh("GET /workspaces/:workspaceId/activity"),
  });
  const close = () => {
    setOpen(false);
    asking.reset();
  };
  const told = asking.data;
  return (
    <Dialog
      title={told === undefined ? words.question : words.title}
      description={told === undefined ? words.before : words.after}
      trigger={<Button>{words.button}</Button>}
      open={isOpen}
      isBusy={asking.isPending}
      onOpenChange={(next) => (next ? setOpen(true) : close())}
    >
      {told === undefined ? (
        <>
          <Problem error={asking.error} />
          <DialogActions>
            <Button disabled={asking.isPending} onClick={close}>
              Cancel
            </Button>
            <Button variant="primary" isBusy={asking.isPending} onClick={() => asking.mutate()}>
              {words.confirm}
            </Button>
          </DialogActions>
        </>
      ) : (
        <div className="stack">
          <CopyBox label="Callback secret" text={told.secret} />
          <Verifying />
          <DialogActions>
            <Button variant="primary" onClick={close}>
              Done
            </Button>
          </DialogActions>
        </div>
      )}
    </Dialog>
  );
}
