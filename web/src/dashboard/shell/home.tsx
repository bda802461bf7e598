// The start page: leads on to the former page, the last workspace or the inbox, or says that an invitation waits.

import { Navigate, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Visible } from "../../look/visible-text.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { basePath } from "../service/base-path.ts";
import { lastWorkspace } from "../session/last-workspace.ts";
import { useMe } from "../session/membership.ts";
import { keptPage, leadTo } from "../session/signing.ts";
import { Empty } from "../states/empty.tsx";

export function Home() {
  const me = useMe();
  const workspace = lastWorkspace(me);
  const { history } = useRouter();
  const [kept] = useState(keptPage);
  // Somebody who was asked to decide needs no workspace.
  const isGuest = workspace === null && me.invitations.length === 0;
  const next = kept ?? (isGuest ? `${basePath}/inbox` : null);
  useEffect(() => {
    if (next !== null) leadTo(next, history);
  }, [next, history]);
  if (next !== null) return null;
  if (workspace !== null) {
    return <Navigate to="/app/w/$workspaceId" params={{ workspaceId: workspace.id }} replace />;
  }
  return (
    <>
      <PageHead
        title="Welcome"
        subtitle={
          <>
            You are signed in as <Visible text={me.email} />.
          </>
        }
      />
      <Empty title="You have an invitation">
        <p>Join to see the workspace’s requests.</p>
      </Empty>
    </>
  );
}
