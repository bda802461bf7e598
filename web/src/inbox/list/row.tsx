// One request of a list. All of it is a link; the agent's words stand in frames, ours beside them.

import type { ReactNode } from "react";
import type { InboxPastRow, InboxRow } from "../../../../server/src/wire/inbox-contract.ts";
import { StatusMark } from "../../look/status-mark.tsx";
import { toExactTime } from "../../look/time/exact-time.ts";
import { toLocalTime } from "../../look/time/local-time.ts";
import { Visible } from "../../look/visible-text.tsx";
import { inboxWords } from "../frame/inbox-words.ts";

type RowProps = {
  row: Omit<InboxRow, "progress">;
  progress: InboxRow["progress"];
  address: string;
  isOpen: boolean;
  isNew: boolean;
  isEnded: boolean;
  /** The time left, or what became of it. */
  state: ReactNode;
  /** Before the link, and below the words. */
  select?: ReactNode;
  why?: ReactNode;
  onOpen: () => void;
};

export function Row(props: RowProps) {
  const { row, progress, address, isOpen, isNew, isEnded, state, select, why, onOpen } = props;
  const marks = [isOpen && "row-open", isNew && "row-new", isEnded && "row-ended"];
  return (
    <li className={["inbox-row", ...marks.filter(Boolean)].join(" ")} data-row={row.id}>
      {select}
      <a
        className="row-words"
        href={address}
        aria-current={isOpen ? "page" : undefined}
        onClick={(event) => {
          // A new tab is the browser's own matter.
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          onOpen();
        }}
      >
        <span className="row-line">
          <span className="row-workspace">
            <span className="sr-only">{inboxWords.row.workspace}</span>
            <Visible text={row.workspaceName} />
          </span>
          {state}
        </span>
        <span className="row-summary">
          <Visible text={row.summary} />
        </span>
        <span className="row-facts">
          <Agent name={row.agentName} />
          {row.groupName !== null && (
            <span>
              {inboxWords.row.group}
              <Visible text={row.groupName} />
            </span>
          )}
          {row.for !== null && (
            <span>
              {inboxWords.row.for}
              <Visible text={row.for} />
            </span>
          )}
          {progress !== null && <span>{inboxWords.row.progress(progress)}</span>}
        </span>
        {why}
      </a>
    </li>
  );
}

function Agent({ name }: { name: string | null }) {
  if (name === null) return <span>{inboxWords.row.unnamed}</span>;
  return (
    <span>
      <span className="sr-only">{inboxWords.row.agent}</span>
      <span className="quoted row-agent" title={inboxWords.row.agent.replace(/: $/, "")}>
        <Visible text={name} />
      </span>
    </span>
  );
}

/** What became of a request, and through whom. */
export function RowOutcome({ outcome }: { outcome: InboxPastRow["outcome"] | undefined }) {
  if (outcome === undefined) return <span className="row-time">{inboxWords.row.ended}</span>;
  if (outcome === null) {
    return <StatusMark status="PENDING" pendingWord={inboxWords.row.others} />;
  }
  const { status, isYours, byEmail, at } = outcome;
  return (
    <span className="row-outcome" title={toExactTime(at)}>
      <StatusMark status={status} />
      {isYours && <span className="row-by">{inboxWords.row.byYou}</span>}
      {!isYours && byEmail !== null && (
        <span className="row-by">
          {inboxWords.row.by}
          <Visible text={byEmail} />
        </span>
      )}
    </span>
  );
}

export function When({ at }: { at: string }) {
  return (
    <time className="row-when" dateTime={at} title={toExactTime(at)}>
      {toLocalTime(at)}
    </time>
  );
}
