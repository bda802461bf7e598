// The reviewers, and whether each has opened the request.

import type { RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { When } from "../parts/when.tsx";

/** More are folded: a group may have hundreds of members. */
const shownMax = 5;

export function Reviewers({ reviewers }: Pick<RequestDetail, "reviewers">) {
  if (reviewers.length === 0) return null;
  // Reviewers who opened it come first; the rest keep their order.
  const sorted = [...reviewers].sort(
    (one, other) => Number(one.openedAt === null) - Number(other.openedAt === null),
  );
  const opened = reviewers.filter(({ openedAt }) => openedAt !== null).length;
  return (
    <section className="said" aria-labelledby="reviewers-title">
      <h2 id="reviewers-title">
        Approvers{" "}
        <span className="quiet request-count">
          {opened} of {reviewers.length} opened it
        </span>
      </h2>
      <List reviewers={sorted.slice(0, shownMax)} />
      {sorted.length > shownMax && (
        <details className="fold fold-rest">
          <summary>{sorted.length - shownMax} more</summary>
          <List reviewers={sorted.slice(shownMax)} />
        </details>
      )}
    </section>
  );
}

function List({ reviewers }: Pick<RequestDetail, "reviewers">) {
  return (
    <ul className="request-reviewers">
      {reviewers.map(({ email, openedAt }) => (
        <li key={email}>
          <Visible text={email} />
          <span className="quiet">
            {openedAt === null ? (
              "not opened yet"
            ) : (
              <>
                opened <When at={openedAt} isRelative />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
