// What an empty list says: how the first request comes about, with a command that can be pasted.

import { Link } from "@tanstack/react-router";
import { curlOfFirstRequest, keyVariable } from "../keys/first-request.ts";
import { useMe, useMembership } from "../membership.ts";
import { Answered } from "../parts/answered.tsx";
import { CopyBox } from "../parts/copy-box.tsx";
import { Empty } from "../parts/empty.tsx";
import { useCall } from "../queries.ts";

export function FirstRequest() {
  const { workspaceId, canChange } = useMembership();
  const { email } = useMe();
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  return (
    <Empty title="No request yet">
      <p>
        When an agent asks for an approval, it appears here by itself. Try it: run this with{" "}
        {canChange ? (
          <Link to="/app/w/$workspaceId/keys" params={{ workspaceId }}>
            an API key
          </Link>
        ) : (
          "an API key that an admin gives you"
        )}{" "}
        in <code>{keyVariable}</code>, and the request is mailed to you.
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
