// The facts of a request: agent, approver, times.

import { channelList } from "../../../../server/src/domain/shown/asking-channels.ts";
import { shownAdditionsOf } from "../../../../server/src/domain/shown/submitted-fields.ts";
import type { RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { Fact } from "../../look/fact.tsx";
import type { ClockReading } from "../../look/time/clock.ts";
import { Countdown } from "../../look/time/countdown.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { Names } from "../../review/parts/names.tsx";
import { AskingKey } from "../keys/asking-key.tsx";
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
      {shownAdditionsOf(request).map(({ id: field, label, isList, texts }) => (
        <Fact key={field} name={label}>
          {isList ? <Names names={texts} /> : <Visible text={texts[0] ?? ""} />}
        </Fact>
      ))}
      <Fact name="API key">
        <AskingKey requestId={id} />
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
      {request.channels !== undefined && request.channels !== null && (
        <Fact name="Allowed channels">{channelList(request.channels)}</Fact>
      )}
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
