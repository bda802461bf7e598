// Claims mails that are due, as webhooks are claimed: the lease and the row of the attempt in one commit.
// Workspaces take turns, so that one which asks a thousand people delays no other's mail. A person who is asked very
// often gets digests (decision 27). Also reads back a mail that was sent or kept: it is made anew from the same rows.

import assert from "node:assert/strict";
import { isConflictOn, type Queryable, type Transaction } from "../../database/database.ts";
import type { MailEventKind, PasskeyMailKind } from "../../domain/approval/event.ts";
import {
  digestRequestsMax,
  heldTimeShareMax,
  leaseSeconds,
  mailsPerWorkspaceMax,
  reviewMailBurstMax,
  reviewMailIntervalSeconds,
} from "../../domain/limits.ts";
import { crashDelaySecondsOf, crashesInRowOf } from "./crashes.ts";
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

/** Somebody is asked for a decision, or reminded of it. */
export type ReviewSubject = {
  kind: "request.created" | "request.expiring";
  approval: MailedApproval;
  reviewer: { id: string; secretKeyId: string; tokenNonce: Buffer; needsCode: boolean };
};

export type ReviewMail = Mail & { subject: ReviewSubject };

export type MailSubject =
  | ReviewSubject
  /** The mails that it stands for, two or more, in the order of their ids. */
  | { kind: "digest"; mails: readonly ReviewMail[] }
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

/** One message to send. It may end the attempts of several deliveries, each with a lease of its own. */
export type ClaimedMail = Mail & {
  leases: readonly (Lease & { event: MailEventKind })[];
  numberInRound: number;
  /** How many crashes in a row have cut it short before. */
  crashesInRow: number;
};

export type Claim = {
  mails: ClaimedMail[];
  /** How long each mail waits that was held for a digest, or that crashes have cut short again and again. */
  waitMs: number[];
  skipped: number;
};

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

type ClaimedRow = MailRow & {
  digest_id: string | null;
  /** Null when it was held, postponed or skipped. */
  lease_token: string | null;
  number: number;
  number_in_round: number;
  crashes: number;
  /** Null when it was claimed or skipped. */
  wait_ms: number | null;
};

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

/** `tx` must be a statement by itself: it is run again when another claim has just opened the same mailbox. */
export async function claim(tx: Transaction, limit: number): Promise<Claim> {
  const rows = await claimRows(tx, limit);
  const claimed = rows.filter(({ lease_token }) => lease_token !== null);
  const waitMs = rows.flatMap(({ wait_ms }) => wait_ms ?? []);
  return {
    mails: groupDigests(claimed).map(toClaimedMail),
    waitMs,
    skipped: rows.length - claimed.length - waitMs.length,
  };
}

async function claimRows(tx: Transaction, limit: number): Promise<ClaimedRow[]> {
  try {
    const { rows } = await tx.query<ClaimedRow>({
      name: "dueMails.claim",
      text: claimSql,
      values: [limit],
    });
    return rows;
  } catch (error) {
    // The mailbox is there now, so the next try sees it.
    if (isConflictOn(error, "mailboxes_pkey")) return claimRows(tx, limit);
    throw error;
  }
}

const interval = `interval '${reviewMailIntervalSeconds} seconds'`;

