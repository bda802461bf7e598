// Reads the rows that the log's facts are made of: many at a time, and never a payload itself. PostgreSQL digests the
// texts where they are, so that megabytes of them neither travel nor keep this process busy.

import type { Queryable } from "../../database/database.ts";
import type { RequestFact } from "../../domain/proof/log-facts.ts";
import { largeBytes } from "../approvals/approvals.ts";

/** A row of a workspace that is asked for. */
export type Asked = { workspaceId: string; id: string };

const askedOf = (asked: readonly Asked[]) => [
  asked.map(({ workspaceId }) => workspaceId),
  asked.map(({ id }) => id),
];

export type LoggedEvent = {
  workspaceId: string;
  id: string;
  kind: string;
  approvalId: string;
  at: Date;
  detail: Record<string, unknown> | null;
  approval: LoggedApproval;
};

/** The small columns of the event's request. */
export type LoggedApproval = RequestColumns & {
  keyId: string | null;
  approverEmail: string | null;
  decidedBy: string | null;
  note: string | null;
  isEdited: boolean;
  hasSeats: boolean;
  /** About the size of its texts. */
  bytes: number;
};

/** What a fact has as it stands in the row. */
type RequestColumns = Omit<
  RequestFact,
  "request" | "at" | "apiKey" | "approver" | "payload" | "texts"
>;

type EventRow = {
  workspace_id: string;
  id: string;
  kind: string;
  approval_id: string;
  created_at: Date;
  detail: Record<string, unknown> | null;
  summary: string;
  agent_name: string | null;
  requested_by: string | null;
  key_id: string | null;
  approver_email: string | null;
  group_id: string | null;
  group_key: string | null;
  group_name: string | null;
  callback_url: string | null;
  channels: string[] | null;
  audience: string[] | null;
  needs_signature: boolean;
  expires_at: Date;
  resolved_by_email: string | null;
  resolution_note: string | null;
  is_edited: boolean;
  has_seats: boolean;
  stages: number[] | null;
  bytes: number;
};

export async function listEvents(db: Queryable, asked: readonly Asked[]): Promise<LoggedEvent[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<EventRow>({
    name: "logSources.listEvents",
    text: `
      select asked.workspace_id, e.id, e.kind, e.approval_id, e.created_at, e.detail, a.*
      from unnest($1::text[], $2::text[]) as asked (workspace_id, id)
      cross join lateral (
        select e.id, e.kind, e.approval_id, e.created_at, e.detail from events e
        where e.workspace_id = asked.workspace_id and e.id = asked.id limit 1
      ) as e
      cross join lateral (
        select a.summary, a.agent_name, a.requested_by, a.key_id, a.approver_email, a.group_id, a.group_key,
          a.group_name, a.callback_url, a.channels, a.audience, a.needs_signature, a.expires_at,
          a.resolved_by_email, a.resolution_note, a.edit is not null as is_edited, a.has_seats,
          case when a.has_seats then (
            select array_agg(s.required::int order by s.number) from stages s
            where s.workspace_id = asked.workspace_id and s.approval_id = a.id
          ) end as stages,
          (${largeBytes})::int as bytes
        from approvals a where a.workspace_id = asked.workspace_id and a.id = e.approval_id limit 1
      ) as a`,
    values: askedOf(asked),
  });
  return rows.map(toEvent);
}

function toEvent(row: EventRow): LoggedEvent {
  const { group_id: groupId, group_key: key, group_name: name } = row;
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    kind: row.kind,
    approvalId: row.approval_id,
    at: row.created_at,
    detail: row.detail,
    approval: {
      summary: row.summary,
      agentName: row.agent_name,
      requestedBy: row.requested_by,
      keyId: row.key_id,
      approverEmail: row.approver_email,
      group: groupId === null ? null : { id: groupId, key: key ?? "", name: name ?? "" },
      callbackUrl: row.callback_url,
      channels: row.channels,
      audience: row.audience,
      needsSignature: row.needs_signature,
      expiresAt: row.expires_at,
      decidedBy: row.resolved_by_email,
      note: row.resolution_note,
      isEdited: row.is_edited,
      hasSeats: row.has_seats,
      stages: row.stages ?? [1],
      bytes: row.bytes,
    },
  };
}

/** A text to be digested: the payload, what was approved in the end, or a revision of it. */
export type TextJob = {
  workspaceId: string;
  approvalId: string;
  text: "payload" | "effective" | { revision: number };
  /** Around the text; see `saltedAround`. */
  inner: Buffer;
  outer: Buffer;
  /** The texts beside the payload, too. */
  withOthers: boolean;
};

export type DigestedText = {
  bytes: number;
  digest: Buffer;
  salted: Buffer;
} | null;

export type OtherDigests = Record<keyof RequestFact["texts"], Buffer | null>;

