// The first step: the reader chooses Approve or Reject. It decides nothing yet.

import { words } from "../look/words.ts";
import { useReady } from "./parts/ready.ts";
import type { Verdict } from "./service/calls.ts";

type DecisionBarProps = {
  hasChanges: boolean;
  /** How many approved so far; null where one approval is enough. */
  soFar: string | null;
  /** What comes after this step. */
  nextStep: string;
  /** Why Approve must wait; null if it need not. */
  blockedBy: string | null;
  /** Where Approve leads until the payload was read to its end; null afterwards. */
  onRead: (() => void) | null;
  /** Why nothing can be decided here at all; null if it can. */
  impossible: string | null;
  /** Shows the payload as somebody else changed it; null if nobody did. */
  onNewText: (() => void) | null;
  /** The error of a decision whose second step is closed by now. */
  problem: string | null;
  /** The number of things that deserve a look, and the place of their list. */
  attention: { count: number; onGo: () => void };
  onChoose: (verdict: Verdict) => void;
};

export function DecisionBar(props: DecisionBarProps) {
  const { hasChanges, soFar, nextStep, blockedBy, onRead, impossible, onNewText, problem } = props;
  const { attention, onChoose } = props;
  const isReady = useReady();
  const canApprove = blockedBy === null && impossible === null;
  /** A small screen shows only this part. */
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
          {soFar !== null && `${soFar} `}
          {impossible ?? blockedBy ?? (onRead === null ? nextStep : words.readFirst)}{" "}
          {onNewText !== null && (
            <button type="button" className="link-button" onClick={onNewText}>
              {words.voting.newText.show}
            </button>
          )}
          {onNewText === null && attention.count > 0 && (
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
