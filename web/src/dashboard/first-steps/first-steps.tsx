// The guide of an empty workspace: three steps to the first approved request.

import { useState } from "react";
import type { IssuedKey } from "../../../../server/src/wire/dashboard-keys.ts";
import type { Workspace } from "../../../../server/src/wire/dashboard-settings.ts";
import { basePath } from "../service/base-path.ts";
import { useMe, useMembership } from "../session/membership.ts";
import { ApproveStep } from "./approve-step.tsx";
import { AskStep } from "./ask-step.tsx";
import { Celebration } from "./celebration.tsx";
import "./first-steps.css";
import { KeyStep } from "./key-step.tsx";
import { type Place, stepStates } from "./place.ts";
import { Step } from "./step.tsx";

type FirstStepsProps = {
  workspace: Workspace;
  place: Place;
  /** Null while there is nothing else to see. */
  onHide: (() => void) | null;
};

export function FirstSteps({ workspace, place, onHide }: FirstStepsProps) {
  const { email } = useMe();
  const { canChange } = useMembership();
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const [key, ask, approve] = stepStates(place);
  return (
    <>
      <p className="sr-only" role="status">
        {announcementOf(place)}
      </p>
      {place.kind === "done" ? (
        <Celebration {...{ workspace, email, canChange, onHide }} request={place.request} />
      ) : (
        <section className="first-steps" aria-labelledby="first-steps-title">
          <div className="first-steps-head">
            <div>
              <h2 id="first-steps-title">First steps</h2>
              <p>
                {canChange
                  ? "Approve your first request in about two minutes."
                  : "Ask for and approve a first request. An owner or admin creates the key; you can do or watch the rest here."}{" "}
                <a href={`${basePath}/docs/quickstart`} target="_blank" rel="noreferrer">
                  Read the quickstart
                  <span className="sr-only"> (opens a new tab)</span>
                </a>
              </p>
            </div>
            {onHide !== null && (
              <button type="button" className="first-steps-skip" onClick={onHide}>
                Skip the first steps
              </button>
            )}
          </div>
          <ol>
            <Step number={1} title="Create an API key" state={key}>
              <KeyStep
                {...{ place, issued, canChange }}
                workspaceId={workspace.id}
                onIssued={setIssued}
              />
            </Step>
            <Step number={2} title="Ask for an approval" state={ask}>
              <AskStep {...{ workspace, place, issued, email }} />
            </Step>
            <Step number={3} title="Open the mail and approve" state={approve}>
              <ApproveStep {...{ place, email }} />
            </Step>
          </ol>
        </section>
      )}
    </>
  );
}

function announcementOf(place: Place): string {
  switch (place.kind) {
    case "key":
    case "over":
      return "";
    case "ask":
      return "There is a key. Next: ask for an approval.";
    case "approve":
      return "Your request has arrived. Next: open the mail and approve.";
    case "done":
      return place.request.status === "APPROVED"
        ? "The request was approved. All steps are done."
        : "The request was rejected. All steps are done.";
    default:
      return place satisfies never;
  }
}
