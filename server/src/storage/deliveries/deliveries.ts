// The deliveries table with its attempts: how an attempt ends, sending again, and what operators and members look at.
// Claiming what is due stands in due-webhooks.ts and due-mails.ts.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { NoticeKind } from "../../domain/approval/event.ts";
import type { DeliveryState, NextStep } from "../../domain/delivery/delivery.ts";
import {
  mailNoticesPerDayMax,
  mailRoundsMax,
  reviewMailIntervalSeconds,
} from "../../domain/limits.ts";
import { type AttemptOutcome, interrupted } from "../../domain/shown/attempt.ts";
import { pending } from "../approvals/approvals.ts";

/** Wakes workers on other nodes: something became due. Polling alone would find it too, only later. */
export const dueChannel = "countersign_due";

/** A worker's hold on one delivery, and the attempt that it makes meanwhile. */
export type Lease = { workspaceId: string; deliveryId: string; leaseToken: string; number: number };

export type AttemptEnd = {
  lease: Lease;
  outcome: AttemptOutcome;
  httpStatus: number | null;
  responseStart: string | null;
  durationMs: number | null;
  next: NextStep;
};

/**
 * Records how attempts ended and what becomes of their deliveries. An interrupted attempt doesn't count in its round.
 * Without its lease a worker changes nothing; answers for each whether it still held it.
 */
export async function completeAttempts(tx: Transaction, ends: AttemptEnd[]): Promise<boolean[]> {
  const { rows } = await tx.query<{ n: number }>({
    name: "deliveries.completeAttempts",
    text: `
      with ended as materialized (
        select * from unnest(
          $1::text[], $2::text[], $3::uuid[], $4::integer[], $5::text[], $6::integer[], $7::text[],
          $8::integer[], $9::text[], $10::float8[]
        ) with ordinality as t (
          workspace_id, delivery_id, lease_token, number, outcome, http_status, response_start,
          duration_ms, state, delay_ms, n
        )
      ), delivery as (
        update deliveries d
        set state = ended.state, lease_token = null, leased_until = null,
          due_at = case when ended.state = 'due'
            then now_ms() + ended.delay_ms * interval '1 millisecond' else d.due_at end,
          attempts_before = d.attempts_before + (ended.outcome = '${interrupted}')::int,
          finished_at = case when ended.state in ('delivered', 'failed') then now_ms() end
        from ended
        where d.workspace_id = ended.workspace_id and d.id = ended.delivery_id
          and d.lease_token = ended.lease_token
        returning ended.*
      ), attempt as (
        update attempts a
        set finished_at = now_ms(), outcome = delivery.outcome, http_status = delivery.http_status,
          response_start = delivery.response_start, duration_ms = delivery.duration_ms
        from delivery
        where a.workspace_id = delivery.workspace_id and a.delivery_id = delivery.delivery_id
          and a.number = delivery.number
      )
      select n::int from delivery`,
    values: [
      ends.map(({ lease }) => lease.workspaceId),
      ends.map(({ lease }) => lease.deliveryId),
      ends.map(({ lease }) => lease.leaseToken),
      ends.map(({ lease }) => lease.number),
      ends.map(({ outcome }) => outcome),
      ends.map(({ httpStatus }) => httpStatus),
      ends.map(({ responseStart }) => responseStart),
      ends.map(({ durationMs }) => durationMs),
      ends.map(({ next }) => next.state),
      ends.map(({ next }) => (next.state === "due" ? next.delayMs : null)),
    ],
  });
  const held = new Set(rows.map(({ n }) => n));
  return ends.map((_, at) => held.has(at + 1));
}

/** Undoes a claim: the attempt was never begun, and the delivery is due again after a while. */
export async function putBack(
  tx: Transaction,
  leases: readonly Lease[],
  delayMs: number,
): Promise<void> {
  await tx.query({
    name: "deliveries.putBack",
    text: `
      with lease as materialized (
        select * from unnest($1::text[], $2::text[], $3::uuid[], $4::integer[])
          as lease (workspace_id, delivery_id, lease_token, number)
      ), back as (
        update deliveries d
        set attempts = d.attempts - 1, lease_token = null, leased_until = null,
          due_at = now_ms() + $5::float8 * interval '1 millisecond'
        from lease
        where d.workspace_id = lease.workspace_id and d.id = lease.delivery_id
          and d.lease_token = lease.lease_token
        returning lease.*, d.reviewer_id, d.round, d.digest_id
      ), unpaced as (
        -- The claim of a person's first mail used up an interval of their mailbox.
        update mailboxes box
        set busy_until = box.busy_until - mail.count * interval '${reviewMailIntervalSeconds} seconds'
        from (
          select back.workspace_id, lower(r.email) as address, count(*) as count
          from back
          join reviewers r on r.workspace_id = back.workspace_id and r.id = back.reviewer_id
          where back.number = 1 and back.round = 1 and back.digest_id is null
          group by 1, 2
        ) as mail
        where box.workspace_id = mail.workspace_id and box.address = mail.address
      )
      delete from attempts a
      using back
      where a.workspace_id = back.workspace_id and a.delivery_id = back.delivery_id
        and a.number = back.number`,
    values: [
      leases.map(({ workspaceId }) => workspaceId),
      leases.map(({ deliveryId }) => deliveryId),
      leases.map(({ leaseToken }) => leaseToken),
      leases.map(({ number }) => number),
      delayMs,
    ],
  });
}

