// Who asks whom, and by when. Our own words; the agent's name is the agent's, and quoted.

import type { RequestDetail } from "../../../../sdk/src/dashboard-contract.ts";
import type { ClockReading } from "../../review/clock.ts";
import { Countdown } from "../../review/countdown.tsx";
import { Visible } from "../../review/visible-text.tsx";
import { words } from "../../review/words.ts";
import { IdFact } from "../parts/id-fact.tsx";
import { When } from "../parts/when.tsx";
import { ApproverName } from "./approver-name.tsx";

type RequestFactsProps = { request: RequestDetail; reading: ClockReading; onOver: () => void };

export function RequestFacts({ request, reading, onOver }: RequestFactsProps) {
  const { id, agentName, createdAt, expiresAt, status } = request;
  return (
    <dl className="facts">
      <div>
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
        <dt>Approver</dt>
        <dd>
          <ApproverName {...request} />
        </dd>
      </div>
      <div>
        <dt>{words.asked}</dt>
        <dd>
          <When at={createdAt} />
        </dd>
      </div>
      <div>
        <dt>{words.timeLeft}</dt>
        <dd>
          <When at={expiresAt} />
          {status === "PENDING" && (
            <Countdown reading={reading} expiresAt={expiresAt} onOver={onOver} />
          )}
        </dd>
      </div>
      <IdFact id={id} />
    </dl>
  );
}
