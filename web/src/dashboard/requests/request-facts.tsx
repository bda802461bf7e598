// The facts of a request: agent, approver, times.

import type { RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { Fact } from "../../look/fact.tsx";
import type { ClockReading } from "../../look/time/clock.ts";
import { Countdown } from "../../look/time/countdown.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { IdFact } from "../parts/id-fact.tsx";
import { When } from "../parts/when.tsx";
import { ApproverName } from "./approver-name.tsx";

type RequestFactsProps = { request: RequestDetail; reading: ClockReading; onOver: () => void };

export function RequestFacts({ request, reading, onOver }: RequestFactsProps) {
  const { id, agentName, createdAt, expiresAt, status, callbackUrl } = request;
  return (
    <dl className="facts">
      <Fact name={words.agentName}>
        <AgentName agentName={agentName} />
      </Fact>
      <Fact name="Approver">
        <ApproverName {...request} />
      </Fact>
      <Fact name={words.asked}>
        <When at={createdAt} />
      </Fact>
      <Fact name={words.timeLeft}>
        <When at={expiresAt} />
        {status === "PENDING" && (
          <Countdown reading={reading} expiresAt={expiresAt} onOver={onOver} />
        )}
      </Fact>
      {callbackUrl !== undefined && (
        <Fact name="Callback">
          <Visible text={callbackUrl} />
        </Fact>
      )}
      <IdFact id={id} />
    </dl>
  );
}

/** An agent's own name for itself: quoted, because nobody has verified it. */
function AgentName({ agentName }: { agentName: string | null }) {
  if (agentName === null) return <span className="quiet">{words.agentUnnamed}</span>;
  return (
    <q className="quoted">
      <Visible text={agentName} />
    </q>
  );
}
