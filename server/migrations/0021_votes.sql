-- Several people decide about one request, in order and in time (decision 49). A request that uses none of it has no row
-- in any of these tables.

-- One person, however their address is spelled: ann+agent@x.example reaches ann@x.example. Counting and excluding go by
-- this, mails and links by the address.
create function person_of(email text) returns text
language sql immutable parallel safe
return regexp_replace(lower(email), '^([^+@]+)[+][^@]*@', '\1@');

alter table workspaces
  -- Whom agents may ask: anybody, members and group members, or addresses of the listed domains.
  add column approver_limit text not null default 'anybody' check (approver_limit in ('anybody', 'members', 'domains')),
  -- Until somebody has chosen, the dashboard recommends to.
  add column approver_limit_chosen boolean not null default false,
  add column approver_domains text[] not null default '{}',
  -- Whether somebody who is asked may pass their vote on, and to whom.
  add column hand_over text not null default 'workspace' check (hand_over in ('off', 'group', 'workspace')),
  -- The end of the last absence: a create looks for delegates until then.
  add column absences_until timestamptz(3);

alter table api_keys
  -- The person behind the agent: they never approve what was created with the key.
  add column owner_email text check (owner_email <> '');

-- No foreign key from the key: keys are never deleted, and each create would lock its key's row.
alter table approvals
  add column key_id text collate "C",
  add column requested_by text,
  -- Its people are the rows of seats.
  add column has_seats boolean not null default false,
  -- What answers tell as `approvals`, as JSON; null where nothing of it was asked for. Follows from the tables below.
  add column voting text;

create table votings (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  -- The person for whom the agent acts, and the owner of its key: they never approve, nor does anybody for them.
  requester text,
  key_owner text,
  -- Those to whom the key was given while the request was pending. Whoever was its owner once never counts again.
  later_owners text[] not null default '{}',
  -- The workspace's rule when it was created.
  approver_limit text not null check (approver_limit in ('anybody', 'members', 'domains')),
  -- 1 is the agent's payload.
  revision integer not null default 1 check (revision >= 1),
  -- The open stage, from 1 on. The last one once all are complete.
  stage smallint not null default 1 check (stage >= 1),
  escalated_at timestamptz(3),
  -- Too few different people are left, so nobody can approve it any more.
  stuck_at timestamptz(3),
  -- No mail of the open stage could be delivered.
  unreachable_at timestamptz(3),
  primary key (workspace_id, approval_id),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id)
);

-- The dashboard lists these, and they are few.
create index votings_escalated on votings (workspace_id, approval_id) where escalated_at is not null;
create index votings_in_trouble on votings (workspace_id, approval_id)
  where stuck_at is not null or unreachable_at is not null;

create table stages (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  number smallint not null check (number between 1 and 5),
  -- As the caller wrote it; the group with the name that it had then.
  notify text not null,
  group_id text collate "C",
  group_name text,
  required smallint not null check (required between 1 and 20),
  entered_at timestamptz(3),
  completed_at timestamptz(3),
  primary key (workspace_id, approval_id, number),
  foreign key (workspace_id, approval_id) references votings (workspace_id, approval_id),
  constraint stages_named_group check ((group_id is null) = (group_name is null)),
  constraint stages_complete_once_entered check (completed_at is null or entered_at is not null)
);

create index stages_of_group on stages (group_id) where completed_at is null;

-- Requests whose people may have become too few. A sweep looks at each once, whoever removed somebody.
create table voting_checks (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  primary key (workspace_id, approval_id),
  foreign key (workspace_id, approval_id) references votings (workspace_id, approval_id)
);

create function queue_voting_checks() returns trigger
language plpgsql as $$
declare
  member group_members%rowtype;
begin
  if tg_op = 'DELETE' then
    member := old;
  else
    member := new;
  end if;
  insert into voting_checks (workspace_id, approval_id)
  select distinct s.workspace_id, s.approval_id
  from stages s
  join approvals a on a.workspace_id = s.workspace_id and a.id = s.approval_id and a.status = 'PENDING'
  where s.workspace_id = member.workspace_id and s.group_id = member.group_id and s.completed_at is null
  -- In one order, so that two changes never wait for each other.
  order by 1, 2
  on conflict do nothing;
  return null;
end;
$$;

create trigger group_members_are_checked after insert or delete on group_members
  for each row execute function queue_voting_checks();

-- Who may vote for whom in a stage. Mostly it is the person alone; a delegate, or a colleague to whom they passed it, is
-- a row beside it. However many rows a person has, the seat counts once.
create table seats (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  stage smallint not null,
  person text not null,
  voter text not null,
  person_email text not null,
  -- The voter's own link.
  reviewer_id text collate "C" not null,
  -- The person is asked as a member of it, and no longer once they are removed.
  group_id text collate "C",
  reason text not null check (reason in ('asked', 'escalated', 'away', 'handed_over')),
  -- The address to which the voter has passed it. They can't vote any more.
  given_to text,
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, approval_id, stage, person, voter),
  foreign key (workspace_id, approval_id, stage) references stages (workspace_id, approval_id, number),
  foreign key (workspace_id, reviewer_id) references reviewers (workspace_id, id)
);

create index seats_of_reviewer on seats (reviewer_id);
create index seats_of_voter on seats (voter, workspace_id, approval_id);

create table revisions (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  number integer not null check (number >= 2),
  payload text not null,
  by_email text not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, approval_id, number),
  foreign key (workspace_id, approval_id) references votings (workspace_id, approval_id)
);

alter table revisions alter column payload set storage external;

