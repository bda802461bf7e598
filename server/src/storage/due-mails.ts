// Claims mails that are due, as webhooks are claimed: the lease and the row of the attempt in one commit.
// Workspaces take turns, so that one which asks a thousand people delays no other's mail. Also reads back a
// mail that was sent or kept: it is made anew from the same rows.

import type { MailEventKind, PasskeyMailKind } from "../domain/event.ts";
import { leaseSeconds, mailsPerWorkspaceMax } from "../domain/limits.ts";
import type { Queryable, Transaction } from "./database.ts";
import type { Lease, NoticeDetail } from "./deliveries.ts";
import type { PersonMailDetail } from "./person-mails.ts";

/** The part of an approval that a mail tells. Never the payload, never the agent's state. */
export type MailedApproval = {
  id: string;
  summary: string;
  agentName: string | null;
  groupName: string | null;
  createdAt: Date;
  expiresAt: Date;
};

export type MailSubject =
  | {
      kind: "request.created" | "request.expiring";
      approval: MailedApproval;
      reviewer: { id: string; secretKeyId: string; tokenNonce: Buffer; needsCode: boolean };
    }
  | { kind: "mail.failed"; approval: MailedApproval; reviewerEmail: string; answer: string | null }
  | {
      kind: "endpoint.failing" | "endpoint.disabled";
      endpoint: { id: string; url: string };
      failingSince: Date | null;
      reason: string;
    }
  | { kind: "person.signing_in"; secretKeyId: string; nonce: Buffer; expiresAt: Date }
  | { kind: PasskeyMailKind; passkeyName: string }
  | { kind: "member.invited"; role: string; invitedBy: string | null };

export type Mail = {
  workspaceId: string;
  deliveryId: string;
  workspaceName: string;
  to: string;
  /** 1, or more when somebody asked to send it again. */
  round: number;
  /** When the event happened. */
  eventAt: Date;
  subject: MailSubject;
};

export type ClaimedMail = Mail & Lease & { numberInRound: number };

type MailRow = {
  workspace_id: string;
  delivery_id: string;
  workspace_name: string;
  round: number;
  kind: MailEventKind;
  event_at: Date;
  detail: (NoticeDetail & PersonMailDetail) | null;
  recipient: string | null;
  reviewer_id: string | null;
  reviewer_email: string | null;
  secret_key_id: string | null;
  token_nonce: Buffer | null;
  needs_code: boolean | null;
  approval_id: string | null;
  summary: string;
  agent_name: string | null;
  group_name: string | null;
  approval_created_at: Date;
  expires_at: Date;
  endpoint_id: string | null;
  url: string;
};

type ClaimedRow = MailRow & { lease_token: string; number: number; number_in_round: number };

const mailColumns = `
  d.workspace_id, d.id as delivery_id, w.name as workspace_name, d.round, ev.kind,
  ev.created_at as event_at, ev.detail, d.recipient, r.id as reviewer_id, r.email as reviewer_email,
  r.secret_key_id, r.token_nonce, r.needs_code, a.id as approval_id, a.summary, a.agent_name,
  a.group_name, a.created_at as approval_created_at, a.expires_at, e.id as endpoint_id, e.url`;

// The reviewer is whom the mail is for, or, of a notice, whom it never reached. Sub-selects with a limit, because plain
// joins, planned while the tables were small, would walk through all rows of a workspace.
const mailJoins = `
  cross join lateral (select w.name from workspaces w where w.id = d.workspace_id limit 1) as w
  cross join lateral (
    select ev.kind, ev.created_at, ev.detail, ev.approval_id, ev.reviewer_id, ev.endpoint_id
    from events ev where ev.workspace_id = d.workspace_id and ev.id = d.event_id limit 1
  ) as ev
  left join lateral (
    select r.id, r.email, r.secret_key_id, r.token_nonce, r.needs_code from reviewers r
    where r.workspace_id = d.workspace_id and r.id = coalesce(d.reviewer_id, ev.reviewer_id) limit 1
  ) as r on true
  left join lateral (
    select a.id, a.summary, a.agent_name, a.group_name, a.created_at, a.expires_at from approvals a
    where a.workspace_id = d.workspace_id and a.id = ev.approval_id limit 1
  ) as a on true
  left join lateral (
    select e.id, e.url from endpoints e
    where e.workspace_id = d.workspace_id and e.id = ev.endpoint_id limit 1
  ) as e on true`;

