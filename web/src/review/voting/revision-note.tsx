// What an earlier approver made of the agent's payload: who, when, and each difference.

import type { JsonChange } from "../../../../server/src/domain/shown/json-diff.ts";
import type { ReviewChange } from "../../../../server/src/wire/review-contract.ts";
import { Instant } from "../../look/time/instant.tsx";
import { words } from "../../look/words.ts";
import { ChangeList } from "../parts/change-list.tsx";
import { Theirs } from "./said-text.tsx";

export const revisionNoteId = "revision";

type RevisionNoteProps = { change: ReviewChange; differences: readonly JsonChange[] };

export function RevisionNote({ change: { byEmail, at }, differences }: RevisionNoteProps) {
  return (
    <div className="revision-note" id={revisionNoteId} tabIndex={-1}>
      <p>
        <Theirs text={byEmail} />
        {words.voting.changedPayload} <Instant at={at} />
      </p>
      {differences.length === 0 ? (
        <p>{words.voting.sameAsAgents}</p>
      ) : (
        <>
          <p>{words.voting.differs(differences.length)}</p>
          <ChangeList changes={differences} label={words.voting.earlierChanges} />
        </>
      )}
    </div>
  );
}
