// Who approved, for whom, and when.

import type { ReviewVote } from "../../../../server/src/wire/review-contract.ts";
import { Instant } from "../../look/time/instant.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";

export function VoteBy({ vote }: { vote: ReviewVote }) {
  return (
    <>
      <span className="vote-who">
        {vote.isYours ? words.voting.you : <Visible text={vote.email} />}
      </span>{" "}
      {vote.for !== null && (
        <>
          {words.voting.inPlaceOf} <Visible text={vote.for} />{" "}
        </>
      )}
      <Instant at={vote.at} />
    </>
  );
}