export async function claim(tx: Transaction, limit: number): Promise<ClaimedMail[]> {
  const { rows } = await tx.query<ClaimedRow>({
    name: "dueMails.claim",
    text: claimSql,
    values: [limit],
  });
  return rows.map((row) => ({
    ...toMail(row),
    leaseToken: row.lease_token,
    number: row.number,
    numberInRound: row.number_in_round,
  }));
}

// A mail that asks for a decision is skipped when there is nothing left to decide, or when its reader was
// removed from the group and may not decide any more.
const claimSql = `
with recursive lane as (
  (select d.workspace_id from deliveries d
   where d.state = 'due' and d.endpoint_id is null
   order by d.workspace_id, d.due_at, d.id limit 1)
  union all
  select next.workspace_id
  from lane
  cross join lateral (
    select d.workspace_id from deliveries d
    where d.state = 'due' and d.endpoint_id is null and d.workspace_id > lane.workspace_id
    order by d.workspace_id, d.due_at, d.id limit 1
  ) as next
),
window_row as (
  select oldest.ctid, oldest.is_leased, oldest.due_at,
    count(*) filter (where oldest.is_leased) over (partition by lane.workspace_id) as leased,
    row_number() over (partition by lane.workspace_id, oldest.is_leased order by oldest.due_at, oldest.id) as turn
  from lane
  cross join lateral (
    select d.ctid, d.id, d.due_at, coalesce(d.leased_until > now(), false) as is_leased
    from deliveries d
    where d.state = 'due' and d.endpoint_id is null and d.workspace_id = lane.workspace_id
      and d.due_at <= now()
    order by d.due_at, d.id
    limit ${mailsPerWorkspaceMax}
  ) as oldest
),
picked as (
  select ctid from window_row where not is_leased order by leased + turn, due_at limit $1
),
locked as materialized (
  select d.ctid, d.workspace_id, d.id, d.attempts, d.event_id, d.reviewer_id, d.recipient from deliveries d
  where d.ctid = any (array(select ctid from picked))
    and d.state = 'due' and d.due_at <= now() and (d.leased_until is null or d.leased_until <= now())
  for update skip locked
),
pointless as materialized (
  -- A code that is over, an invitation that was answered or taken back.
  select locked.ctid
  from locked
  cross join lateral (
    select ev.kind, ev.detail from events ev
    where ev.workspace_id = locked.workspace_id and ev.id = locked.event_id limit 1
  ) as ev
  where (ev.kind = 'person.signing_in' and (ev.detail->>'expiresAt')::timestamptz <= now())
    or (ev.kind = 'member.invited' and not exists (
      select from members m
      where m.workspace_id = locked.workspace_id and lower(m.email) = lower(locked.recipient)
        and m.joined_at is null
    ))
  union all
  select locked.ctid
  from locked
  cross join lateral (
    select ev.approval_id from events ev
    where ev.workspace_id = locked.workspace_id and ev.id = locked.event_id limit 1
  ) as ev
  cross join lateral (
    select r.email from reviewers r
    where r.workspace_id = locked.workspace_id and r.id = locked.reviewer_id limit 1
  ) as r
  cross join lateral (
    select a.status, a.expires_at, a.group_id from approvals a
    where a.workspace_id = locked.workspace_id and a.id = ev.approval_id limit 1
  ) as a
  where a.status <> 'PENDING' or a.expires_at <= now()
    or (a.group_id is not null and not exists (
      select from group_members m
      where m.workspace_id = locked.workspace_id and m.group_id = a.group_id and lower(m.email) = lower(r.email)
    ))
),
skipped as (
  update deliveries d
  set state = 'skipped', lease_token = null, leased_until = null
  where d.ctid = any (array(select ctid from pointless))
),
claimed as (
  update deliveries d
  set attempts = d.attempts + 1, lease_token = gen_random_uuid(),
    leased_until = now() + interval '${leaseSeconds} seconds'
  where d.ctid = any (array(select ctid from locked except select ctid from pointless))
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, d.lease_token,
    d.attempts as number, d.attempts - d.attempts_before as number_in_round
),
cut_short as (
  update attempts a
  set finished_at = now_ms(), outcome = 'interrupted'
  from locked
  where a.workspace_id = locked.workspace_id and a.delivery_id = locked.id
    and a.number = locked.attempts and a.finished_at is null
),
attempt as (
  insert into attempts (workspace_id, delivery_id, number)
  select workspace_id, id, number from claimed
)
select ${mailColumns}, d.lease_token, d.number, d.number_in_round
from claimed d ${mailJoins}`;