/** Keeps as skipped what is due to endpoints that have been disabled since. Answers how many. */
export async function skipDueToDisabled(tx: Transaction, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: "deliveries.skipDueToDisabled",
    text: `
      with due as materialized (
        select d.workspace_id, d.id, d.attempts
        from endpoints e
        cross join lateral (
          select d.workspace_id, d.id, d.attempts from deliveries d
          where d.state = 'due' and d.endpoint_id = e.id
            and (d.leased_until is null or d.leased_until <= now())
          order by d.due_at
          limit $1
          for update skip locked
        ) as d
        where e.disabled_at is not null
        limit $1
      ), cut_short as (
        update attempts a
        set finished_at = now_ms(), outcome = $2
        from due
        where a.workspace_id = due.workspace_id and a.delivery_id = due.id
          and a.number = due.attempts and a.finished_at is null
      )
      update deliveries d
      set state = 'skipped', due_at = now_ms(), lease_token = null, leased_until = null
      from due
      where d.workspace_id = due.workspace_id and d.id = due.id`,
    values: [limit, interrupted],
  });
  return rowCount ?? 0;
}

/** What a notice remembers of the moment, as it stands in the event's row. */
export type NoticeDetail = {
  failingSince?: string | null;
  reason?: string;
  answer?: string | null;
};

export type Delivery = {
  id: string;
  workspaceId: string;
  approvalId: string | null;
  event: string;
  eventAt: Date;
  state: DeliveryState;
  /** A webhook endpoint or a mailbox. */
  destination:
    | { kind: "endpoint"; id: string; url: string; isDisabled: boolean }
    | { kind: "mailbox"; email: string };
  attempts: number;
  /** When the next attempt is due; null when none is. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  last: { outcome: AttemptOutcome | null; httpStatus: number | null } | null;
};

export type Attempt = {
  number: number;
  startedAt: Date;
  finishedAt: Date | null;
  /** Null while it is under way. */
  outcome: AttemptOutcome | null;
  httpStatus: number | null;
  durationMs: number | null;
  responseStart: string | null;
};

type DeliveryRow = {
  id: string;
  workspace_id: string;
  approval_id: string | null;
  event: string;
  event_at: Date;
  state: DeliveryState;
  endpoint_id: string | null;
  url: string;
  is_disabled: boolean;
  email: string | null;
  attempts: number;
  due_at: Date;
  created_at: Date;
  finished_at: Date | null;
  last_outcome: AttemptOutcome | null;
  last_http_status: number | null;
};

const deliveryColumns = `
  d.id, d.workspace_id, ev.approval_id, ev.kind as event, ev.created_at as event_at, d.state, d.endpoint_id,
  e.url, e.disabled_at is not null as is_disabled, coalesce(d.recipient, r.email) as email, d.attempts,
  d.due_at, d.created_at, d.finished_at, t.outcome as last_outcome, t.http_status as last_http_status`;
const deliveryJoins = `
  join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
  left join endpoints e on e.workspace_id = d.workspace_id and e.id = d.endpoint_id
  left join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
  left join attempts t on t.workspace_id = d.workspace_id and t.delivery_id = d.id and t.number = d.attempts`;

