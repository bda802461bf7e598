// The attempts of a delivery, newest first: time, outcome in words, duration and response.

import { isSuccess } from "../../../../server/src/domain/shown/attempt.ts";
import { destinationWords } from "../../../../server/src/domain/shown/destination.ts";
import { outcomeSentence } from "../../../../server/src/domain/shown/outcome-words.ts";
import type { Delivery, DeliveryAttempt } from "../../../../server/src/wire/dashboard-contract.ts";
import { Quote } from "../../look/quote.tsx";
import { describeDuration } from "../../look/time/duration.ts";
import { Visible } from "../../look/visible-text.tsx";
import { When } from "../parts/when.tsx";

type AttemptsProps = {
  kind: Delivery["destination"]["kind"];
  attempts: readonly DeliveryAttempt[];
};

export function Attempts({ kind, attempts }: AttemptsProps) {
  if (attempts.length === 0) return <p className="quiet">No attempt yet.</p>;
  return (
    <ol className="attempts" aria-label="Attempts, newest first">
      {[...attempts].reverse().map((attempt) => (
        <Attempt key={attempt.number} kind={kind} attempt={attempt} />
      ))}
    </ol>
  );
}

type AttemptProps = { kind: AttemptsProps["kind"]; attempt: DeliveryAttempt };

function Attempt({ kind, attempt }: AttemptProps) {
  const { number, startedAt, finishedAt, httpStatus, durationMs } = attempt;
  const { responseStart, isResponseWithheld = false } = attempt;
  return (
    <li className={isSuccess(attempt.outcome) ? "attempt attempt-good" : "attempt"}>
      <div className="attempt-head">
        <span className="attempt-number">Attempt {number}</span>
        {httpStatus !== null && <code className="attempt-status">HTTP {httpStatus}</code>}
        {durationMs !== null && (
          <span className="attempt-took">{describeDuration(durationMs)}</span>
        )}
        <span className="attempt-when">
          <When at={startedAt} />
        </span>
      </div>
      <p>{finishedAt === null ? "Under way …" : outcomeSentence(kind, attempt)}</p>
      {responseStart !== null && responseStart !== "" && (
        // The response usually says why it failed.
        <details className="fold attempt-response" open={!isSuccess(attempt.outcome)}>
          <summary>Response</summary>
          <Quote label={destinationWords[kind].answered}>
            <pre>
              <Visible text={responseStart} isMultiLine />
            </pre>
          </Quote>
        </details>
      )}
      {responseStart === "" && <p className="quiet small">The answer had no body.</p>}
      {isResponseWithheld && (
        <p className="quiet small">
          Only owners and admins see the response: it may repeat the secret address.
        </p>
      )}
    </li>
  );
}
