// The outcome of the request: who, when, the note, and the changes.

import { type RefObject, useMemo } from "react";
import { diffJson } from "../../../../server/src/domain/shown/json-diff.ts";
import type { ReviewOutcome } from "../../../../server/src/wire/review-contract.ts";
import { StatusMark } from "../../look/status-mark.tsx";
import { Instant } from "../../look/time/instant.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { DecisionDetails } from "./decision-details.tsx";

type OutcomeProps = {
  outcome: ReviewOutcome;
  payload: string | null;
  /** Some approved the last text. */
  isPartly: boolean;
  /** Tells what happened to the reader's own decision that didn't count; null if there is none. */
  tooLate: string | null;
  focus: RefObject<HTMLElement | null>;
};

export function Outcome({ outcome, payload, isPartly, tooLate, focus }: OutcomeProps) {
  const { status, at, note, edit } = outcome;
  const changes = useMemo(
    () => (edit === null ? [] : diffJson(payload ?? "null", edit)),
    [edit, payload],
  );
  return (
    <section
      className={`outcome outcome-${status.toLowerCase()}`}
      aria-labelledby="outcome-title"
      ref={focus}
      tabIndex={-1}
    >
      <StatusMark status={status} />
      <p className="outcome-sentence" id="outcome-title">
        <Visible text={words.outcome.sentence(outcome, isPartly)} />
        <Instant at={at} />
      </p>
      {tooLate !== null && <p className="outcome-late">{tooLate}</p>}
      <DecisionDetails note={note} changes={changes} />
    </section>
  );
}