/** A workspace's deliveries, newest first; of one approval, or only the failed and skipped ones, if asked for. */
export async function list(
  db: Queryable,
  filter: { workspaceId: string; approvalId: string | null; isFailed: boolean; limit: number },
): Promise<Delivery[]> {
  const condition = filter.isFailed ? "d.state in ('failed', 'skipped')" : "true";
  const ofApproval =
    filter.approvalId === null
      ? "$2::text is null"
      : "d.event_id in (select id from events where workspace_id = $1 and approval_id = $2)";
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from deliveries d ${deliveryJoins}
     where d.workspace_id = $1 and ${condition} and ${ofApproval}
     order by d.id desc
     limit $3`,
    [filter.workspaceId, filter.approvalId, filter.limit],
  );
  return rows.map(toDelivery);
}

// A mail about how somebody signs in concerns nobody but its reader. Only mails to people who are no reviewers can be one.
const isOfWorkspace = `
  (d.recipient is null or not exists (
    select from events ev
    where ev.workspace_id = d.workspace_id and ev.id = d.event_id and ev.kind like 'person.%'
  ))`;

/** What members see of their workspace's deliveries, newest first, to one endpoint or in one state if asked for. */
export async function listPage(
  db: Queryable,
  filter: {
    workspaceId: string;
    endpointId: string | null;
    state: DeliveryState | null;
    beforeId: string | null;
    limit: number;
  },
): Promise<Delivery[]> {
  const { workspaceId, endpointId, state, beforeId, limit } = filter;
  const { rows } = await db.query<DeliveryRow>(
    `with page as (${state === "due" ? duePage : walkedPage(state, endpointId)})
     select ${deliveryColumns}
     from page
     join deliveries d on d.workspace_id = $1 and d.id = page.id ${deliveryJoins}
     order by d.id desc`,
    [workspaceId, endpointId, beforeId, limit],
  );
  return rows.map(toDelivery);
}

function walkedPage(state: DeliveryState | null, endpointId: string | null): string {
  return `
    select d.id from deliveries d
    where d.workspace_id = $1 and ${endpointId === null ? "$2::text is null" : "d.endpoint_id = $2"}
      and ${state === null ? "true" : `d.state = '${state}'`} and ($3::text is null or d.id < $3)
      and ${isOfWorkspace}
    order by d.id desc
    limit $4`;
}

// What is due is little and would be looked for in vain among all that was delivered: it is gathered from the indexes of
// what is due, and sorted.
const duePage = `
  select id from (
    select d.id from endpoints e
    cross join lateral (
      select d.id from deliveries d where d.state = 'due' and d.endpoint_id = e.id order by d.due_at
    ) as d
    where e.workspace_id = $1 and ($2::text is null or e.id = $2)
    union all
    select d.id from deliveries d
    where d.state = 'due' and d.endpoint_id is null and d.channel = 'mail' and d.workspace_id = $1
      and $2::text is null
      and ${isOfWorkspace}
  ) as due
  where ($3::text is null or id < $3)
  order by id desc
  limit $4`;

/** Everything that followed from one approval, oldest first. */
export async function listOfApproval(
  db: Queryable,
  approval: { workspaceId: string; id: string },
  limit: number,
): Promise<Delivery[]> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from deliveries d ${deliveryJoins}
     where d.workspace_id = $1
       and d.event_id = any (array(select id from events where workspace_id = $1 and approval_id = $2))
     order by d.id
     limit $3`,
    [approval.workspaceId, approval.id, limit],
  );
  return rows.map(toDelivery);
}

/** As members of the workspace may see it. */
export async function findInWorkspace(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<Delivery | null> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from deliveries d ${deliveryJoins}
     where d.workspace_id = $1 and d.id = $2 and ${isOfWorkspace}`,
    [workspaceId, id],
  );
  return rows.map(toDelivery)[0] ?? null;
}

/** Only the id is known, so the workspaces are asked in turn: each has it at the end of one index walk. */
export async function find(db: Queryable, id: string): Promise<Delivery | null> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${deliveryColumns}
     from workspaces w
     join deliveries d on d.workspace_id = w.id and d.id = $1 ${deliveryJoins}`,
    [id],
  );
  return rows.map(toDelivery)[0] ?? null;
}

/** How its mail leaves, when that isn't alone: held until later, or in a digest of so many requests. */
export async function findDigest(
  db: Queryable,
  delivery: { workspaceId: string; id: string },
): Promise<{ kind: "held" } | { kind: "digest"; requests: number } | null> {
  const { rows } = await db.query<{ requests: number }>(
    `select count(m.id)::int as requests
     from deliveries d
     left join deliveries m on m.digest_id = d.digest_id and m.workspace_id = d.workspace_id
     where d.workspace_id = $1 and d.id = $2 and d.mailbox is not null and d.round = 1
     group by d.id`,
    [delivery.workspaceId, delivery.id],
  );
  const [row] = rows;
  // One that was left alone of a digest is the ordinary mail.
  if (row === undefined || row.requests === 1) return null;
  return row.requests === 0 ? { kind: "held" } : { kind: "digest", requests: row.requests };
}

