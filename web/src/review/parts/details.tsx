// The workspace, group and id of the request: our own words, below the subject of the decision.

import type { Review } from "../../../../server/src/wire/review-contract.ts";
import { Fact } from "../../look/fact.tsx";
import { Instant } from "../../look/time/instant.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";

export function Details(review: Review) {
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
          {groupName !== null && (
            <span className="quiet">
              , {words.memberOf} <Visible text={groupName} />
            </span>
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
