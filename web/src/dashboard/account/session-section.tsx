// The sessions of the signed-in person, each with a button that ends it.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Session, SignInMethod } from "../../../../server/src/wire/dashboard-sign-in.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toast.tsx";
import { When } from "../parts/when.tsx";
import { call } from "../service/api.ts";
import { refresh, useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { browserName } from "./browser-name.ts";

const methodWords: Record<SignInMethod, string> = {
  code: "Code by mail",
  link: "Sign-in link",
  passkey: "Passkey",
  oidc: "Company sign-in",
};

export function SessionSection() {
  const answer = useCall("GET /me/sessions");
  const count = answer.data?.sessions.length ?? 0;
  return (
    <section className="section" aria-labelledby="sessions-title">
      <div className="section-head">
        <h2 id="sessions-title">Sessions</h2>
        {count > 1 && <EndOthers count={count - 1} />}
      </div>
      <p className="section-words">
        End sessions you don’t recognise: they are signed out at once. Each browser reports its own
        name.
      </p>
      <Answered query={answer} label="Loading the sessions" lines={2}>
        {({ sessions }) => (
          <ul className="entries">
            {thisOneFirst(sessions).map((session) => (
              <SessionEntry key={session.id} session={session} />
            ))}
          </ul>
        )}
      </Answered>
    </section>
  );
}

function thisOneFirst(sessions: readonly Session[]): Session[] {
  return sessions.toSorted((one, other) => Number(other.isThis) - Number(one.isThis));
}

function EndOthers({ count }: { count: number }) {
  const toast = useToast();
  const end = async () => {
    const { revoked } = await call("POST /me/sessions/revoke-others");
    await refresh("GET /me/sessions");
    toast(revoked === 1 ? "One session was ended." : `${revoked} sessions were ended.`);
  };
  return (
    <ConfirmDialog
      title="Sign out everywhere else?"
      description={
        count === 1
          ? "The other session ends at once. This one stays."
          : `The ${count} other sessions end at once. This one stays.`
      }
      confirmLabel="Sign out elsewhere"
      isDanger
      trigger={<Button variant="danger">Sign out everywhere else</Button>}
      onConfirm={end}
    />
  );
}

function SessionEntry({ session }: { session: Session }) {
  const { id, isThis, method, userAgent, address, createdAt, lastSeenAt } = session;
  const name = browserName(userAgent);
  const toast = useToast();
  const end = async () => {
    await call("POST /me/sessions/:sessionId/revoke", { params: { sessionId: id } });
    await refresh("GET /me/sessions");
    toast("The session was ended.");
  };
  return (
    <li className="entry">
      <Icon name="device" />
      <div className="entry-words">
        <p className="entry-name">
          <span title={userAgent === null ? undefined : toVisibleText(userAgent)}>{name}</span>
          {isThis && (
            <span className="badge">
              <Icon name="check" />
              This session
            </span>
          )}
        </p>
        <p className="entry-facts">
          {!isThis && (
            <span>
              Last seen <When at={lastSeenAt} isRelative />
            </span>
          )}
          <span>
            Signed in <When at={createdAt} isRelative />
          </span>
          <span>{methodWords[method]}</span>
          {address !== null && (
            <span className="mono">
              <Visible text={address} />
            </span>
          )}
        </p>
      </div>
      {!isThis && (
        <ConfirmDialog
          title={`End the session of ${name}?`}
          description="That browser is signed out at once and needs a new code, passkey or link."
          confirmLabel="End session"
          isDanger
          trigger={
            <Button isSmall variant="danger" aria-label={`End the session of ${name}`}>
              End
            </Button>
          }
          onConfirm={end}
        />
      )}
    </li>
  );
}
