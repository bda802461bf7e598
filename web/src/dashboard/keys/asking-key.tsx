// The API key that created a request. Unlike the agent's own name for itself, nobody can make it up.

import type { AskingKey as Key } from "../../../../server/src/wire/dashboard-keys.ts";
import { Visible } from "../../look/visible-text.tsx";
import { useCall } from "../service/queries.ts";
import { useMembership } from "../session/membership.ts";

export function AskingKey({ requestId }: { requestId: string }) {
  const { workspaceId } = useMembership();
  const { data, isError } = useCall("GET /workspaces/:workspaceId/requests/:requestId/key", {
    params: { workspaceId, requestId },
  });
  if (data === undefined) {
    return <span className="quiet">{isError ? "Could not be loaded" : "…"}</span>;
  }
  if (data.apiKey === null) return <span className="quiet">Not recorded</span>;
  return <KeyName apiKey={data.apiKey} />;
}

function KeyName({ apiKey: { name, lastFour, isRevoked, owner, connectedBy } }: { apiKey: Key }) {
  return (
    <span>
      <Visible text={name} />{" "}
      <span className="quiet">
        {connectedBy === undefined ? (
          <>(…{lastFour})</>
        ) : (
          <>
            (connected app, by <Visible text={connectedBy} />)
          </>
        )}
        {isRevoked && ", revoked"}
        {owner !== null && (
          <>
            , owned by <Visible text={owner} />
          </>
        )}
      </span>
    </span>
  );
}