// A mail that asks for a decision is skipped when there is nothing left to decide, or when its reader was
// removed from the group and may not decide any more.
const claimSql = `
with recursive lane as (
  (select d.workspace_id from deliveries d
   where d.state = 'due' and d.endpoint_id is null and d.channel = 'mail'
   order by d.workspace_id, d.due_at, d.id limit 1)
  union all
  select next.workspace_id
  from lane
  cross join lateral (
    select d.workspace_id from deliveries d
    where d.state = 'due' and d.endpoint_id is null and d.channel = 'mail' and d.workspace_id > lane.workspace_id
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
    where d.state = 'due' and d.endpoint_id is null and d.channel = 'mail' and d.workspace_id = lane.workspace_id
      and d.due_at <= now()
    order by d.due_at, d.id
    limit ${mailsPerWorkspaceMax}
  ) as oldest
),
picked as materialized (
  select ctid from window_row where not is_leased order by leased + turn, due_at limit $1
),
-- Mails that count for their mailbox, and digests. A retry, and a mail that somebody asked to send again, just go out.
asking as materialized (
  select d.ctid, d.workspace_id, lower(r.email) as mailbox
  from deliveries d
  cross join lateral (
    select r.email from reviewers r where r.workspace_id = d.workspace_id and r.id = d.reviewer_id limit 1
  ) as r
  where d.ctid = any (array(select ctid from picked))
    and d.round = 1 and (d.attempts = 0 or d.digest_id is not null)
),
-- One claim at a time decides about a mailbox. Its mails are left to the claim that got there first.
own_mailbox as materialized (
  select workspace_id, mailbox
  from (select distinct workspace_id, mailbox from asking) as each
  where pg_try_advisory_xact_lock(hashtextextended('mailbox ' || workspace_id || ' ' || mailbox, 0))
),
locked as materialized (
  select d.ctid, d.workspace_id, d.id, d.attempts, d.lease_token, d.round, d.event_id, d.reviewer_id, d.recipient,
    d.mailbox, d.digest_id
  from deliveries d
  where d.ctid = any (array(
      select picked.ctid from picked
      where not exists (
        select from asking
        where asking.ctid = picked.ctid and not exists (
          select from own_mailbox own
          where own.workspace_id = asking.workspace_id and own.mailbox = asking.mailbox
        )
      )
    ))
    and d.state = 'due' and d.due_at <= now() and (d.leased_until is null or d.leased_until <= now())
  for update skip locked
),
-- A held mail takes along all others held for its mailbox. A digest is tried again with all its mails.
together as materialized (
  select d.ctid, held.workspace_id, d.id, d.attempts, d.lease_token, d.event_id, d.reviewer_id, held.mailbox as bundle
  from (select distinct workspace_id, mailbox from locked where mailbox is not null and digest_id is null) as held
  cross join lateral (
    select d.ctid, d.id, d.attempts, d.lease_token, d.event_id, d.reviewer_id from deliveries d
    where d.state = 'due' and d.mailbox = held.mailbox and d.workspace_id = held.workspace_id
      and d.digest_id is null
    order by d.id
    limit ${digestRequestsMax}
    for update skip locked
  ) as d
  union all
  select d.ctid, digest.workspace_id, d.id, d.attempts, d.lease_token, d.event_id, d.reviewer_id,
    digest.digest_id as bundle
  from (select distinct workspace_id, digest_id from locked where digest_id is not null and round = 1) as digest
  cross join lateral (
    select d.ctid, d.id, d.attempts, d.lease_token, d.event_id, d.reviewer_id from deliveries d
    where d.digest_id = digest.digest_id and d.workspace_id = digest.workspace_id
      and d.state = 'due' and d.round = 1 and (d.leased_until is null or d.leased_until <= now())
    order by d.id
    limit ${digestRequestsMax}
    for update skip locked
  ) as d
),
taken as materialized (
  select ctid, workspace_id, id, attempts, lease_token, event_id, reviewer_id, recipient, null::text as bundle,
    reviewer_id is not null and round = 1 and attempts = 0 as is_new
  from locked
  where mailbox is null or round > 1
  union all
  select ctid, workspace_id, id, attempts, lease_token, event_id, reviewer_id, null, bundle, false from together
),
known as materialized (
  select taken.*, lower(r.email) as mailbox, a.expires_at,
    case when taken.lease_token is null then 0 else ${crashesInRowOf("taken")} end as crashes,
    case
      when taken.reviewer_id is not null then
        a.status <> 'PENDING' or a.expires_at <= now()
        or (a.group_id is not null and not exists (
          select from group_members m
          where m.workspace_id = taken.workspace_id and m.group_id = a.group_id and lower(m.email) = lower(r.email)
        ))
      -- A code that is over, an invitation that was answered or taken back.
      when ev.kind = 'person.signing_in' then (ev.detail->>'expiresAt')::timestamptz <= now()
      when ev.kind = 'member.invited' then not exists (
        select from members m
        where m.workspace_id = taken.workspace_id and lower(m.email) = lower(taken.recipient)
          and m.joined_at is null
      )
      else false
    end as is_pointless
  from taken
  cross join lateral (
    select ev.kind, ev.detail, ev.approval_id from events ev
    where ev.workspace_id = taken.workspace_id and ev.id = taken.event_id limit 1
  ) as ev
  left join lateral (
    select r.email from reviewers r
    where r.workspace_id = taken.workspace_id and r.id = taken.reviewer_id limit 1
  ) as r on true
  left join lateral (
    select a.status, a.expires_at, a.group_id from approvals a
    where a.workspace_id = taken.workspace_id and a.id = ev.approval_id limit 1
  ) as a on true
),
-- Each mail moves its mailbox on by an interval. New ones leave alone as long as it is not too far ahead of now.
pace as materialized (
  select wish.workspace_id, wish.mailbox, wish.busy_until, wish.is_known,
    least(wish.news, greatest(0, floor(
      extract(epoch from now() + ${reviewMailBurstMax} * ${interval} - wish.busy_until) / ${reviewMailIntervalSeconds}
    )))::int as granted
  from (
    select known.workspace_id, known.mailbox, count(*) filter (where known.is_new) as news,
      bool_or(box.busy_until is not null) as is_known,
      greatest(now(), max(box.busy_until))
        + case when bool_or(not known.is_new) then ${interval} else interval '0' end as busy_until
    from known
    left join lateral (
      select box.busy_until from mailboxes box
      where box.workspace_id = known.workspace_id and box.address = known.mailbox
      for update
    ) as box on true
    where not known.is_pointless and (known.is_new or (known.bundle is not null and known.attempts = 0))
    group by known.workspace_id, known.mailbox
  ) as wish
),
paced as (
  insert into mailboxes (workspace_id, address, busy_until)
  select workspace_id, mailbox,
    least(busy_until + granted * ${interval}, now() + ${reviewMailBurstMax} * ${interval})
  from pace
  where is_known
  on conflict (workspace_id, address) do update set busy_until = excluded.busy_until
),
-- A mailbox that this statement does not see may have been opened since it began. Then this insert fails, and the claim
-- is made again: it must not count from nothing.
opened as (
  insert into mailboxes (workspace_id, address, busy_until)
  select workspace_id, mailbox, busy_until + granted * ${interval}
  from pace
  where not is_known
),
fate as materialized (
  select known.ctid, known.mailbox, known.expires_at, known.bundle, known.crashes,
    -- A digest waits as one mail.
    case when known.bundle is null then ${crashDelaySecondsOf("known.crashes")}
      else max(${crashDelaySecondsOf("known.crashes")}) over bundle end as delay_seconds,
    count(*) over bundle > 1 and known.bundle is not null as is_in_digest, min(known.id) over bundle as first_id,
    known.is_new
      and row_number() over (partition by known.workspace_id, known.mailbox, known.is_new order by known.id)
        > pace.granted as is_held,
    least(pace.busy_until + pace.granted * ${interval} - ${reviewMailBurstMax - 1} * ${interval}, now() + ${interval})
      as free_at
  from known
  left join pace on pace.workspace_id = known.workspace_id and pace.mailbox = known.mailbox
  where not known.is_pointless
  window bundle as (partition by known.workspace_id, known.bundle)
),
skipped as (
  -- A delivery that was sent again has left in its digest before, and stays on its list.
  update deliveries d
  set state = 'skipped', lease_token = null, leased_until = null,
    mailbox = case when d.round > 1 then d.mailbox end, digest_id = case when d.round > 1 then d.digest_id end
  where d.ctid = any (array(select ctid from known where is_pointless))
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round
),
held as (
  update deliveries d
  set mailbox = fate.mailbox,
    due_at = least(fate.free_at, now() + (fate.expires_at - now()) * ${heldTimeShareMax})
  from fate
  where d.ctid = fate.ctid and fate.is_held
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, d.due_at
),
-- As with webhooks: a lease that has run out belongs to an attempt that was cut short, which doesn't count in its round.
postponed as (
  update deliveries d
  set attempts_before = d.attempts_before + (d.lease_token is not null)::int, lease_token = null, leased_until = null,
    due_at = now_ms() + fate.delay_seconds * interval '1 second'
  from fate
  where d.ctid = fate.ctid and fate.delay_seconds > 0
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, fate.delay_seconds
),
claimed as (
  -- One row of a digest stays among the oldest of its workspace and counts as one mail under way. The others would keep
  -- everything else back: they come due again when the lease ends.
  update deliveries d
  set attempts = d.attempts + 1, attempts_before = d.attempts_before + (d.lease_token is not null)::int,
    lease_token = gen_random_uuid(), leased_until = now() + interval '${leaseSeconds} seconds',
    mailbox = case when fate.bundle is null or fate.is_in_digest then d.mailbox end,
    digest_id = case when fate.bundle is null then d.digest_id when fate.is_in_digest then fate.first_id end,
    due_at = case
      when fate.bundle is null then d.due_at
      when d.id = fate.first_id then least(d.due_at, now_ms())
      else now() + interval '${leaseSeconds} seconds' end
  from fate
  where d.ctid = fate.ctid and fate.is_held is not true and fate.delay_seconds = 0
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, d.lease_token,
    d.attempts as number, d.attempts - d.attempts_before as number_in_round, fate.crashes,
    case when fate.is_in_digest then fate.first_id end as digest_id
),
cut_short as (
  update attempts a
  set finished_at = now_ms(), outcome = 'interrupted'
  from taken
  where a.workspace_id = taken.workspace_id and a.delivery_id = taken.id
    and a.number = taken.attempts and a.finished_at is null
),
attempt as (
  insert into attempts (workspace_id, delivery_id, number)
  select workspace_id, id, number from claimed
),
moved as (
  select workspace_id, id, event_id, reviewer_id, recipient, round, digest_id, lease_token, number,
    number_in_round, crashes, null::float8 as wait_ms
  from claimed
  union all
  select workspace_id, id, event_id, reviewer_id, recipient, round, null, null, 0, 0, 0,
    extract(epoch from due_at - now())::float8 * 1000
  from held
  union all
  select workspace_id, id, event_id, reviewer_id, recipient, round, null, null, 0, 0, 0, delay_seconds * 1000
  from postponed
  union all
  select workspace_id, id, event_id, reviewer_id, recipient, round, null, null, 0, 0, 0, null from skipped
)
select ${mailColumns}, d.digest_id, d.lease_token, d.number, d.number_in_round, d.crashes, d.wait_ms
from moved d ${mailJoins}`;

