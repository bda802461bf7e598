// The agent's request, in the order in which an approver reads it.

import { useMemo } from "react";
import { diffJson } from "../../../../server/src/domain/shown/json-diff.ts";
import type { RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { Quote } from "../../look/quote.tsx";
import type { ClockReading } from "../../look/time/clock.ts";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { noChanges } from "../../payload/draft-state.ts";
import { Timeline } from "../../review/parts/timeline.tsx";
import { FoldedJson } from "../parts/folded-json.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Decision } from "./decision.tsx";
import { RequestFacts } from "./request-facts.tsx";
import { Reviewers } from "./reviewers.tsx";
import { Revision } from "./voting/revision.tsx";
import { Stages } from "./voting/stages.tsx";

type RequestStoryProps = { request: RequestDetail; reading: ClockReading; onOver: () => void };

export function RequestStory({ request, reading, onOver }: RequestStoryProps) {
  const { summary, reasoning, recentActions, payload, edit, metadata, agentState } = request;
  const { voting, status } = request;
  // Without an approval, the text is the revision that people were voting on.
  const revised = edit ?? voting?.change?.payload ?? null;
  const changes = useMemo(
    () => (revised === null ? [] : diffJson(payload ?? "null", revised)),
    [revised, payload],
  );
  const shown = revised ?? payload;
  return (
    <div className="story">
      <Quote label={words.agentWrote}>
        <p className="summary">
          <Visible text={summary} isMultiLine />
        </p>
      </Quote>
      <Decision request={request} changes={edit === null ? noChanges : changes} />
      <RequestFacts request={request} reading={reading} onOver={onOver} />
      {voting !== undefined && <Stages voting={voting} isPending={status === "PENDING"} />}
      {reasoning !== null && (
        <section className="said" aria-labelledby="reasoning-title">
          <h2 id="reasoning-title">{words.reasoning}</h2>
          <Quote label={words.agentWrote}>
            <p className="prose">
              <Visible text={reasoning} isMultiLine />
            </p>
          </Quote>
        </section>
      )}
      <Timeline actions={recentActions} />
      {voting?.change != null && status !== "APPROVED" && (
        <Revision change={voting.change} changes={changes} />
      )}
      {shown === null ? (
        <section className="said" aria-labelledby="payload-title">
          <h2 id="payload-title">{payloadTitle(request)}</h2>
          <p className="quiet">The agent sent no payload: the decision is about its words alone.</p>
        </section>
      ) : (
        <JsonView title={payloadTitle(request)} text={shown} changes={changes} />
      )}
      {(voting === undefined || status !== "PENDING") && (
        <Reviewers reviewers={request.reviewers} />
      )}
      {metadata !== null && (
        <FoldedJson
          title="Metadata"
          hint="The agent’s owners attached it for their own use."
          text={metadata}
        />
      )}
      {agentState !== null && (
        <FoldedJson
          title="Agent state"
          hint="The agent needs it to continue. Members of the workspace can see it, approvers can’t."
          text={agentState}
        />
      )}
    </div>
  );
}

function payloadTitle({ status }: RequestDetail): string {
  if (status === "PENDING") return words.payload;
  return status === "APPROVED" ? words.payloadWas : words.payloadWasAsked;
}
