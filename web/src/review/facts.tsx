// Who asks and by when. Our own words, outside of any frame; the agent's name is the agent's word, and quoted.

import type { Review } from "../../../sdk/src/review-contract.ts";
import type { ClockReading } from "./clock.ts";
import { Countdown } from "./countdown.tsx";
import { Instant } from "./instant.tsx";
import { Visible } from "./visible-text.tsx";
import { words } from "./words.ts";

type FactsProps = { review: Review; reading: ClockReading; onOver: () => void };

export function Facts({ review, reading, onOver }: FactsProps) {
  const { agentName, workspaceName, createdAt, expiresAt, reviewerEmail, groupName, outcome } =
    review;
  return (
    <dl className="facts">
      <div id="agent-name" tabIndex={-1}>
        <dt>{words.agent}</dt>
        <dd>
          {agentName === null ? (
            <span className="quiet">{words.agentUnnamed}</span>
          ) : (
            <>
              {words.agentCallsItself}{" "}
              <q className="quoted">
                <Visible text={agentName} />
              </q>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>{words.workspace}</dt>
        <dd>
          <Visible text={workspaceName} />
        </dd>
      </div>
      <div>
        <dt>{words.timeLeft}</dt>
        <dd>
          <Instant at={expiresAt} />
          {outcome === null && (
            <Countdown reading={reading} expiresAt={expiresAt} onOver={onOver} />
          )}
        </dd>
      </div>
      <div>
        <dt>{words.asked}</dt>
        <dd>
          <Instant at={createdAt} />
        </dd>
      </div>
      <div>
        <dt>{words.you}</dt>
        <dd>
          <Visible text={reviewerEmail} />
          {groupName !== null && (
            <span className="quiet">
              , {words.memberOf} <Visible text={groupName} />
            </span>
          )}
        </dd>
      </div>
    </dl>
  );
}
