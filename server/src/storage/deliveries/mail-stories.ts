// What a mail tells about a request with seats, as it was when the mail's event happened: how far its people were, why
// this reader is asked, what was changed, how it ended. Rows of votes and revisions never change, so a retry tells the same.

import type { Queryable } from "../../database/database.ts";
import type { VotingDetail } from "../../domain/approval/event.ts";
import { mailedDiffBytesMax, mailedPeopleMax } from "../../domain/approval/voting-limits.ts";
import type { StuckStage } from "../../domain/mail/stuck-mails.ts";
import type { MailedChange, MailedOutcome } from "../../domain/mail/voting-mails.ts";
import type { MailedSeat, MailedStage, MailedVoting } from "../../domain/mail/voting-words.ts";
import { isInItsGroup } from "../approvals/may-still-decide.ts";

export type MailStory = {
  /** Null for owners, and when the reader has no seat. */
  voting: MailedVoting | null;
  /** The first mail to this reader about the request: later ones follow it in a thread. */
  isFirst: boolean;
  handOver: { byEmail: string; toEmail: string } | null;
  afterMinutes: number | null;
  change: MailedChange | null;
  outcome: MailedOutcome | null;
  /** Nobody of the open stage was reached before. */
  isUnreachable: boolean;
  /** For owners: who is left in each stage. */
  stages: readonly StuckStage[];
};

/** A mail whose request has seats. `isAlone` if it is no part of a digest, which tells no changes. */
export type ToldMail = { workspaceId: string; deliveryId: string; isAlone: boolean };

type StoryRow = {
  delivery_id: string;
  detail: VotingDetail | null;
  /** What answers told as `approvals` at that moment; null for events that happen once. */
  voting: string | null;
  stages: (MailedStage & { isEntered: boolean })[];
  seats: SeatRow[];
  left_in: { stage: number; email: string }[];
  is_first: boolean;
  is_unreachable: boolean;
  changed_by: string | null;
  changed_at: Date | null;
  before: string | null;
  after: string | null;
  status: MailedOutcome["status"] | null;
  resolved_at: Date;
  resolved_by_email: string | null;
  resolution_note: string | null;
  is_edited: boolean;
  approvers: { email: string; for: string | null }[];
};

/** Dates in JSON are text. */
type SeatRow = {
  stage: number;
  person: string;
  isOwn: boolean;
  reason: MailedSeat["reason"];
  until: string | null;
};

/** By delivery. */
export async function readStories(
  db: Queryable,
  mails: readonly ToldMail[],
): Promise<Map<string, MailStory>> {
  if (mails.length === 0) return new Map();
  const { rows } = await db.query<StoryRow>({
    name: "mailStories.read",
    text: storiesSql,
    values: [
      mails.map(({ workspaceId }) => workspaceId),
      mails.map(({ deliveryId }) => deliveryId),
      mails.map(({ isAlone }) => isAlone),
    ],
  });
  return new Map(rows.map((row) => [row.delivery_id, toStory(row)]));
}

const outcomeKinds =
  "('request.approved', 'request.rejected', 'request.expired', 'request.cancelled')";

// Votes of the revision of that moment, until that moment. Sub-selects with a limit or an offset look rows up, like
// those of mailJoins.
const countedVotes = `
  from votes v
  where v.workspace_id = d.workspace_id and v.approval_id = ev.approval_id and v.revision = revision.number
    and v.verdict = 'approve' and v.created_at <= ev.created_at`;