export async function listAttempts(
  db: Queryable,
  delivery: { workspaceId: string; id: string },
): Promise<Attempt[]> {
  const { rows } = await db.query<{
    number: number;
    started_at: Date;
    finished_at: Date | null;
    outcome: AttemptOutcome | null;
    http_status: number | null;
    duration_ms: number | null;
    response_start: string | null;
  }>(
    `select number, started_at, finished_at, outcome, http_status, duration_ms, response_start
     from attempts where workspace_id = $1 and delivery_id = $2 order by number`,
    [delivery.workspaceId, delivery.id],
  );
  return rows.map((row) => ({
    number: row.number,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: row.outcome,
    httpStatus: row.http_status,
    durationMs: row.duration_ms,
    responseStart: row.response_start,
  }));
}

// A worker that still held it, from before its lease ran out, can't record anything any more. The mail goes out alone; a
// digest in which it left before still lists it.
const beginRound = `
  state = 'due', due_at = now_ms(), finished_at = null, round = round + 1, attempts_before = attempts,
  lease_token = null, leased_until = null, mailbox = case when state = 'delivered' then mailbox end,
  digest_id = case when state = 'delivered' then digest_id end`;
const isIdle = "(leased_until is null or leased_until <= now())";

/** Makes a delivery due again, with a round of retries of its own. False while an attempt is under way. */
export async function resend(
  tx: Transaction,
  delivery: { workspaceId: string; id: string },
): Promise<boolean> {
  const { rows } = await tx.query(
    `with begun as (
       update deliveries set ${beginRound} where workspace_id = $1 and id = $2 and ${isIdle}
       returning workspace_id, id, attempts
     ), cut_short as (
       update attempts a
       set finished_at = now_ms(), outcome = '${interrupted}'
       from begun
       where a.workspace_id = begun.workspace_id and a.delivery_id = begun.id
         and a.number = begun.attempts and a.finished_at is null
     )
     select id from begun`,
    [delivery.workspaceId, delivery.id],
  );
  return rows.length === 1;
}

/**
 * Makes the mails that ask for a decision about a pending approval due again, for everybody who may still decide.
 * Answers how many, and how many were left alone because an attempt is under way.
 */
export async function isMailedTooOften(
  db: Queryable,
  { workspaceId, id }: Pick<Delivery, "workspaceId" | "id">,
): Promise<boolean> {
  const { rows } = await db.query<{ is_too_often: boolean }>(
    `select not (${mayMailAgain}) as is_too_often from deliveries where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
  return rows[0]?.is_too_often ?? false;
}

/** Those who were mailed a moment ago, or very often, are left alone. */
const mayMailAgain = `round < ${mailRoundsMax}
  and (state <> 'delivered' or finished_at < now() - interval '1 minute')`;

export async function resendReviewMails(
  tx: Transaction,
  approval: { workspaceId: string; approvalId: string },
): Promise<{ sent: number; underWay: number }> {
  const { rows } = await tx.query<{ sent: number; under_way: number }>(
    `with mail as (
       select d.workspace_id, d.id
       from approvals a
       join events ev on ev.workspace_id = a.workspace_id and ev.approval_id = a.id
         and ev.kind = 'request.created'
       join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id
       join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where a.workspace_id = $1 and a.id = $2 and a.status = ${pending} and a.expires_at > now()
         and (a.group_id is null or exists (
           select from group_members m
           where m.workspace_id = a.workspace_id and m.group_id = a.group_id
             and lower(m.email) = lower(r.email)
         ))
     ), begun as (
       update deliveries
       set ${beginRound}
       where workspace_id = $1 and id = any (array(select id from mail)) and ${isIdle}
         and ${mayMailAgain}
       returning workspace_id, id, attempts
     ), cut_short as (
       update attempts a
       set finished_at = now_ms(), outcome = '${interrupted}'
       from begun
       where a.workspace_id = begun.workspace_id and a.delivery_id = begun.id
         and a.number = begun.attempts and a.finished_at is null
     )
     select (select count(*)::int from begun) as sent,
       (select count(*)::int from mail) - (select count(*)::int from begun) as under_way`,
    [approval.workspaceId, approval.approvalId],
  );
  const { sent = 0, under_way: underWay = 0 } = rows[0] ?? {};
  return { sent, underWay };
}

/**
 * Makes up to `limit` deliveries of a workspace due again that failed or were skipped since a time: those to
 * endpoints that are enabled, and failed mails about what is still to be decided. Answers their ids, the oldest
 * first; the next call goes on after the last, so that none is taken twice if it fails again meanwhile.
 */
export async function resendUnsuccessful(
  tx: Transaction,
  since: {
    workspaceId: string;
    endpointId: string | null;
    time: Date;
    afterId: string;
    limit: number;
  },
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update deliveries
     set ${beginRound}
     where workspace_id = $1 and id = any (array(
       select d.id
       from deliveries d
       join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
       left join endpoints e on e.workspace_id = d.workspace_id and e.id = d.endpoint_id
       left join approvals a on a.workspace_id = ev.workspace_id and a.id = ev.approval_id
       where d.workspace_id = $1 and d.id > $5 and d.state in ('failed', 'skipped')
         and coalesce(d.finished_at, greatest(d.created_at, d.due_at)) >= $2
         and ($3::text is null or d.endpoint_id = $3)
         and case when d.channel = 'webhook' then e.disabled_at is null
           else d.state = 'failed' and d.reviewer_id is not null
             and a.status = 'PENDING' and a.expires_at > now() end
       order by d.id
       limit $4
       for update of d skip locked
     ))
     returning id`,
    [since.workspaceId, since.time, since.endpointId, since.limit, since.afterId],
  );
  return rows.map(({ id }) => id).sort();
}