-- The keys say the promise: in one revision no seat and no voter counts twice.
create table votes (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  revision integer not null check (revision >= 1),
  stage smallint not null,
  person text not null,
  voter text not null,
  voter_email text not null,
  -- For whom a delegate voted; null when they voted for themselves.
  for_email text,
  verdict text not null check (verdict in ('approve', 'reject')),
  note text,
  via text not null check (via in ('link', 'inbox', 'slack', 'teams')),
  created_at timestamptz(3) not null,
  primary key (workspace_id, approval_id, revision, person),
  foreign key (workspace_id, approval_id, stage, person, voter)
    references seats (workspace_id, approval_id, stage, person, voter),
  constraint votes_for_another check ((for_email is null) = (person = voter))
);

create unique index votes_voter_key on votes (approval_id, revision, voter, workspace_id);

-- The last line of defence, whatever a statement or an older process says: no approval by fewer people than each stage
-- requires, without the requester and the key's owners, or of another text than they voted on.
create function refuse_decision_without_votes() returns trigger
language plpgsql as $$
declare
  voting votings%rowtype;
  excluded text[];
begin
  select * into voting from votings v where v.workspace_id = new.workspace_id and v.approval_id = new.id;
  excluded := array_remove(voting.later_owners || array[voting.requester, voting.key_owner, (
    select person_of(k.owner_email) from api_keys k where k.workspace_id = new.workspace_id and k.id = new.key_id
  )], null);
  if new.status = 'REJECTED' then
    if exists (
      select from votes v
      where v.workspace_id = new.workspace_id and v.approval_id = new.id and v.verdict = 'reject'
    ) then
      return new;
    end if;
  elsif not exists (
    select from stages s
    where s.workspace_id = new.workspace_id and s.approval_id = new.id and s.required > (
      select count(*) from votes v
      where v.workspace_id = s.workspace_id and v.approval_id = s.approval_id and v.revision = voting.revision
        and v.stage = s.number and v.verdict = 'approve' and v.voter <> all (excluded) and v.person <> all (excluded)
    )
  ) and coalesce(new.edit, new.payload) is not distinct from (
    case when voting.revision = 1 then new.payload else (
      select r.payload from revisions r
      where r.workspace_id = new.workspace_id and r.approval_id = new.id and r.number = voting.revision
    ) end
  ) then
    return new;
  end if;
  raise exception 'approval % has not the votes for %', new.id, new.status
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger approvals_decided_by_votes before update on approvals
  for each row when (new.has_seats and old.status = 'PENDING' and new.status in ('APPROVED', 'REJECTED'))
  execute function refuse_decision_without_votes();

-- What happens when a stage stays open: once, taken by a conditional update.
create table steps (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  stage smallint not null,
  number smallint not null check (number between 1 and 5),
  after_minutes integer not null check (after_minutes >= 1),
  notify text not null,
  group_id text collate "C",
  -- Null until its stage is entered.
  due_at timestamptz(3),
  done_at timestamptz(3),
  -- What came of it.
  outcome text check (outcome in ('asked', 'nobody_new', 'moot')),
  primary key (workspace_id, approval_id, stage, number),
  foreign key (workspace_id, approval_id, stage) references stages (workspace_id, approval_id, number),
  constraint steps_done_with_outcome check ((done_at is null) = (outcome is null))
);

create index steps_due on steps (due_at) where done_at is null and due_at is not null;

create table absences (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null default new_id('abs_'),
  person text not null,
  email text not null,
  delegate_email text not null,
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  -- When the delegate was asked about what was open already; null until it begins.
  begun_at timestamptz(3),
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, id),
  constraint absences_end_after_start check (ends_at > starts_at)
);

create index absences_of_person on absences (person, workspace_id, ends_at);
create index absences_to_begin on absences (starts_at) where begun_at is null;

alter table events
  -- `approvals` as it was at that moment, for kinds that may happen more than once.
  add column voting text,
  drop constraint events_subject_of_kind,
  add constraint events_subject_of_kind check (
    case
      when kind in (
        'request.created', 'request.approved', 'request.rejected', 'request.expired', 'request.cancelled',
        'request.expiring', 'request.vote_recorded', 'request.stage_entered', 'request.changed',
        'request.escalated', 'request.reassigned', 'request.reminded', 'request.unreachable', 'request.stuck'
      ) then approval_id is not null and endpoint_id is null and reviewer_id is null
      when kind in ('webhook.test', 'endpoint.delivery_failed', 'endpoint.failing', 'endpoint.disabled')
        then approval_id is null and endpoint_id is not null and reviewer_id is null
      when kind = 'mail.failed'
        then approval_id is not null and endpoint_id is null and reviewer_id is not null
      when kind = 'callback.failed'
        then approval_id is not null and endpoint_id is null and reviewer_id is null and detail is not null
      when kind in ('person.signing_in', 'person.passkey_added', 'person.passkey_removed', 'member.invited')
        then approval_id is null and endpoint_id is null and reviewer_id is null and detail is not null
      else false
    end
  ) not valid;

-- Votes, stages and steps repeat, so their own id tells them apart. All events of an approval are found by this index, so
-- it leaves no kind out. It takes seconds for each million events, and nothing is written meanwhile.
drop index events_once_per_approval;
create unique index events_once_per_approval
  on events (
    approval_id, kind,
    (case when kind in (
      'request.vote_recorded', 'request.stage_entered', 'request.changed', 'request.escalated', 'request.reassigned',
      'request.reminded', 'request.unreachable', 'request.stuck'
    ) then id else coalesce(reviewer_id, '') end),
    workspace_id
  )
  where approval_id is not null;

-- Owners hear of few of these a day.
create index events_owner_notices on events (workspace_id, created_at)
  where kind in ('request.unreachable', 'request.stuck');
