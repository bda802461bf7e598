// The outcome of a request: who decided and when, their note, and their changes.

import type { JsonChange } from "../../../../server/src/domain/shown/json-diff.ts";
import type { RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeDuration } from "../../look/time/duration.ts";
import { Visible } from "../../look/visible-text.tsx";
import { DecisionDetails } from "../../review/parts/decision-details.tsx";
import { When } from "../parts/when.tsx";
import { ruleWords } from "./voting/voting-words.ts";

type DecisionProps = { request: RequestDetail; changes: readonly JsonChange[] };

export function Decision({ request, changes }: DecisionProps) {
  const { status, resolvedAt, createdAt, resolutionNote } = request;
  if (resolvedAt === null) return null;
  const rule = ruleWords(request);
  const took = describeDuration(Date.parse(resolvedAt) - Date.parse(createdAt));
  return (
    <section className={`outcome outcome-${status.toLowerCase()}`} aria-labelledby="decision-title">
      <h2 className="request-decision" id="decision-title">
        <Sentence request={request} />
      </h2>
      <p>
        <When at={resolvedAt} /> <span className="quiet">after {took}</span>
      </p>
      {rule !== "" && (
        <p className="request-rule">
          <Visible text={rule} />
        </p>
      )}
      <DecisionDetails note={resolutionNote} changes={changes} />
    </section>
  );
}

function Sentence({ request }: { request: RequestDetail }) {
  const { status, resolvedByEmail, voting } = request;
  // Some may have approved, but too few.
  const isPartly = voting?.stages.some((stage) => stage.votes.length > 0) ?? false;
  const by = <Visible text={resolvedByEmail ?? "somebody"} />;
  switch (status) {
    case "APPROVED":
      return <span>Approved by {by}</span>;
    case "REJECTED":
      return <span>Rejected by {by}</span>;
    case "EXPIRED":
      return isPartly ? (
        <span>Too few people approved in time, so nothing was approved</span>
      ) : (
        <span>Nobody decided in time, so nothing was approved</span>
      );
    case "CANCELLED":
      return isPartly ? (
        <span>Cancelled before enough people approved, so nothing was approved</span>
      ) : (
        <span>Cancelled before anyone decided, so nothing was approved</span>
      );
    case "PENDING":
      return null;
    default:
      return status satisfies never;
  }
}
