// Reads the votes on many requests with their evidence, for the log.

import type { Queryable } from "../../database/database.ts";
import type { EvidenceFact, VoteFact } from "../../domain/proof/log-facts.ts";

export type LoggedVote = VoteFact & {
  workspaceId: string;
  approvalId: string;
  /** Not one of the requester, or of whoever became the key's owner, even after their vote. Receipts go by it, too. */
  isCounted: boolean;
};

type VoteRow = {
  workspace_id: string;
  approval_id: string;
  email: string;
  for_email: string | null;
  verdict: "approve" | "reject";
  voted_at: Date;
  revision: number;
  stage: number | null;
  via: string | null;
  note: string | null;
  is_counted: boolean;
  shown_version: number | null;
  shown_digest: Buffer | null;
  opened_at: Date | null;
  open_ms: string | null;
  amr: string[] | null;
  address: string | null;
  user_agent: string | null;
  page: string | null;
  credential_id: string | null;
  public_key: Buffer | null;
  statement: string | null;
  authenticator_data: Buffer | null;
  client_data: Buffer | null;
  signature: Buffer | null;
};

const evidenceColumns = `e.shown_version, e.shown_digest, e.opened_at, e.open_ms, e.amr, e.address, e.user_agent,
  e.page, e.credential_id, e.statement, e.authenticator_data, e.client_data, e.signature, (
    select p.public_key from passkeys p where p.credential_id = e.credential_id
  ) as public_key`;

/** The votes on these requests with their evidence, in order. Where one person decides alone, the evidence is the vote. */
export async function listVotes(
  db: Queryable,
  asked: readonly { workspaceId: string; approvalId: string }[],
): Promise<LoggedVote[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<VoteRow>({
    name: "logSources.listVotes",
    text: `
      select asked.workspace_id, asked.approval_id, v.*
      from unnest($1::text[], $2::text[]) as asked (workspace_id, approval_id)
      cross join lateral (
        select v.voter_email as email, v.person, v.for_email, v.verdict, v.created_at as voted_at, v.revision,
          v.stage::int as stage, v.via, v.note, not exists (
            select from votings g
            where g.workspace_id = asked.workspace_id and g.approval_id = v.approval_id and v.verdict = 'approve'
              and array[v.person, v.voter] && array_remove(g.later_owners || array[g.requester, g.key_owner], null)
          ) as is_counted, ${evidenceColumns}
        from votes v
        left join evidence e on e.workspace_id = v.workspace_id and e.approval_id = v.approval_id
          and e.revision = v.revision and e.voter = v.voter
        where v.workspace_id = asked.workspace_id and v.approval_id = asked.approval_id
        union all
        select e.email, e.voter, e.for_email, e.verdict, e.voted_at, e.revision, null, null, null, true, ${evidenceColumns}
        from evidence e
        where e.workspace_id = asked.workspace_id and e.approval_id = asked.approval_id and not exists (
          select from votes v
          where v.workspace_id = asked.workspace_id and v.approval_id = e.approval_id and v.revision = e.revision and v.voter = e.voter
        )
      ) as v
      -- The order of receipts.
      order by v.voted_at, v.stage, v.person`,
    values: [
      asked.map(({ workspaceId }) => workspaceId),
      asked.map(({ approvalId }) => approvalId),
    ],
  });
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    approvalId: row.approval_id,
    email: row.email,
    for: row.for_email,
    verdict: row.verdict,
    at: row.voted_at,
    revision: row.revision,
    stage: row.stage,
    via: row.via,
    note: row.note,
    isCounted: row.is_counted,
    evidence: toEvidence(row),
  }));
}

function toEvidence(row: VoteRow): EvidenceFact | null {
  if (row.shown_version === null || row.shown_digest === null) return null;
  return {
    shown: { v: row.shown_version, digest: row.shown_digest.toString("base64url") },
    openedAt: row.opened_at,
    openMs: row.open_ms === null ? null : Number(row.open_ms),
    amr: row.amr ?? [],
    address: row.address,
    userAgent: row.user_agent,
    page: row.page,
    signed:
      row.credential_id === null
        ? null
        : {
            credential: row.credential_id,
            publicKey: row.public_key?.toString("base64url") ?? null,
            statement: row.statement ?? "",
            authenticatorData: row.authenticator_data?.toString("base64url") ?? "",
            clientDataJSON: row.client_data?.toString("base64url") ?? "",
            signature: row.signature?.toString("base64url") ?? "",
          },
  };
}
