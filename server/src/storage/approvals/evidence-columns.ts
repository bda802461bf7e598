// The columns of the evidence table that a decision brings along, for the statements that write them with a vote.

import type { ShownEvidence } from "../../domain/proof/evidence.ts";
import { shownVersion } from "../../domain/shown/shown-text.ts";

/** Of the vote itself: who, on what, which way and when. */
export const voteColumns =
  "workspace_id, approval_id, revision, voter, email, for_email, verdict, voted_at";

export const evidenceColumns = `shown_version, shown_digest, opened_at, open_ms, amr, address, user_agent, page,
  credential_id, statement, authenticator_data, client_data, signature`;

/** Their expressions. The values of `evidenceValues` begin at the parameter `$first`; `votedAt` is an expression. */
export function evidenceTerms(first: number, votedAt: string): string {
  const at = (place: number) => `$${first + place}`;
  const openedAt = `${at(1)}::timestamptz`;
  return `${shownVersion}, ${at(0)}::bytea, ${openedAt},
    case when ${openedAt} is not null
      then greatest(0, round(extract(epoch from ${votedAt} - ${openedAt}) * 1000)) end,
    ${at(2)}::text[], ${at(3)}::text, ${at(4)}::text, ${at(5)}::text, ${at(6)}::text, ${at(7)}::text, ${at(8)}::bytea,
    ${at(9)}::bytea, ${at(10)}::bytea`;
}

/** All null where nobody decides. */
export function evidenceValues(evidence: ShownEvidence | null): unknown[] {
  const { shownDigest, openedAt, amr, address, userAgent, page, signed } = evidence ?? {};
  return [
    ...[shownDigest, openedAt, amr, address, userAgent, page],
    ...[signed?.credentialId, signed?.statement],
    ...[signed?.authenticatorData, signed?.clientData, signed?.signature],
  ].map((value) => value ?? null);
}
