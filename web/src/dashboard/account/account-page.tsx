// The signed-in person: their address, workspaces, absences, passkeys and sessions, and the way to sign out.

import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Visible } from "../../look/visible-text.tsx";
import { AbsenceSection } from "../absences/absence-section.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useMe } from "../session/membership.ts";
import { roleName } from "../session/roles.ts";
import { signOut } from "../session/signing.ts";
import { Problem } from "../states/problem.tsx";
import { PasskeySection } from "./passkey-section.tsx";
import { SessionSection } from "./session-section.tsx";
import "./account.css";

export function AccountPage() {
  const { email } = useMe();
  const leaving = useMutation({ mutationFn: signOut });
  return (
    <div className="account-page">
      <PageHead
        title="Account"
        subtitle={
          <>
            You are signed in as{" "}
            <strong className="account-email">
              <Visible text={email} />
            </strong>
            .
          </>
        }
        actions={
          <Button isBusy={leaving.isPending || leaving.isSuccess} onClick={() => leaving.mutate()}>
            <Icon name="leave" />
            Sign out
          </Button>
        }
      />
      <Problem error={leaving.error} />
      <WorkspaceSection />
      <AbsenceSection />
      <PasskeySection />
      <SessionSection />
    </div>
  );
}

function WorkspaceSection() {
  const { workspaces } = useMe();
  return (
    <section className="section" aria-labelledby="workspaces-title">
      <div className="section-head">
        <h2 id="workspaces-title">Your workspaces</h2>
      </div>
      {workspaces.length === 0 ? (
        <p className="entry-none">
          You aren’t a member of any workspace. Ask an owner or admin to invite you.
        </p>
      ) : (
        <ul className="entries">
          {workspaces.map(({ id, name, role }) => (
            <li key={id} className="entry">
              <div className="entry-words">
                <p className="entry-name">
                  <Link to="/app/w/$workspaceId" params={{ workspaceId: id }}>
                    <Visible text={name} />
                  </Link>
                </p>
              </div>
              <span className="badge">{roleName[role]}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
