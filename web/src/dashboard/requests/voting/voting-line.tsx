// Lines of a request's history about several people: votes, revisions, stages, steps, and who stands in for whom.

import type { ReactNode } from "react";
import type { VotingEntry } from "../../../../../server/src/wire/dashboard-history.ts";
import { Visible } from "../../../look/visible-text.tsx";
import { viaWords } from "./voting-words.ts";

export function votingSentence(entry: VotingEntry, stages: number): ReactNode {
  switch (entry.kind) {
    case "voted":
      return <Voted entry={entry} stages={stages} />;
    case "revised":
      return (
        <>
          <Visible text={entry.email} /> changed the payload: revision {entry.revision}
        </>
      );
    case "stage_entered":
      return (
        <>
          Stage {entry.stage} {entry.isAgain ? "is open again" : "began"}:{" "}
          <Visible text={entry.name} />
        </>
      );
    case "escalated":
      return entry.isNews ? (
        <>
          Still open, so <Visible text={entry.name} /> was asked, too
        </>
      ) : (
        <>
          Still open, but <Visible text={entry.name} /> had been asked already
        </>
      );
    case "escalates":
      return (
        <>
          If it is still open, <Visible text={entry.name} /> is asked, too
        </>
      );
    case "handed_over":
      return (
        <>
          <Visible text={entry.email} /> handed over to <Visible text={entry.toEmail} />
        </>
      );
    case "delegated":
      return (
        <>
          <Visible text={entry.email} /> is away: <Visible text={entry.toEmail} /> is asked instead
        </>
      );
    case "stuck":
      return "Too few people are left to approve it";
    case "unreachable":
      return stages === 1
        ? "No mail could be delivered to anybody"
        : `No mail of stage ${entry.stage} could be delivered`;
    default:
      return entry satisfies never;
  }
}

type VotedProps = { entry: Extract<VotingEntry, { kind: "voted" }>; stages: number };

function Voted({ entry, stages }: VotedProps) {
  const { email, for: forEmail, verdict, stage, revision, via, outdatedBy } = entry;
  return (
    <>
      <Visible text={email} /> {verdict === "approve" ? "approved" : "rejected"}
      {revision > 1 && ` revision ${revision}`}
      {stages > 1 && ` in stage ${stage}`}
      {forEmail !== null && (
        <>
          {" "}
          for <Visible text={forEmail} />
        </>
      )}
      {viaWords[via]}
      {outdatedBy !== null && (
        <span className="history-outdated">No longer counts since revision {outdatedBy}</span>
      )}
    </>
  );
}
