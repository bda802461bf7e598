// Who asks whom, and by when. Our own words; the agent's name is the agent's, and quoted.

import type { RequestDetail } from "../../../../sdk/src/dashboard-contract.ts";
import type { ClockReading } from "../../review/clock.ts";
import { Countdown } from "../../review/countdown.tsx";
import { CopyButton } from "../../review/payload/copy-button.tsx";
import { Visible } from "../../review/visible-text.tsx";
import { words } from "../../review/words.ts";
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
      <div className="request-id">
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
          <CopyButton label="Copy the id" text={() => id} />
        </dd>
      </div>
    </dl>
  );
}
