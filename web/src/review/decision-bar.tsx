// The first step: says what one wants. It decides nothing yet.

import { words } from "../look/words.ts";
import type { Verdict } from "./calls.ts";
import { useReady } from "./ready.ts";

type DecisionBarProps = {
  hasChanges: boolean;
  /** Why Approve has to wait; null when it need not. */
  blockedBy: string | null;
  /** Where a press on Approve leads while the payload was not read to its end; null once it was. */
  onRead: (() => void) | null;
  /** Why nothing can be decided here at all; null when it can. */
  impossible: string | null;
  /** What went wrong with a decision whose second step is closed by now. */
  problem: string | null;
  /** How many things deserve a look, and where they are listed. */
  attention: { count: number; onGo: () => void };
  onChoose: (verdict: Verdict) => void;
};

export function DecisionBar(props: DecisionBarProps) {
  const { hasChanges, blockedBy, onRead, impossible, problem, attention, onChoose } = props;
  const isReady = useReady();
  const canApprove = blockedBy === null && impossible === null;
  /** A small screen leaves out the rest. */
  const isNeeded = !canApprove || attention.count > 0;
  const reject = () => {
    if (isReady && impossible === null) onChoose("reject");
  };
  const approve = () => {
    if (!isReady || !canApprove) return;
    if (onRead === null) onChoose("approve");
    else onRead();
  };
  return (
    <section className="decision-bar" aria-label={words.decision} id="decision" tabIndex={-1}>
      <div className="decision-inner">
        {problem !== null && (
          <p className="field-error decision-problem" role="alert">
            {problem}
          </p>
        )}
        <p className={isNeeded ? "decision-why is-needed" : "decision-why"} id="approve-waits">
          {impossible ?? blockedBy ?? (onRead === null ? words.twoSteps : words.readFirst)}{" "}
          {attention.count > 0 && (
            <button type="button" className="link-button" onClick={attention.onGo}>
              {words.lookFirst(attention.count)}
            </button>
          )}
        </p>
        <div className="decision-buttons">
          <button
            type="button"
            className="button button-quiet-danger"
            aria-disabled={impossible !== null}
            onClick={reject}
          >
            {words.reject}
          </button>
          <button
            type="button"
            className="button button-primary button-wide"
            aria-disabled={!canApprove}
            aria-describedby="approve-waits"
            onClick={approve}
          >
            {hasChanges ? words.approveChanged : words.approve}
          </button>
        </div>
      </div>
    </section>
  );
}
