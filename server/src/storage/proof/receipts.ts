// The receipts table: each decision's receipt, signed once and kept. Also reads everything that a receipt tells.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { DecisionFacts, Digested } from "../../domain/proof/receipt.ts";

export type Where = { workspaceId: string; approvalId: string };

export type FoundReceipt =
  | { kind: "kept"; jws: string }
  /** It was not signed yet, or with a key that was revoked since. */
  | { kind: "unsigned"; facts: DecisionFacts; signingKeyId: string | null }
  /** Nobody approved or rejected it. */
  | { kind: "undecided" }
  | { kind: "unknown" };

const digestOf = (column: string) => `
  case when ${column} is not null then encode(sha256(convert_to(${column}, 'UTF8')), 'hex') end`;

// Texts are hashed where they are: some are megabytes. The limits keep the planner from joining whole tables.
const findManySql = `
  select found.id as approval_id, found.status, kept.jws, facts.*,
    (select k.id from signing_keys k where k.retired_at is null) as signing_key_id
  from unnest((select $1::text[]), (select $2::text[])) with ordinality as item (workspace_id, approval_id, n)
  left join lateral (
    select a.id, a.status from approvals a
    where a.workspace_id = item.workspace_id and a.id = item.approval_id
    limit 1
  ) as found on true
  left join lateral (
    select r.jws from receipts r
    where r.workspace_id = item.workspace_id and r.approval_id = item.approval_id
      and exists (select from signing_keys k where k.id = r.signing_key_id and k.revoked_at is null)
    order by r.created_at
    limit 1
  ) as kept on true
  left join lateral (
    select a.resolved_at, a.resolved_by_email, a.audience, a.needs_signature,
      ${digestOf("a.payload")} as payload_digest, octet_length(a.payload) as payload_bytes,
      ${digestOf("a.edit")} as edit_digest, octet_length(a.edit) as edit_bytes,
      (select e.id from events e
       where e.workspace_id = a.workspace_id and e.approval_id = a.id
         and e.kind = case a.status when 'APPROVED' then 'request.approved' else 'request.rejected' end
       limit 1) as event_id,
      coalesce((
        select nullif(g.approver_limit, 'anybody') from votings g
        where g.workspace_id = a.workspace_id and g.approval_id = a.id
      ), a.approver_limit) as approver_limit,
      (select w.receipt_hours from workspaces w where w.id = a.workspace_id) as receipt_hours,
      -- The log that has the decision; the open one while none has.
      coalesce((
        select t.origin from log_openings o
        join log_trees t on t.id = o.tree_id and t.workspace_id = a.workspace_id
        where o.approval_id = a.id
          and starts_with(o.fact, '{"kind":"request.' || lower(a.status) || '"')
        order by o.tree_id desc limit 1
      ), (
        select t.origin from log_trees t
        where coalesce(t.workspace_id, '') = a.workspace_id and t.closed_at is null
        limit 1
      )) as log_origin,
      (select json_build_object(
         'revision', g.revision,
         'stages', (
           select json_agg(s.required order by s.number) from stages s
           where s.workspace_id = g.workspace_id and s.approval_id = g.approval_id
         ),
         'votes', (
           select coalesce(json_agg(json_build_object(
             'voter', v.voter, 'email', v.voter_email, 'forEmail', v.for_email, 'at', v.created_at
           ) order by v.created_at, v.stage, v.person), '[]')
           from votes v
           where v.workspace_id = g.workspace_id and v.approval_id = g.approval_id and v.revision = g.revision
             and case a.status
               when 'APPROVED' then v.verdict = 'approve'
                 and not array[v.person, v.voter] && array_remove(g.later_owners || array[g.requester, g.key_owner], null)
               else v.verdict = 'reject'
             end
         )
       )
       from votings g
       where g.workspace_id = a.workspace_id and g.approval_id = a.id) as voting,
      (select coalesce(json_agg(json_build_object(
         'revision', e.revision, 'voter', e.voter, 'amr', e.amr, 'shownVersion', e.shown_version,
         'shownDigest', encode(e.shown_digest, 'hex'), 'credentialId', e.credential_id, 'statement', e.statement,
         'authenticatorData', encode(e.authenticator_data, 'hex'), 'clientData', encode(e.client_data, 'hex'),
         'signature', encode(e.signature, 'hex')
       )), '[]')
       from evidence e
       where e.workspace_id = a.workspace_id and e.approval_id = a.id) as evidence
    from approvals a
    where kept.jws is null and a.workspace_id = item.workspace_id and a.id = found.id
      and found.status in ('APPROVED', 'REJECTED')
    limit 1
  ) as facts on true
  order by item.n`;

/** One for each. The key that is current comes from the same moment. */
export async function findMany(db: Queryable, items: readonly Where[]): Promise<FoundReceipt[]> {
  const { rows } = await db.query<Row>({
    name: "receipts.findMany",
    text: findManySql,
    values: [
      items.map(({ workspaceId }) => workspaceId),
      items.map(({ approvalId }) => approvalId),
    ],
  });
  return rows.map((row, at) => toFound(row, items[at]?.workspaceId ?? ""));
}

