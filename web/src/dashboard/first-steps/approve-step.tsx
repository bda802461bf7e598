// The third step: where the mail is, and the decision once it was made.

import type { RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { basePath } from "../service/base-path.ts";
import { useCall } from "../service/queries.ts";
import type { Place } from "./place.ts";
import { Awaited } from "./step.tsx";

type ApproveStepProps = { place: Place; email: string };

export function ApproveStep({ place, email }: ApproveStepProps) {
  if (place.kind === "approve") return <Mail request={place.request} email={email} />;
  if (place.kind === "done") return null;
  return <p>A mail brings you to the review page, where you see exactly what would be done.</p>;
}

function Mail({ request, email }: { request: RequestRow; email: string }) {
  const options = useCall("GET /sign-in");
  const isKept = options.data?.isMailKept === true;
  const isYours = request.approverEmail === email;
  return (
    <>
      {isKept ? (
        <>
          <p>
            No mail server is set up yet, so the mail to <Visible text={askedOf(request, email)} />{" "}
            is kept here. Open it, follow its link, and approve.
          </p>
          <div>
            <a
              className="button button-primary"
              href={`${basePath}/dev/mail`}
              target="_blank"
              rel="noreferrer"
            >
              Open the mail
              <span className="sr-only"> (opens a new tab)</span>
            </a>
          </div>
        </>
      ) : (
        <p>
          The mail is in {isYours ? "your mailbox" : "the mailbox of"}{" "}
          <strong>
            <Visible text={askedOf(request, email)} />
          </strong>
          . Open it, follow its link, and approve.
        </p>
      )}
      <Awaited>Waiting for the decision. This page updates by itself.</Awaited>
    </>
  );
}

function askedOf({ approverEmail, approverGroup }: RequestRow, email: string): string {
  return approverEmail ?? approverGroup?.name ?? email;
}
