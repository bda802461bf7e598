// The parts of selecting in the list: the box of each row with the reason why it can't be ticked, and the bar of the first
// step, which decides nothing yet.

import { useId } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { InboxRow } from "../../../../server/src/wire/inbox-contract.ts";
import { useReadySince } from "../../review/parts/ready.ts";
import type { Verdict } from "../../review/service/calls.ts";
import { inboxWords } from "../frame/inbox-words.ts";
import type { Obstacle } from "./selection.ts";

type SelectBoxProps = {
  row: InboxRow;
  isSelected: boolean;
  obstacle: Obstacle | null;
  onToggle: () => void;
};

export function SelectBox({ row, isSelected, obstacle, onToggle }: SelectBoxProps) {
  return (
    <label className="row-box">
      <input
        type="checkbox"
        checked={isSelected}
        disabled={obstacle !== null}
        aria-describedby={obstacle === null ? undefined : whyId(row)}
        onChange={onToggle}
      />
      <span className="sr-only">{inboxWords.select.row(toVisibleText(row.summary))}</span>
    </label>
  );
}

/** Its line is there without words, too: no box moves because a request ended or another one was selected. */
export function SelectWhy({ row, obstacle }: { row: InboxRow; obstacle: Obstacle | null }) {
  // What became of one that ended stands beside it.
  const isSaid = obstacle !== null && obstacle !== "ended";
  return (
    <span className="row-why" id={whyId(row)}>
      {isSaid && inboxWords.select.obstacle[obstacle]}
    </span>
  );
}

function whyId({ id }: InboxRow): string {
  return `why-${id}`;
}

type SeveralBarProps = { count: number; onChoose: (verdict: Verdict) => void };

export function SeveralBar({ count, onChoose }: SeveralBarProps) {
  const hintId = useId();
  const { select } = inboxWords;
  const isPossible = count > 0;
  const isReady = useReadySince(isPossible);
  const choose = (verdict: Verdict) => {
    if (isReady) onChoose(verdict);
  };
  return (
    <section className="several-bar" aria-label={select.several}>
      <p id={hintId} role="status">
        {isPossible ? select.count(count) : select.none}
      </p>
      <button
        type="button"
        className="button button-quiet-danger"
        aria-disabled={!isPossible}
        aria-describedby={hintId}
        onClick={() => choose("reject")}
      >
        {select.reject(count)}
      </button>
      <button
        type="button"
        className="button button-primary"
        aria-disabled={!isPossible}
        aria-describedby={hintId}
        onClick={() => choose("approve")}
      >
        {select.approve(count)}
      </button>
    </section>
  );
}