/** A test event for one endpoint, whatever it subscribes to. Answers the delivery's id. */
export async function insertTest(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
): Promise<string> {
  const { rows } = await tx.query<{ id: string }>(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind) values ($1, $2, 'webhook.test')
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, channel, endpoint_id)
     select workspace_id, id, 'webhook', $2 from event
     returning id`,
    [endpoint.workspaceId, endpoint.id],
  );
  return (rows[0] as { id: string }).id;
}

/** A notice about an endpoint to each owner of its workspace. */
export async function insertEndpointNotice(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
  kind: Extract<NoticeKind, `endpoint.${string}`>,
  detail: NoticeDetail,
): Promise<void> {
  await tx.query(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind, detail) values ($1, $2, $3, $4)
       returning workspace_id, id
     )
     ${mailToOwners}`,
    [endpoint.workspaceId, endpoint.id, kind, detail],
  );
}

/**
 * A notice to each owner that a mail never reached its reviewer. Not twice a day about the same address, and not
 * about too many addresses: an agent that asks mistyped ones a thousand times must not fill the owners' mailboxes.
 */
export async function insertMailNotice(
  tx: Transaction,
  delivery: { workspaceId: string; deliveryId: string },
  detail: NoticeDetail,
): Promise<void> {
  await tx.query(
    `with event as (
       insert into events (workspace_id, approval_id, reviewer_id, kind, detail)
       select d.workspace_id, r.approval_id, r.id, 'mail.failed', $3
       from deliveries d
       join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where d.workspace_id = $1 and d.id = $2
         and not exists (
           select from events told
           join reviewers other on other.workspace_id = told.workspace_id and other.id = told.reviewer_id
           where told.workspace_id = $1 and told.kind = 'mail.failed'
             and told.created_at > now() - interval '1 day' and lower(other.email) = lower(r.email)
         )
         and ${mailNoticesPerDayMax} > (
           select count(*) from events told
           where told.workspace_id = $1 and told.kind = 'mail.failed'
             and told.created_at > now() - interval '1 day'
         )
       on conflict do nothing
       returning workspace_id, id
     )
     ${mailToOwners}`,
    [delivery.workspaceId, delivery.deliveryId, detail],
  );
}

const mailToOwners = `
  insert into deliveries (workspace_id, event_id, channel, recipient)
  select event.workspace_id, event.id, 'mail', m.email
  from event
  join members m on m.workspace_id = event.workspace_id and m.role = 'owner' and m.joined_at is not null`;

/** Tells workers on every node that something became due. */
export async function announceDue(db: Queryable): Promise<void> {
  await db.query({ name: "deliveries.announceDue", text: `select pg_notify('${dueChannel}', '')` });
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    approvalId: row.approval_id,
    event: row.event,
    eventAt: row.event_at,
    state: row.state,
    destination:
      row.endpoint_id === null
        ? { kind: "mailbox", email: row.email as string }
        : { kind: "endpoint", id: row.endpoint_id, url: row.url, isDisabled: row.is_disabled },
    attempts: row.attempts,
    nextAttemptAt: row.state === "due" ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    last:
      row.attempts === 0 ? null : { outcome: row.last_outcome, httpStatus: row.last_http_status },
  };
}