const storiesSql = `
  select d.id as delivery_id, ev.detail, ev.voting,
    (
      select json_agg(json_build_object(
        'name', coalesce(s.group_name, s.notify), 'isGroup', s.group_id is not null, 'required', s.required,
        'approved', (select count(*) ${countedVotes} and v.stage = s.number), 'isEntered', s.entered_at is not null
      ) order by s.number)
      from stages s
      where s.workspace_id = d.workspace_id and s.approval_id = ev.approval_id
    ) as stages,
    (
      select coalesce(json_agg(json_build_object(
        'stage', s.stage, 'person', s.person_email, 'isOwn', s.person = s.voter, 'reason', s.reason,
        'until', (
          select max(away.ends_at) from absences away
          where away.workspace_id = s.workspace_id and away.person = s.person
            and away.starts_at <= ev.created_at and away.ends_at > ev.created_at
        )
      ) order by s.stage desc, s.created_at desc, s.person), '[]')
      from seats s
      where s.workspace_id = d.workspace_id and s.approval_id = ev.approval_id and s.reviewer_id = d.reviewer_id
        and s.created_at <= ev.created_at
    ) as seats,
    case when ev.kind = 'request.stuck' then (
      select coalesce(json_agg(json_build_object('stage', s.stage, 'email', r.email) order by s.stage, r.email), '[]')
      from (
        select distinct s.workspace_id, s.stage, s.reviewer_id from seats s
        where s.workspace_id = d.workspace_id and s.approval_id = ev.approval_id and s.given_to is null
          and ${isInItsGroup}
          and not exists (select ${countedVotes} and (v.person in (s.person, s.voter) or v.voter in (s.person, s.voter)))
      ) as s
      cross join lateral (
        select r.email from reviewers r where r.workspace_id = s.workspace_id and r.id = s.reviewer_id limit 1
      ) as r
    ) else '[]' end as left_in,
    not exists (
      select from (
        select earlier.id from events earlier
        where earlier.approval_id = ev.approval_id and earlier.workspace_id is not distinct from d.workspace_id
        offset 0
      ) as earlier
      cross join lateral (
        select other.id from deliveries other
        where other.event_id = earlier.id and coalesce(other.endpoint_id, other.reviewer_id, other.recipient) = d.reviewer_id
          and other.channel = 'mail' and other.workspace_id = d.workspace_id
        limit 1
      ) as other
      where other.id < d.id
    ) as is_first,
    coalesce(voting.unreachable_at is not null, false) as is_unreachable,
    change.by_email as changed_by, change.created_at as changed_at, change.before, change.after,
    case when ev.kind in ${outcomeKinds} then a.status end as status, a.resolved_at, a.resolved_by_email,
    a.resolution_note, a.edit is not null as is_edited,
    case when ev.kind in ${outcomeKinds} then (
      select coalesce(json_agg(json_build_object('email', v.voter_email, 'for', v.for_email)
        order by v.created_at, v.voter), '[]')
      ${countedVotes}
    ) else '[]' end as approvers
  from unnest($1::text[], $2::text[], $3::boolean[]) as mail (workspace_id, id, is_alone)
  cross join lateral (
    select d.workspace_id, d.id, d.event_id, d.reviewer_id from deliveries d
    where d.workspace_id = mail.workspace_id and d.id = mail.id limit 1
  ) as d
  cross join lateral (
    select ev.kind, ev.created_at, ev.detail, ev.voting, ev.approval_id from events ev
    where ev.workspace_id = d.workspace_id and ev.id = d.event_id limit 1
  ) as ev
  cross join lateral (
    select a.status, a.resolved_at, a.resolved_by_email, a.resolution_note, a.edit, a.payload from approvals a
    where a.workspace_id = d.workspace_id and a.id = ev.approval_id limit 1
  ) as a
  left join lateral (
    select v.unreachable_at from votings v
    where v.workspace_id = d.workspace_id and v.approval_id = ev.approval_id limit 1
  ) as voting on true
  cross join lateral (
    select coalesce(max(r.number), 1) as number from revisions r
    where r.workspace_id = d.workspace_id and r.approval_id = ev.approval_id and r.created_at <= ev.created_at
  ) as revision
  left join lateral (
    select r.by_email, r.created_at, small.before, small.after
    from revisions r
    left join lateral (
      select coalesce(former.payload, a.payload, 'null') as before, r.payload as after
      from (select (ev.detail->>'fromRevision')::integer as number) as since
      left join revisions former on former.workspace_id = r.workspace_id and former.approval_id = r.approval_id
        and former.number = since.number
      where mail.is_alone and octet_length(r.payload) <= ${mailedDiffBytesMax}
        and octet_length(coalesce(former.payload, a.payload, '')) <= ${mailedDiffBytesMax}
    ) as small on true
    where ev.kind = 'request.changed' and r.workspace_id = d.workspace_id and r.approval_id = ev.approval_id
      and r.number = coalesce((ev.detail->>'revision')::integer, revision.number)
    limit 1
  ) as change on true`;

