// What an empty list says: how the first request comes about, with a command that can be pasted.

import { Link } from "@tanstack/react-router";
import { useMe, useMembership } from "../membership.ts";
import { CopyBox } from "../parts/copy-box.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { useCall } from "../queries.ts";
import { firstCommand } from "./first-command.ts";

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
        in <code>COUNTERSIGN_API_KEY</code>, and the request is mailed to you.
      </p>
      {workspace.data === undefined ? (
        <Loading label="Loading the command" lines={4} />
      ) : (
        <CopyBox
          label="Command"
          text={firstCommand({ apiUrl: workspace.data.apiUrl, notify: email })}
        />
      )}
    </Empty>
  );
}