/**
 * Takes a digest apart that does not fit into one mail. The first part keeps its leases. The others were not tried: they
 * are due at once, each a digest of its own.
 */
export async function splitDigest(tx: Transaction, parts: readonly Lease[][]): Promise<void> {
  const leases = parts.flatMap((part, index) =>
    part.map((lease) => ({ ...lease, digestId: part[0]?.deliveryId, isKept: index === 0 })),
  );
  await tx.query({
    name: "dueMails.splitDigest",
    text: `
      with part as materialized (
        select * from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::boolean[])
          as part (workspace_id, delivery_id, lease_token, digest_id, is_kept)
      ), parted as (
        update deliveries d
        set digest_id = part.digest_id,
          attempts = case when part.is_kept then d.attempts else d.attempts - 1 end,
          lease_token = case when part.is_kept then d.lease_token end,
          leased_until = case when part.is_kept then d.leased_until end,
          due_at = case when part.is_kept and d.id <> part.digest_id then d.due_at else now_ms() end
        from part
        where d.workspace_id = part.workspace_id and d.id = part.delivery_id
          and d.lease_token = part.lease_token
        returning d.workspace_id, d.id, d.attempts, part.is_kept
      )
      delete from attempts a
      using parted
      where not parted.is_kept and a.workspace_id = parted.workspace_id and a.delivery_id = parted.id
        and a.number = parted.attempts + 1`,
    values: [
      leases.map(({ workspaceId }) => workspaceId),
      leases.map(({ deliveryId }) => deliveryId),
      leases.map(({ leaseToken }) => leaseToken),
      leases.map(({ digestId }) => digestId),
      leases.map(({ isKept }) => isKept),
    ],
  });
}