function toStory(row: StoryRow): MailStory {
  const { detail } = row;
  const stages = stagesOf(row);
  const open = detail?.stage ?? openStageOf(stages);
  const seat = seatOf(row, open);
  return {
    voting: seat === null ? null : { stage: seat.stage, stages, seat: toSeat(seat) },
    isFirst: row.is_first,
    handOver: toHandOver(detail),
    afterMinutes: detail?.afterMinutes ?? null,
    change: toChange(row),
    outcome: toOutcome(row),
    isUnreachable: row.is_unreachable,
    stages: stages.map((stage, index) => ({ ...stage, left: leftIn(row, index) })),
  };
}

/** The text that was kept with the event counts exactly, also when several voted in one moment. */
function stagesOf({ stages, voting }: StoryRow): MailedStage[] {
  const kept = voting === null ? null : (JSON.parse(voting) as KeptVoting);
  return stages.map(({ name, isGroup, required, approved }, index) => {
    const votes = kept?.stages[index]?.votes;
    const counted = votes?.filter(
      ({ verdict, revision }) => verdict === "approve" && revision === kept?.revision,
    );
    return { name, isGroup, required, approved: counted?.length ?? approved };
  });
}

/** The part of `approvals` that is counted here. */
type KeptVoting = {
  revision: number;
  stages: { votes: { verdict: string; revision: number }[] }[];
};

function openStageOf(stages: readonly MailedStage[]): number {
  const open = stages.findIndex(({ approved, required }) => approved < required);
  return open === -1 ? stages.length : open + 1;
}

/** In the open stage before any other, for whom the event says, and their own before another's. */
function seatOf({ seats, detail }: StoryRow, open: number): SeatRow | null {
  const rankOf = ({ stage, person, isOwn }: SeatRow) =>
    (stage === open ? 4 : 0) + (person === detail?.forEmail ? 2 : 0) + (isOwn ? 1 : 0);
  return seats.toSorted((one, other) => rankOf(other) - rankOf(one))[0] ?? null;
}

function toHandOver(detail: VotingDetail | null): MailStory["handOver"] {
  const { reason, byEmail, toEmail } = detail ?? {};
  const isHandOver = reason === "handed_over" && byEmail !== undefined && toEmail !== undefined;
  return isHandOver ? { byEmail, toEmail } : null;
}

function toSeat({ person, reason, until }: SeatRow): MailedSeat {
  return { person, reason, until: until === null ? null : new Date(until) };
}

function leftIn({ stages, left_in: left }: StoryRow, index: number): StuckStage["left"] {
  if (stages[index]?.isEntered !== true) return null;
  const people = left.filter(({ stage }) => stage === index + 1);
  const named = people.slice(0, mailedPeopleMax).map(({ email }) => ({ email }));
  return { named, count: people.length };
}

function toChange(row: StoryRow): MailedChange | null {
  const { changed_by: byEmail, changed_at: at, before, after } = row;
  if (byEmail === null || at === null) return null;
  return { byEmail, at, texts: before === null || after === null ? null : { before, after } };
}

function toOutcome(row: StoryRow): MailedOutcome | null {
  if (row.status === null) return null;
  return {
    status: row.status,
    at: row.resolved_at,
    byEmail: row.resolved_by_email,
    note: row.resolution_note,
    isEdited: row.is_edited,
    approvers: row.approvers.slice(0, mailedPeopleMax),
    approverCount: row.approvers.length,
  };
}
