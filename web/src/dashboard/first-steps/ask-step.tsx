// The second step: the command that asks, and the request once it has arrived.

import { Link } from "@tanstack/react-router";
import type { IssuedKey } from "../../../../server/src/wire/dashboard-keys.ts";
import type { Workspace } from "../../../../server/src/wire/dashboard-settings.ts";
import { Quote } from "../../look/quote.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { CopyBox } from "../forms/copy-box.tsx";
import { curlOfFirstRequest, keyVariable } from "../keys/first-request.ts";
import type { Place } from "./place.ts";
import { Awaited } from "./step.tsx";

type AskStepProps = {
  workspace: Workspace;
  place: Place;
  issued: IssuedKey | null;
  email: string;
};

export function AskStep({ workspace, place, issued, email }: AskStepProps) {
  switch (place.kind) {
    case "key":
      return <p>You run one command in a terminal, in place of an agent. It refunds nothing.</p>;
    case "ask":
      return (
        <>
          {place.lapsed !== null && (
            <p>
              The last request {place.lapsed.status === "EXPIRED" ? "expired" : "was cancelled"}{" "}
              before anyone decided. Ask again.
            </p>
          )}
          <p>
            Run this in a terminal. It plays the agent and asks you, <Visible text={email} />, for a
            refund that nobody will carry out.
            {issued === null && (
              <>
                {" "}
                The key must be in the variable <code>{keyVariable}</code>.
              </>
            )}
          </p>
          <CopyBox
            label={issued === null ? "Ask with your key" : "Ask for an approval"}
            text={curlOfFirstRequest({
              apiUrl: workspace.apiUrl,
              key: issued?.key ?? null,
              notify: email,
            })}
          />
          <Awaited>Waiting for your request. This page updates by itself.</Awaited>
        </>
      );
    case "approve":
    case "done":
      return (
        <>
          <p>
            It has arrived:{" "}
            <Link
              to="/app/w/$workspaceId/requests/$requestId"
              params={{ workspaceId: workspace.id, requestId: place.request.id }}
            >
              <code>{place.request.id}</code>
            </Link>
          </p>
          {place.kind === "approve" && (
            <Quote label="The agent wrote">
              <Visible text={place.request.summary} />
            </Quote>
          )}
        </>
      );
    case "over":
      return null;
    default:
      return place satisfies never;
  }
}
