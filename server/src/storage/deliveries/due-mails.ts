// Claims mails that are due, as webhooks are claimed: the lease and the row of the attempt in one commit.
// Workspaces take turns, so that one which asks a thousand people delays no other's mail. A person who is asked very
// often gets digests (decision 27).

import type { Transaction } from "../../database/database.ts";
import { isConflictOn } from "../../database/faults.ts";
import { type MailEventKind, outcomeKinds } from "../../domain/approval/event.ts";
import {
  digestRequestsMax,
  heldTimeShareMax,
  mailsPerWorkspaceMax,
  reviewMailBurstMax,
  reviewMailIntervalSeconds,
} from "../../domain/limits.ts";
import { isOpen, isStillAsked, mayStillDecide } from "../approvals/may-still-decide.ts";
import type { Lease } from "./attempts.ts";
import {
  beginAttempts,
  crashDelaySecondsOf,
  crashesInRowOf,
  cutShort,
  isClaimable,
  isUnleased,
  leaseEnd,
  postpone,
  takeLease,
  windowOfWorkspaces,
  workspaceLanes,
} from "./claims.ts";
import {
  type Group,
  groupDigests,
  type Mail,
  type MailRow,
  mailColumns,
  mailJoins,
  readStoriesOf,
  type Stories,
  toMailOf,
} from "./mails.ts";

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

/** `tx` must be a statement by itself: it is run again when another claim has just opened the same mailbox. */
export async function claim(tx: Transaction, limit: number): Promise<Claim> {
  const rows = await claimRows(tx, limit);
  const claimed = rows.filter(({ lease_token }) => lease_token !== null);
  const waitMs = rows.flatMap(({ wait_ms }) => wait_ms ?? []);
  const groups = groupDigests(claimed);
  const stories = await readStoriesOf(tx, groups);
  return {
    mails: groups.map((group) => toClaimedMail(group, stories)),
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

const outcomes = outcomeKinds.map((kind) => `'${kind}'`).join(", ");
const interval = `interval '${reviewMailIntervalSeconds} seconds'`;

// A mail that asks for a decision is skipped when there is nothing left to decide, or when its reader was
// removed from the group and may not decide any more. A mail about the end is skipped for removed people alone.
const claimSql = `
with recursive lane as (${workspaceLanes("mail")}
),
window_row as (${windowOfWorkspaces("mail", mailsPerWorkspaceMax)}
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
    and ${isClaimable}
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
      and d.state = 'due' and d.round = 1 and ${isUnleased("d")}
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
      when taken.reviewer_id is not null and ev.kind in (${outcomes}) then not ${isStillAsked("a", "r")}
      -- Whose approval no longer counts is told, even while another stage is open.
      when taken.reviewer_id is not null and ev.kind = 'request.changed'
        then not (${isOpen("a")} and ${isStillAsked("a", "r")})
      when taken.reviewer_id is not null then not ${mayStillDecide("a", "r")}
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
    select r.id, r.workspace_id, r.email from reviewers r
    where r.workspace_id = taken.workspace_id and r.id = taken.reviewer_id limit 1
  ) as r on true
  left join lateral (
    select a.workspace_id, a.id, a.status, a.expires_at, a.group_id, a.has_seats from approvals a
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
    -- A mail about a request whose time is over is in no hurry.
    due_at = least(
      fate.free_at,
      now() + case when fate.expires_at > now() then (fate.expires_at - now()) * ${heldTimeShareMax} end
    )
  from fate
  where d.ctid = fate.ctid and fate.is_held
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, d.due_at
),
postponed as (
  update deliveries d
  set ${postpone("fate.delay_seconds")}
  from fate
  where d.ctid = fate.ctid and fate.delay_seconds > 0
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, fate.delay_seconds
),
claimed as (
  -- One row of a digest stays among the oldest of its workspace and counts as one mail under way. The others would keep
  -- everything else back: they come due again when the lease ends.
  update deliveries d
  set ${takeLease},
    mailbox = case when fate.bundle is null or fate.is_in_digest then d.mailbox end,
    digest_id = case when fate.bundle is null then d.digest_id when fate.is_in_digest then fate.first_id end,
    due_at = case
      when fate.bundle is null then d.due_at
      when d.id = fate.first_id then least(d.due_at, now_ms())
      else ${leaseEnd} end
  from fate
  where d.ctid = fate.ctid and fate.is_held is not true and fate.delay_seconds = 0
  returning d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, d.lease_token,
    d.attempts as number, d.attempts - d.attempts_before as number_in_round, fate.crashes,
    case when fate.is_in_digest then fate.first_id end as digest_id
),
cut_short as (${cutShort("taken")}
),
attempt as (${beginAttempts}
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
 * Splits a digest that does not fit into one mail. The first part keeps its leases. The others were not tried: they
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

function toClaimedMail(rows: Group<ClaimedRow>, stories: Stories): ClaimedMail {
  return {
    ...toMailOf(rows, stories),
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
