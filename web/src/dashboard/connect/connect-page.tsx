// Asks an owner or admin whether a program may ask for approvals in their name. The address is that of a stranger: the
// service reads it, and this page shows what it says, as a stranger's words.

import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { imitationIn } from "../../../../server/src/domain/shown/text/imitated-names.ts";
import type { AskedConnection } from "../../../../server/src/wire/dashboard-keys.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { call } from "../service/api.ts";
import { useCall } from "../service/queries.ts";
import { useMe } from "../session/membership.ts";
import { roleName } from "../session/roles.ts";
import { Answered } from "../states/answered.tsx";
import { Problem } from "../states/problem.tsx";
import { RedirectAddress } from "./redirect-address.tsx";
import "../parts/manage.css";
import "./connect.css";

export function ConnectPage() {
  // Read once: nothing on this page changes its address.
  const [asked] = useState(() => location.search);
  const query = Object.fromEntries(new URLSearchParams(asked));
  const question = useCall("GET /connections/asked", { query });
  return (
    <>
      <PageHead title="Connect an app" />
      <Answered query={question} label="Reading what the app asks for">
        {(found) =>
          found.kind === "told" ? (
            <BadQuestion {...found} />
          ) : (
            <Question asked={asked} question={found} />
          )
        }
      </Answered>
    </>
  );
}

type QuestionProps = { asked: string; question: AskedConnection & { kind: "question" } };

function Question({ asked, question }: QuestionProps) {
  const { clientName, redirectUri, isHere, refuseTo } = question;
  const { email, workspaces } = useMe();
  const own = workspaces.filter(({ role }) => role !== "viewer");
  const [workspaceId, choose] = useState(own[0]?.id ?? "");
  // A tick and a press at two places: a page that lures somebody into a double click gets neither.
  const [isOwn, tick] = useState(false);
  const id = useId();
  const imitated = own
    .map(({ name }) => imitationIn(clientName, { workspaceName: name, reviewerEmail: email }))
    .find((found) => found !== null);
  const connecting = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/connections", {
        params: { workspaceId },
        body: { asked, as: email },
      }),
    onSuccess: ({ redirectTo }) => location.assign(redirectTo),
  });
  const isDone = connecting.isPending || connecting.isSuccess;
  return (
    <section className="connect" aria-label="The app">
      <p className="connect-name">
        <Visible text={clientName} />
      </p>
      <p>
        An app that calls itself so wants to use Countersign as <Visible text={email} />. Anybody
        can choose this name.
      </p>
      {imitated !== undefined && (
        <p className="attention-note">
          This name looks like <Visible text={imitated.name} />. The app only calls itself so.
        </p>
      )}
      <dl className="connect-facts">
        <dt>The answer goes to</dt>
        <dd>
          <RedirectAddress uri={redirectUri} />
          {isHere && <p>That is a program on this computer.</p>}
        </dd>
        <dt>It can</dt>
        <dd>ask people for approval, and read, cancel and redeem requests of the workspace</dd>
        <dt>It can’t</dt>
        <dd>decide a request, open a review link, or change anything on this dashboard</dd>
      </dl>
      {own.length === 0 ? (
        <p className="attention-note">
          You are owner or admin of no workspace, so you can’t connect an app. Ask an owner.
        </p>
      ) : (
        <fieldset className="choices">
          <legend>Workspace</legend>
          {own.map((each) => (
            <label className="choice" key={each.id}>
              <input
                type="radio"
                name={id}
                checked={each.id === workspaceId}
                onChange={() => choose(each.id)}
              />
              <span>
                <span className="choice-name">
                  <Visible text={each.name} />
                </span>
                <span className="choice-hint">{roleName[each.role]}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {own.length > 0 && (
        <label className="choice">
          <input type="checkbox" checked={isOwn} onChange={() => tick(!isOwn)} />
          <span className="choice-name">I started this myself, in the app, just now</span>
        </label>
      )}
      <Problem error={connecting.error} />
      <div className="connect-actions">
        <Button disabled={isDone} onClick={() => location.assign(refuseTo)}>
          Don’t connect
        </Button>
        {own.length > 0 && (
          <Button
            variant="primary"
            disabled={!isOwn}
            isBusy={isDone}
            onClick={() => connecting.mutate()}
          >
            Connect
          </Button>
        )}
      </div>
      <p className="quiet">You can revoke it at any time, under API keys.</p>
    </section>
  );
}

/** The reader can't mend it, and the app wants to know. */
function BadQuestion({ redirectUri, redirectTo }: { redirectUri: string; redirectTo: string }) {
  return (
    <section className="connect" aria-label="The app">
      <p>The app asked in a way that this service doesn’t take. Nothing was connected.</p>
      <dl className="connect-facts">
        <dt>“Back to the app” leads to</dt>
        <dd>
          <RedirectAddress uri={redirectUri} />
        </dd>
      </dl>
      <div className="connect-actions">
        <Button onClick={() => location.assign(redirectTo)}>Back to the app</Button>
      </div>
    </section>
  );
}
