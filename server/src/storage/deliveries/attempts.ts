// The attempts table: how attempts end, and how a claim is undone. The claims themselves begin attempts.

import type { Transaction } from "../../database/database.ts";
import type { NextStep } from "../../domain/delivery/delivery.ts";
import { reviewMailIntervalSeconds } from "../../domain/limits.ts";
import { type AttemptOutcome, interrupted } from "../../domain/shown/attempt.ts";

/** A worker's hold on one delivery, and the attempt that it makes under it. */
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
 * A worker without its lease changes nothing. Answers for each attempt whether its lease was still held.
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
        returning lease.*, d.channel, d.reviewer_id, d.round, d.digest_id
      ), unpaced as (
        -- The claim of a person's first mail used up an interval of their mailbox.
        update mailboxes box
        set busy_until = box.busy_until - mail.count * interval '${reviewMailIntervalSeconds} seconds'
        from (
          select back.workspace_id, lower(r.email) as address, count(*) as count
          from back
          join reviewers r on r.workspace_id = back.workspace_id and r.id = back.reviewer_id
          where back.channel = 'mail' and back.number = 1 and back.round = 1 and back.digest_id is null
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