/** In the order of the jobs. A text that was never given has no digest. */
export async function digestTexts(
  db: Queryable,
  jobs: readonly TextJob[],
): Promise<{ text: DigestedText; others: OtherDigests }[]> {
  if (jobs.length === 0) return [];
  const { rows } = await db.query<{
    bytes: number | null;
    digest: Buffer;
    salted: Buffer;
    metadata: Buffer | null;
    agent_state: Buffer | null;
    reasoning: Buffer | null;
    recent_actions: Buffer | null;
  }>({
    name: "logSources.digestTexts",
    text: `
      select octet_length(a.text) as bytes, sha256(convert_to(a.text, 'UTF8')) as digest,
        sha256(job.outer_key || sha256(job.inner_key || convert_to(a.text, 'UTF8'))) as salted,
        a.metadata, a.agent_state, a.reasoning, a.recent_actions
      from unnest($1::text[], $2::text[], $3::integer[], $4::bytea[], $5::bytea[], $6::boolean[]) with ordinality
        as job (workspace_id, approval_id, revision, inner_key, outer_key, with_others, n)
      left join lateral (
        select case
            when job.revision = ${payloadJob} then a.payload
            when job.revision = ${effectiveJob} then coalesce(a.edit, a.payload)
            else (
              select r.payload from revisions r
              where r.workspace_id = job.workspace_id and r.approval_id = job.approval_id and r.number = job.revision
            )
          end as text,
          case when job.with_others then sha256(convert_to(a.metadata, 'UTF8')) end as metadata,
          case when job.with_others then sha256(convert_to(a.agent_state, 'UTF8')) end as agent_state,
          case when job.with_others then sha256(convert_to(a.reasoning, 'UTF8')) end as reasoning,
          case when job.with_others then sha256(convert_to(a.recent_actions, 'UTF8')) end as recent_actions
        from approvals a where a.workspace_id = job.workspace_id and a.id = job.approval_id limit 1
      ) as a on true
      order by job.n`,
    values: [
      jobs.map(({ workspaceId }) => workspaceId),
      jobs.map(({ approvalId }) => approvalId),
      jobs.map(({ text }) => revisionOf(text)),
      jobs.map(({ inner }) => inner),
      jobs.map(({ outer }) => outer),
      jobs.map(({ withOthers }) => withOthers),
    ],
  });
  return rows.map((row) => ({
    text: row.bytes === null ? null : { bytes: row.bytes, digest: row.digest, salted: row.salted },
    others: {
      metadata: row.metadata,
      agentState: row.agent_state,
      reasoning: row.reasoning,
      recentActions: row.recent_actions,
    },
  }));
}

const payloadJob = 0;
const effectiveJob = 1;

/** Revisions that are rows of their own have numbers from 2 on. */
function revisionOf(text: TextJob["text"]): number {
  if (text === "payload") return payloadJob;
  return text === "effective" ? effectiveJob : text.revision;
}

export type LoggedActivity = {
  workspaceId: string;
  id: string;
  at: Date;
  actor: string | null;
  action: string;
  subject: string;
  detail: Record<string, unknown>;
};

export async function listActivity(
  db: Queryable,
  asked: readonly Asked[],
): Promise<LoggedActivity[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<LoggedActivity>({
    name: "logSources.listActivity",
    text: `
      select asked.workspace_id as "workspaceId", a.*
      from unnest($1::text[], $2::text[]) as asked (workspace_id, id)
      cross join lateral (
        select a.id, a.created_at as at, a.actor_email as actor, a.action, a.subject, a.detail from activity a
        where a.workspace_id = asked.workspace_id and a.id = asked.id limit 1
      ) as a`,
    values: askedOf(asked),
  });
  return rows;
}

export type LoggedRedemption = {
  workspaceId: string;
  approvalId: string;
  at: Date;
  apiKey: { id: string; name: string };
};

export async function listRedemptions(
  db: Queryable,
  asked: readonly Asked[],
): Promise<LoggedRedemption[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<{
    workspace_id: string;
    approval_id: string;
    redeemed_at: Date;
    api_key_id: string;
    name: string;
  }>({
    name: "logSources.listRedemptions",
    text: `
      select asked.workspace_id, r.approval_id, r.redeemed_at, r.api_key_id, k.name
      from unnest($1::text[], $2::text[]) as asked (workspace_id, id)
      cross join lateral (
        select r.* from redemptions r where r.workspace_id = asked.workspace_id and r.approval_id = asked.id limit 1
      ) as r
      cross join lateral (
        select k.name from api_keys k where k.workspace_id = asked.workspace_id and k.id = r.api_key_id limit 1
      ) as k`,
    values: askedOf(asked),
  });
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    approvalId: row.approval_id,
    at: row.redeemed_at,
    apiKey: { id: row.api_key_id, name: row.name },
  }));
}

export type LoggedOpening = Asked & { approvalId: string; email: string; at: Date };

export async function listOpenings(
  db: Queryable,
  asked: readonly Asked[],
): Promise<LoggedOpening[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<{
    workspace_id: string;
    id: string;
    approval_id: string;
    email: string;
    opened_at: Date;
  }>({
    name: "logSources.listOpenings",
    text: `
      select asked.workspace_id, r.* from unnest($1::text[], $2::text[]) as asked (workspace_id, id)
      cross join lateral (
        select r.id, r.approval_id, r.email, r.opened_at from reviewers r
        where r.workspace_id = asked.workspace_id and r.id = asked.id limit 1
      ) as r`,
    values: askedOf(asked),
  });
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    id: row.id,
    approvalId: row.approval_id,
    email: row.email,
    at: row.opened_at,
  }));
}
