// The first step: makes a key right here, because the command of the next step needs its text.

import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { IssuedKey } from "../../../../server/src/wire/dashboard-keys.ts";
import { Visible } from "../../look/visible-text.tsx";
import { CopyBox } from "../forms/copy-box.tsx";
import { Button } from "../parts/button.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";
import type { Place } from "./place.ts";

const keyName = "First steps";

type KeyStepProps = {
  workspaceId: string;
  place: Place;
  /** The key that was made on this page. Nothing else can show it. */
  issued: IssuedKey | null;
  onIssued: (issued: IssuedKey) => void;
  canChange: boolean;
};

export function KeyStep({ workspaceId, place, issued, onIssued, canChange }: KeyStepProps) {
  const issue = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/keys", {
        params: { workspaceId },
        body: { name: keyName },
      }),
    onSuccess: async (key) => {
      onIssued(key);
      await refresh("GET /workspaces/:workspaceId/keys");
    },
  });

  if (issued !== null && place.kind !== "done") return <NewKey text={issued.key} />;
  if (place.kind !== "key" && place.kind !== "ask") return null;
  if (!canChange) {
    return (
      <p>
        {place.kind === "key"
          ? "Only owners and admins can create a key. Ask one of them to take this step."
          : "There is a key. Ask the person who created it."}
      </p>
    );
  }
  return (
    <>
      <p>
        {place.kind === "key" ? (
          "Your agent sends it with every call. You’ll see it once, in a command that is ready to run."
        ) : (
          <>
            There is a key already,{" "}
            <strong>
              <Visible text={place.key.name} />
            </strong>{" "}
            ending in <code>{place.key.lastFour}</code>, but its text is not shown again. A new one
            completes the command below.
          </>
        )}
      </p>
      <div>
        <Button
          {...(place.kind === "key" ? { variant: "primary" } : {})}
          isBusy={issue.isPending}
          onClick={() => issue.mutate()}
        >
          {place.kind === "key" ? "Create a key" : "Create another key"}
        </Button>
      </div>
      {issue.isError && <Problem error={issue.error} onRetry={() => issue.mutate()} />}
    </>
  );
}

/** The button that made it is gone, so the focus moves to the key. */
function NewKey({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div className="new-key" ref={place} tabIndex={-1}>
      <CopyBox label="API key" text={text} isSecret />
      <p className="quiet">The command in the next step has it already.</p>
    </div>
  );
}
