// Who decided a request and when; or when it expires, while nobody has.

import type { RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { When } from "../parts/when.tsx";

export function RowDecision({ row }: { row: RequestRow }) {
  const { status, resolvedByEmail, resolvedAt, expiresAt } = row;
  if (status === "PENDING") {
    return (
      <span>
        expires <When at={expiresAt} isRelative isPlain />
      </span>
    );
  }
  if (resolvedByEmail === null || resolvedAt === null) return null;
  return (
    <>
      <span className="requests-decider">
        <span className="sr-only">Decided by </span>
        <Visible text={resolvedByEmail} />
      </span>{" "}
      <When at={resolvedAt} isRelative isPlain />
    </>
  );
}
