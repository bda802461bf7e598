// Who asks and by when. Our own words, outside of any frame.

import type { Review } from "../../../sdk/src/review-contract.ts";
import { AgentName } from "./agent-name.tsx";
import type { ClockReading } from "./clock.ts";
import { Countdown } from "./countdown.tsx";
import { Fact } from "./fact.tsx";
import { Instant } from "./instant.tsx";
import { Visible } from "./visible-text.tsx";
import { words } from "./words.ts";

type FactsProps = { review: Review; reading: ClockReading; onOver: () => void };

export function Facts({ review, reading, onOver }: FactsProps) {
  const { agentName, workspaceName, createdAt, expiresAt, reviewerEmail, groupName, outcome } =
    review;
  return (
    <dl className="facts">
      <Fact name={words.agent} id="agent-name">
        <AgentName agentName={agentName} />
      </Fact>
      <Fact name={words.workspace}>
        <Visible text={workspaceName} />
      </Fact>
      <Fact name={words.timeLeft}>
        <Instant at={expiresAt} />
        {outcome === null && <Countdown reading={reading} expiresAt={expiresAt} onOver={onOver} />}
      </Fact>
      <Fact name={words.asked}>
        <Instant at={createdAt} />
      </Fact>
      <Fact name={words.you}>
        <Visible text={reviewerEmail} />
        {groupName !== null && (
          <span className="quiet">
            , {words.memberOf} <Visible text={groupName} />
          </span>
        )}
      </Fact>
    </dl>
  );
}
