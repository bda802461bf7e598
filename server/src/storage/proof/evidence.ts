// The evidence table: what is known about each vote. Rows are written with their vote and never change.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { VoteRecord } from "../../domain/approval/voting-record.ts";
import type { Amr, Evidence, ShownEvidence, SignedDecision } from "../../domain/proof/evidence.ts";
import {
  evidenceColumns,
  evidenceTerms,
  evidenceValues,
  voteColumns,
} from "../approvals/evidence-columns.ts";

type Where = { workspaceId: string; approvalId: string };

/** One who decides alone leaves theirs with the statement that resolves. */
export async function insert(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  { revision, voter, voterEmail, forEmail, verdict, at }: VoteRecord,
  evidence: ShownEvidence,
): Promise<void> {
  await tx.query({
    name: "evidence.insert",
    text: `
      insert into evidence (${voteColumns}, ${evidenceColumns})
      values ($1, $2, $3, $4, $5, $6, $7, $8, ${evidenceTerms(9, "$8::timestamptz")})`,
    values: [
      ...[workspaceId, approvalId, revision, voter, voterEmail, forEmail, verdict, at],
      ...evidenceValues(evidence),
    ],
  });
}

type Row = {
  revision: number;
  voter: string;
  email: string;
  for_email: string | null;
  verdict: Evidence["verdict"];
  voted_at: Date;
  shown_version: number;
  shown_digest: Buffer;
  opened_at: Date | null;
  open_ms: string | null;
  amr: Amr[];
  address: string | null;
  user_agent: string | null;
  page: string | null;
  credential_id: string | null;
  statement: string | null;
  authenticator_data: Buffer | null;
  client_data: Buffer | null;
  signature: Buffer | null;
};

/** In the order of the votes. Empty where a request was decided before evidence was kept. */
export async function listOfApproval(
  db: Queryable,
  { workspaceId, approvalId }: Where,
): Promise<Evidence[]> {
  const { rows } = await db.query<Row>({
    name: "evidence.listOfApproval",
    text: `
      select revision, voter, email, for_email, verdict, voted_at, ${evidenceColumns}
      from evidence
      where workspace_id = $1 and approval_id = $2
      order by voted_at, revision, voter`,
    values: [workspaceId, approvalId],
  });
  return rows.map(toEvidence);
}

function toEvidence(row: Row): Evidence {
  return {
    revision: row.revision,
    voter: row.voter,
    email: row.email,
    forEmail: row.for_email,
    verdict: row.verdict,
    at: row.voted_at,
    shown: { version: row.shown_version, digest: row.shown_digest },
    openedAt: row.opened_at,
    openMs: row.open_ms === null ? null : Number(row.open_ms),
    amr: row.amr,
    address: row.address,
    userAgent: row.user_agent,
    page: row.page,
    signed: toSigned(row),
  };
}

/** A check of the table: all of it, or nothing. */
function toSigned(row: Row): SignedDecision | null {
  if (row.credential_id === null) return null;
  return {
    credentialId: row.credential_id,
    statement: row.statement as string,
    authenticatorData: row.authenticator_data as Buffer,
    clientData: row.client_data as Buffer,
    signature: row.signature as Buffer,
  };
}