/** The one that everybody is given; null before somebody asked for it, or if its key was revoked since. */
export async function findKept(
  db: Queryable,
  { workspaceId, approvalId }: Where,
): Promise<string | null> {
  const { rows } = await db.query<{ jws: string }>({
    name: "receipts.findKept",
    text: `
      select r.jws from receipts r
      where r.workspace_id = $1 and r.approval_id = $2
        and exists (select from signing_keys k where k.id = r.signing_key_id and k.revoked_at is null)
      order by r.created_at limit 1`,
    values: [workspaceId, approvalId],
  });
  return rows[0]?.jws ?? null;
}

export type SignedReceipt = Where & { jws: string };

/**
 * Keeps receipts that were signed with a key which is still current: it can't be retired until this commits. Answers
 * the ids of those that were kept, and not of those that another process was quicker with.
 */
export async function insertMany(
  tx: Transaction,
  signingKeyId: string,
  receipts: readonly SignedReceipt[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ approval_id: string }>({
    name: "receipts.insertMany",
    text: `
      with key as (
        select id from signing_keys where id = $1 and retired_at is null for share
      )
      insert into receipts (workspace_id, approval_id, signing_key_id, jws)
      select item.workspace_id, item.approval_id, key.id, item.jws
      from key
      cross join unnest($2::text[], $3::text[], $4::text[]) as item (workspace_id, approval_id, jws)
      order by item.workspace_id, item.approval_id
      on conflict do nothing
      returning approval_id`,
    values: [
      signingKeyId,
      receipts.map(({ workspaceId }) => workspaceId),
      receipts.map(({ approvalId }) => approvalId),
      receipts.map(({ jws }) => jws),
    ],
  });
  return new Set(rows.map((row) => row.approval_id));
}

type VoteRow = { voter: string; email: string; forEmail: string | null; at: string };

type EvidenceRow = {
  revision: number;
  voter: string;
  amr: string[];
  shownVersion: number;
  shownDigest: string;
  credentialId: string | null;
  statement: string;
  authenticatorData: string;
  clientData: string;
  signature: string;
};

type Row = {
  approval_id: string | null;
  status: string | null;
  jws: string | null;
  signing_key_id: string | null;
  resolved_at: Date | null;
  resolved_by_email: string;
  audience: string[] | null;
  needs_signature: boolean;
  approver_limit: DecisionFacts["approverLimit"];
  payload_digest: string | null;
  payload_bytes: number;
  edit_digest: string | null;
  edit_bytes: number;
  event_id: string;
  receipt_hours: number;
  log_origin: string | null;
  voting: { revision: number; stages: number[]; votes: VoteRow[] } | null;
  evidence: EvidenceRow[];
};

function toFound(row: Row, workspaceId: string): FoundReceipt {
  if (row.approval_id === null) return { kind: "unknown" };
  if (row.jws !== null) return { kind: "kept", jws: row.jws };
  const { resolved_at: at, approval_id: approvalId, signing_key_id: signingKeyId } = row;
  // The facts are there only once somebody has decided.
  if (at === null) return { kind: "undecided" };
  return { kind: "unsigned", signingKeyId, facts: toFacts(row, { workspaceId, approvalId, at }) };
}

function toFacts(row: Row, where: Where & { at: Date }): DecisionFacts {
  return {
    ...where,
    eventId: row.event_id,
    decision: row.status === "APPROVED" ? "approved" : "rejected",
    byEmail: row.resolved_by_email,
    audience: row.audience,
    validHours: row.receipt_hours,
    needsSignature: row.needs_signature,
    approverLimit: row.approver_limit,
    payload: toDigested(row.payload_digest, row.payload_bytes),
    edit: toDigested(row.edit_digest, row.edit_bytes),
    voting:
      row.voting === null
        ? null
        : {
            ...row.voting,
            votes: row.voting.votes.map((vote) => ({ ...vote, at: new Date(vote.at) })),
          },
    evidence: row.evidence.map(toEvidence),
    logOrigin: row.log_origin,
  };
}

function toDigested(digest: string | null, bytes: number): Digested | null {
  return digest === null ? null : { digest: toBase64Url(digest), bytes };
}

function toEvidence(row: EvidenceRow): DecisionFacts["evidence"][number] {
  const { revision, voter, amr, credentialId, statement } = row;
  return {
    ...{ revision, voter, amr },
    shown: { version: row.shownVersion, digest: toBase64Url(row.shownDigest) },
    signed:
      credentialId === null
        ? null
        : {
            credentialId,
            assertion: {
              statement,
              authenticatorData: toBase64Url(row.authenticatorData),
              clientDataJSON: toBase64Url(row.clientData),
              signature: toBase64Url(row.signature),
            },
          },
  };
}

function toBase64Url(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64url");
}
