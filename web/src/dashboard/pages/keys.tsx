// API keys: which there are, when each was last used, a new one, and an end to one.

import { KeyList } from "../keys/key-list.tsx";
import { NewKeyDialog } from "../keys/new-key-dialog.tsx";
import { useMembership } from "../membership.ts";
import { Answered } from "../parts/answered.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useCall } from "../queries.ts";
import "./manage.css";

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
                ? "Create one, and paste the line that comes with it into a terminal: it asks you for a first approval."
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
