// The start page: leads on to the former page or the last workspace, or says how to join one.

import { Navigate, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Visible } from "../../look/visible-text.tsx";
import { CopyBox } from "../forms/copy-box.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { lastWorkspace } from "../session/last-workspace.ts";
import { useMe } from "../session/membership.ts";
import { keptPage } from "../session/signing.ts";
import { Empty } from "../states/empty.tsx";

export function Home() {
  const me = useMe();
  const workspace = lastWorkspace(me);
  const { history } = useRouter();
  const [kept] = useState(keptPage);
  useEffect(() => {
    if (kept !== null) history.replace(kept);
  }, [kept, history]);
  if (kept !== null) return null;
  if (workspace !== null) {
    return <Navigate to="/app/w/$workspaceId" params={{ workspaceId: workspace.id }} replace />;
  }
  const isInvited = me.invitations.length > 0;
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
      <Empty title={isInvited ? "You have an invitation" : "You aren’t in a workspace yet"}>
        {isInvited ? (
          <p>Join to see the workspace’s requests.</p>
        ) : (
          <>
            <p>
              Ask an owner or admin of a workspace to invite you under People. Give them exactly
              this address:
            </p>
            <CopyBox label="Your address" text={me.email} />
          </>
        )}
      </Empty>
    </>
  );
}
