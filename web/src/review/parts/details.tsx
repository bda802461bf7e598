// The workspace, group and id of the request: our own words, below the subject of the decision.

import type { Review } from "../../../../server/src/wire/review-contract.ts";
import { Fact } from "../../look/fact.tsx";
import { Instant } from "../../look/time/instant.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";

type DetailsProps = {
  review: Review;
  /** Begins to pass the decision to a colleague; null if that isn't possible here. */
  onHandOver: (() => void) | null;
};

export function Details({ review, onHandOver }: DetailsProps) {
  const { id, workspaceName, createdAt, reviewerEmail, groupName, othersWaiting } = review;
  return (
    <section className="said" aria-labelledby="details-title">
      <h2 id="details-title">{words.details}</h2>
      <dl className="facts">
        <Fact name={words.workspace}>
          <Visible text={workspaceName} />
        </Fact>
        <Fact name={words.you}>
          <Visible text={reviewerEmail} />
          {/* Where several people decide, colleagues from outside of the group may be asked, too. */}
          {groupName !== null && review.voting === undefined && (
            <span className="quiet">
              , {words.memberOf} <Visible text={groupName} />
            </span>
          )}
          {onHandOver !== null && (
            <>
              {" "}
              <button type="button" className="link-button" onClick={onHandOver}>
                {words.voting.handOver.open}
              </button>
            </>
          )}
        </Fact>
        {othersWaiting > 0 && <Fact name={words.alsoWaiting}>{words.others(othersWaiting)}</Fact>}
        <Fact name={words.asked}>
          <Instant at={createdAt} />
        </Fact>
        <Fact name={words.requestId}>
          <code className="code" translate="no">
            {id}
          </code>
        </Fact>
      </dl>
    </section>
  );
}
