// API keys: which there are, when each was last used, a new one, and an end to one.

import { KeyList } from "../keys/key-list.tsx";
import { NewKeyDialog } from "../keys/new-key-dialog.tsx";
import { useMembership } from "../membership.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Problem } from "../parts/problem.tsx";
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
      {keys.isPending && <Loading label="Loading the keys" />}
      {keys.isError && <Problem error={keys.error} onRetry={() => keys.refetch()} />}
      {keys.isSuccess && keys.data.keys.length === 0 && (
        <Empty title="No key yet">
          {canChange
            ? "Create one, and paste the line that comes with it into a terminal: it asks you for a first approval."
            : "An owner or an admin of this workspace can create one."}
        </Empty>
      )}
      {keys.isSuccess && keys.data.keys.length > 0 && (
        <KeyList keys={keys.data.keys} workspaceId={workspaceId} canChange={canChange} />
      )}
    </>
  );
}
