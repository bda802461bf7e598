// Above the request: how many approved exactly this text, who, what comes next, and what the reader may do about it.

import type {
  ReviewChange,
  ReviewVote,
  ReviewVoting,
} from "../../../../server/src/wire/review-contract.ts";
import { lead } from "../../look/lead.ts";
import { Instant } from "../../look/time/instant.tsx";
import { words } from "../../look/words.ts";
import { isCounted, openStageOf } from "./rights.ts";
import { aheadSaid, countedIn, countOf, placeSaid } from "./said.ts";
import { SaidText, Theirs } from "./said-text.tsx";
import { stagesId } from "./stage-list.tsx";
import { VoteBy } from "./vote-by.tsx";

export const standingId = "standing";
const placeId = "standing-place";
/** The rest stands in the list of all stages, so that the payload begins on the first screen of a phone. */
const votesAtFirst = 3;

type StandingProps = {
  voting: ReviewVoting;
  change: ReviewChange | undefined;
  hasPayload: boolean;
};

export function Standing({ voting, change, hasPayload }: StandingProps) {
  const { isStuck, outdatedVote, you } = voting;
  const place = placeSaid(voting);
  const open = isCounted(voting) ? openStageOf(voting) : null;
  if (!isStuck && outdatedVote === null && place === null && open === null) return null;
  // The words about their place say it to those who voted, and to those whom another stage needs.
  const isSaid = isStuck || you.kind === "voted" || you.kind === "needed_later";
  const ahead = isSaid ? [] : aheadSaid(voting);
  return (
    <section
      className={isStuck ? "standing standing-stuck" : "standing"}
      aria-label={words.voting.label}
      // Read out when a vote was recorded and the focus comes here.
      {...(place === null ? {} : { "aria-describedby": placeId })}
      id={standingId}
      tabIndex={-1}
    >
      {isStuck && <p>{words.voting.stuck}</p>}
      {place !== null && (
        <p id={placeId}>
          <SaidText said={place} />
        </p>
      )}
      {outdatedVote !== null && <Outdated at={outdatedVote.at} change={change} />}
      {open !== null && (
        <p className="standing-count">
          {countedIn(voting)}
          <strong>{countOf(open)}</strong>{" "}
          {hasPayload ? words.voting.counted.payload : words.voting.counted.request}
        </p>
      )}
      {open !== null && <FirstVotes votes={open.approvals} />}
      {open !== null && ahead.length > 0 && (
        <p className="quiet">
          <SaidText said={ahead} />
        </p>
      )}
    </section>
  );
}

function Outdated({ at, change }: { at: string; change: ReviewChange | undefined }) {
  const { before, after, changed, somebody } = words.voting.outdated;
  return (
    <p className="standing-outdated">
      {before}
      <Instant at={at} />
      {after}
      {change === undefined ? (
        somebody
      ) : (
        <>
          <Theirs text={change.byEmail} />
          {changed}
          <Instant at={change.at} />
        </>
      )}
    </p>
  );
}

function FirstVotes({ votes }: { votes: readonly ReviewVote[] }) {
  const left = votes.length - votesAtFirst;
  if (votes.length === 0) return null;
  return (
    <ul className="vote-list">
      {votes.slice(0, votesAtFirst).map((vote) => (
        <li key={`${vote.email} ${vote.at}`}>
          <VoteBy vote={vote} />
        </li>
      ))}
      {left > 0 && (
        <li>
          <button type="button" className="link-button" onClick={() => lead(stagesId)}>
            {words.voting.moreVotes(left)}
          </button>
        </li>
      )}
    </ul>
  );
}