/** Mails that have left, or were kept, newest first. An id alone does not lead to a row, so workspaces are asked in turn. */
export async function listSent(
  db: Queryable,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<Mail[]> {
  const { rows } = await db.query<MailRow>(
    `select ${mailColumns}
     from (
       select sent.workspace_id, sent.id, sent.event_id, sent.reviewer_id, sent.recipient, sent.round
       from workspaces
       cross join lateral (
         select d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round
         from deliveries d
         where d.workspace_id = workspaces.id and d.endpoint_id is null and d.state = 'delivered'
           and ($2::text is null or d.id < $2)
         order by d.id desc
         limit $1
       ) as sent
       order by sent.id desc
       limit $1
     ) as d ${mailJoins}
     order by d.id desc`,
    [limit, beforeId],
  );
  return rows.map(toMail);
}

export async function findSent(db: Queryable, deliveryId: string): Promise<Mail | null> {
  const { rows } = await db.query<MailRow>(
    `select ${mailColumns}
     from workspaces
     join deliveries d on d.workspace_id = workspaces.id and d.id = $1 ${mailJoins}
     where d.endpoint_id is null and d.state = 'delivered'`,
    [deliveryId],
  );
  return rows.map(toMail)[0] ?? null;
}

function toMail(row: MailRow): Mail {
  return {
    workspaceId: row.workspace_id,
    deliveryId: row.delivery_id,
    workspaceName: row.workspace_name,
    to: row.recipient ?? (row.reviewer_email as string),
    round: row.round,
    eventAt: row.event_at,
    subject: toSubject(row),
  };
}

// The schema's constraints promise which columns are there for which kind.
function toSubject(row: MailRow): MailSubject {
  const { kind } = row;
  switch (kind) {
    case "request.created":
    case "request.expiring":
      return {
        kind,
        approval: toMailedApproval(row),
        reviewer: {
          id: row.reviewer_id as string,
          secretKeyId: row.secret_key_id as string,
          tokenNonce: row.token_nonce as Buffer,
          needsCode: row.needs_code as boolean,
        },
      };
    case "mail.failed":
      return {
        kind,
        approval: toMailedApproval(row),
        reviewerEmail: row.reviewer_email as string,
        answer: row.detail?.answer ?? null,
      };
    case "endpoint.failing":
    case "endpoint.disabled":
      return {
        kind,
        endpoint: { id: row.endpoint_id as string, url: row.url },
        failingSince: row.detail?.failingSince ? new Date(row.detail.failingSince) : null,
        reason: row.detail?.reason ?? "",
      };
    case "person.signing_in":
      return {
        kind,
        secretKeyId: row.detail?.secretKeyId ?? "",
        nonce: Buffer.from(row.detail?.nonce ?? "", "base64"),
        expiresAt: new Date(row.detail?.expiresAt ?? 0),
      };
    case "person.passkey_added":
    case "person.passkey_removed":
      return { kind, passkeyName: row.detail?.passkeyName ?? "" };
    case "member.invited":
      return { kind, role: row.detail?.role ?? "", invitedBy: row.detail?.invitedBy ?? null };
    default:
      return kind satisfies never;
  }
}

function toMailedApproval(row: MailRow): MailedApproval {
  return {
    id: row.approval_id as string,
    summary: row.summary,
    agentName: row.agent_name,
    groupName: row.group_name,
    createdAt: row.approval_created_at,
    expiresAt: row.expires_at,
  };
}