// The first of those that left in a digest stands for it. One that was sent again stands for itself.
const standsForMail = `
  (d.digest_id is null or d.round > 1 or not exists (
    select from deliveries earlier
    where earlier.digest_id = d.digest_id and earlier.workspace_id = d.workspace_id
      and earlier.round = 1 and earlier.state = 'delivered' and earlier.id < d.id
  ))`;

type SentRow = MailRow & { sent_digest_id: string | null };

/** Mails that have left, or were kept, newest first. An id alone does not lead to a row, so workspaces are asked in turn. */
export async function listSent(
  db: Queryable,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<Mail[]> {
  const { rows } = await db.query<SentRow>(
    `select ${mailColumns}, case when d.round = 1 then d.digest_id end as sent_digest_id
     from (
       select sent.workspace_id, sent.id, sent.event_id, sent.reviewer_id, sent.recipient, sent.round,
         sent.digest_id
       from workspaces
       cross join lateral (
         select d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, d.digest_id
         from deliveries d
         where d.workspace_id = workspaces.id and d.channel = 'mail' and d.state = 'delivered'
           and ($2::text is null or d.id < $2) and ${standsForMail}
         order by d.id desc
         limit $1
       ) as sent
       order by sent.id desc
       limit $1
     ) as d ${mailJoins}
     order by d.id desc`,
    [limit, beforeId],
  );
  return withDigests(db, rows);
}

export async function findSent(db: Queryable, deliveryId: string): Promise<Mail | null> {
  const { rows } = await db.query<SentRow>(
    `select ${mailColumns}, case when d.round = 1 then d.digest_id end as sent_digest_id
     from workspaces
     join deliveries d on d.workspace_id = workspaces.id and d.id = $1 ${mailJoins}
     where d.channel = 'mail' and d.state = 'delivered'`,
    [deliveryId],
  );
  const [mail] = await withDigests(db, rows);
  return mail ?? null;
}

/** How many mails are held for digests, and when the first of them leaves. */
export async function readHeld(db: Queryable): Promise<{ count: number; until: Date | null }> {
  const { rows } = await db.query<{ count: number; until: Date | null }>(
    `select count(*)::int as count, min(due_at) as until from deliveries
     where state = 'due' and mailbox is not null and digest_id is null`,
  );
  return rows[0] ?? { count: 0, until: null };
}

/** Shows a mail that left in a digest as that digest. */
async function withDigests(db: Queryable, sent: SentRow[]): Promise<Mail[]> {
  const inDigests = sent.filter(({ sent_digest_id }) => sent_digest_id !== null);
  if (inDigests.length === 0) return sent.map(toMail);
  const { rows } = await db.query<MailRow & { digest_id: string }>(
    `select ${mailColumns}, d.digest_id
     from unnest($1::text[], $2::text[]) as asked (workspace_id, digest_id)
     join deliveries d on d.digest_id = asked.digest_id and d.workspace_id = asked.workspace_id
       and (d.state = 'delivered' or d.round > 1) ${mailJoins}`,
    [
      inDigests.map(({ workspace_id }) => workspace_id),
      inDigests.map(({ sent_digest_id }) => sent_digest_id),
    ],
  );
  const digests = new Map(groupDigests(rows).map((group) => [group[0].digest_id, toMailOf(group)]));
  return sent.map((row) => {
    const digest = row.sent_digest_id === null ? undefined : digests.get(row.sent_digest_id);
    return digest === undefined ? toMail(row) : { ...digest, deliveryId: row.delivery_id };
  });
}

type Group<Row> = readonly [Row, ...Row[]];

/** Rows of one digest together, in the order of their ids; each other row alone. */
function groupDigests<Row extends MailRow & { digest_id: string | null }>(
  rows: readonly Row[],
): Group<Row>[] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows.toSorted(byDeliveryId)) {
    const name = row.digest_id ?? row.delivery_id;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function byDeliveryId(one: MailRow, other: MailRow): number {
  return one.delivery_id < other.delivery_id ? -1 : 1;
}

function toClaimedMail(rows: Group<ClaimedRow>): ClaimedMail {
  return {
    ...toMailOf(rows),
    leases: rows.map((row) => ({
      workspaceId: row.workspace_id,
      deliveryId: row.delivery_id,
      leaseToken: row.lease_token as string,
      number: row.number,
      event: row.kind,
    })),
    numberInRound: Math.max(...rows.map((row) => row.number_in_round)),
    crashesInRow: Math.min(...rows.map((row) => row.crashes)),
  };
}

function toMailOf(rows: Group<MailRow>): Mail {
  const [first] = rows;
  return rows.length === 1 ? toMail(first) : digestOf(rows.map(toMail).filter(isReviewMail));
}

/** Dated like the newest in it, so that its bytes follow from the rows alone. */
export function digestOf(mails: readonly ReviewMail[]): Mail {
  const [first] = mails;
  assert(first !== undefined, "a digest stands for at least one mail");
  if (mails.length === 1) return first;
  const eventAt = new Date(Math.max(...mails.map((mail) => mail.eventAt.getTime())));
  return { ...first, eventAt, round: 1, subject: { kind: "digest", mails } };
}

/** Of all deliveries that a message stands for. */
export function deliveryIdsOf(mail: Mail): string[] {
  return mail.subject.kind === "digest"
    ? mail.subject.mails.map(({ deliveryId }) => deliveryId)
    : [mail.deliveryId];
}

function isReviewMail(mail: Mail): mail is ReviewMail {
  return "reviewer" in mail.subject;
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
