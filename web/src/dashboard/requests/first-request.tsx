// The empty list: explains how to make the first request, with a command to paste.

import { Link } from "@tanstack/react-router";
import { CopyBox } from "../forms/copy-box.tsx";
import { curlOfFirstRequest, keyVariable } from "../keys/first-request.ts";
import { useCall } from "../service/queries.ts";
import { useMe, useMembership } from "../session/membership.ts";
import { Answered } from "../states/answered.tsx";
import { Empty } from "../states/empty.tsx";

export function FirstRequest() {
  const { workspaceId, canChange } = useMembership();
  const { email } = useMe();
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  return (
    <Empty title="No request yet">
      <p>
        Requests from your agents appear here. To make the first one, run this with{" "}
        {canChange ? (
          <Link to="/app/w/$workspaceId/keys" params={{ workspaceId }}>
            an API key
          </Link>
        ) : (
          "an API key from an admin"
        )}{" "}
        in <code>{keyVariable}</code>. The request is mailed to you.
      </p>
      <Answered query={workspace} label="Loading the command">
        {({ apiUrl }) => (
          <CopyBox
            label="Command"
            text={curlOfFirstRequest({ apiUrl, key: null, notify: email })}
          />
        )}
      </Answered>
    </Empty>
  );
}
