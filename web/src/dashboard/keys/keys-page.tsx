// API keys: list them with their last use, create one, revoke one.

import { Button } from "../parts/button.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useCall } from "../service/queries.ts";
import { useMembership } from "../session/membership.ts";
import { Answered } from "../states/answered.tsx";
import { Empty } from "../states/empty.tsx";
import { KeyList } from "./key-list.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";
import "../parts/manage.css";

export function KeysPage() {
  const { workspaceId, canChange } = useMembership();
  const keys = useCall("GET /workspaces/:workspaceId/keys", { params: { workspaceId } });
  const newKey = (
    <NewKeyDialog
      workspaceId={workspaceId}
      trigger={<Button variant="primary">Create key</Button>}
    />
  );
  return (
    <>
      <PageHead
        title="API keys"
        subtitle="Agents send one with every call. A key belongs to this workspace alone."
        actions={canChange ? newKey : undefined}
      />
      <Answered query={keys} label="Loading the keys">
        {(found) =>
          found.keys.length === 0 ? (
            <Empty title="No key yet">
              {canChange
                ? "Create one and paste its command into a terminal: it asks you for a first approval."
                : "An owner or an admin of this workspace can create one."}
            </Empty>
          ) : (
            <KeyList {...found} workspaceId={workspaceId} canChange={canChange} />
          )
        }
      </Answered>
    </>
  );
}
