// A delivery's state in a sentence: attempts, outcome, and the next attempt.

import { heldByRestore } from "../../../../server/src/domain/shown/attempt.ts";
import { outcomeSentence } from "../../../../server/src/domain/shown/outcome-words.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
import { When } from "../parts/when.tsx";
import { attemptsWord, skippedSentence } from "./words.ts";

export function DeliveryNote({ delivery }: { delivery: Delivery }) {
  const { state, destination, attempts, nextAttemptAt, finishedAt } = delivery;
  const { lastOutcome: outcome, lastHttpStatus: httpStatus } = delivery;
  return (
    <p className="delivery-note">
      {outcome !== null && (
        <span>{outcomeSentence(destination.kind, { outcome, httpStatus })} </span>
      )}
      {state === "skipped" && outcome !== heldByRestore && (
        <span>{skippedSentence(destination)} </span>
      )}
      <span className="quiet delivery-counts">
        {state === "delivered" && httpStatus !== null && <span>HTTP {httpStatus}</span>}
        <span>{attemptsWord(attempts)}</span>
        {state === "due" && nextAttemptAt !== null && (
          <span>
            next try <When at={nextAttemptAt} isRelative />
          </span>
        )}
        {finishedAt !== null && (
          <span>
            <When at={finishedAt} isRelative />
          </span>
        )}
      </span>
    </p>
  );
}
