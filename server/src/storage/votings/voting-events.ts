// Events that may happen more than once to a request: votes, stages, steps, seats that were passed on. Each is written
// with its mails and webhooks, in the transaction that makes it true.

import type { Transaction } from "../../database/database.ts";
import type { VotingDetail, VotingKind } from "../../domain/approval/event.ts";
import { requestNoticesPerDayMax } from "../../domain/approval/voting-limits.ts";
import { claimedReadBytesMax, largeWebhookWeight } from "../../domain/limits.ts";
import { largeBytes } from "../approvals/approvals.ts";
import type { Where } from "./votings.ts";

export type NewVotingEvent = {
  kind: VotingKind | "request.changed" | "request.reminded" | "request.stuck";
  at: Date;
  detail: VotingDetail;
  /** The links of those who are mailed. */
  reviewerIds?: readonly string[];
  /** The owners are mailed, a few times a day. */
  isForOwners?: boolean;
};

/** What `approvals` is just now is kept with it: its webhook says that, however late it is sent. */
export async function insert(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  { kind, at, detail, reviewerIds = [], isForOwners = false }: NewVotingEvent,
): Promise<void> {
  await tx.query({
    name: "votingEvents.insert",
    text: `
      with approval as (
        select a.workspace_id, a.id, a.voting, a.channels, ${hasChannels} as has_channels,
          case when ${largeBytes} > ${claimedReadBytesMax} then ${largeWebhookWeight} else 1 end as weight
        from approvals a where a.workspace_id = $1 and a.id = $2
      ), event as (
        insert into events (workspace_id, approval_id, kind, created_at, detail, voting)
        select workspace_id, id, $3, $4, $5, voting from approval
        returning workspace_id, id
      ), mail as (
        insert into deliveries (workspace_id, event_id, channel, reviewer_id, due_at)
        select event.workspace_id, event.id, 'mail', reviewer_id,
          case when $8 and approval.has_channels then now_ms() + (${mailWait}) else now_ms() end
        from event
        cross join approval
        cross join (select distinct unnest($6::text[]) as reviewer_id) as asked
      ), news as (
        insert into channel_news (workspace_id, approval_id, asks)
        select workspace_id, id, $8 from approval where has_channels
      ), notice as (
        insert into deliveries (workspace_id, event_id, channel, recipient)
        select event.workspace_id, event.id, 'mail', m.email
        from event
        join members m on m.workspace_id = event.workspace_id and m.role = 'owner' and m.joined_at is not null
        where $7 and ${requestNoticesPerDayMax} > (
          select count(*) from events told
          where told.workspace_id = $1 and told.kind = 'request.stuck' and told.created_at > now() - interval '1 day'
        )
      )
      insert into deliveries (workspace_id, event_id, channel, endpoint_id, state, weight)
      select event.workspace_id, event.id, 'webhook', e.id,
        case when e.disabled_at is null then 'due' else 'skipped' end, approval.weight
      from event
      cross join approval
      join endpoints e on e.workspace_id = event.workspace_id and e.deleted_at is null
        and $3 = any (e.event_kinds)`,
    values: [
      ...[workspaceId, approvalId, kind, at, detail, reviewerIds, isForOwners],
      ...[newlyAskingKinds.some((each) => each === kind)],
    ],
  });
}

/** People are asked for the first time. They may hear of it through another channel before they are mailed. */
const newlyAskingKinds = ["request.stage_entered", "request.escalated", "request.reassigned"];

/** Something beside mail may tell of it. */
const hasChannels = `(a.channels is distinct from array['mail'] and (
          a.has_channels or exists (
            select from workspaces w
            where w.id = a.workspace_id and (w.has_channels or w.looks_for_push and exists (
              select from reviewers r
              join push_subscriptions s on s.email = lower(r.email)
              where r.approval_id = a.id and r.workspace_id = a.workspace_id
            ))
          )
        ))`;

/** Whoever stands in for somebody is not asked as a member of the group. */
const mailWait = `
            select mail_wait(r.workspace_id, r.email, (
              select s.group_id from seats s
              where s.workspace_id = r.workspace_id and s.approval_id = r.approval_id and s.reviewer_id = r.id
                and s.voter = s.person and s.given_to is null
              order by s.stage desc, s.group_id limit 1
            ), approval.channels)
            from reviewers r where r.workspace_id = event.workspace_id and r.id = asked.reviewer_id`;
