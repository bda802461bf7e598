-- A search finds requests by all that people know of them: payload, agent, approver, decider, metadata. The words are
-- written by the worker, soon after the create, so that a create no longer pays for them.

drop trigger approvals_words_follow on approvals;
drop function write_approval_words();
drop table approval_words;
drop function search_words(text, text, text);

-- A season is the first five hex digits of an id's time: about three days. A search asks the newest seasons first, and
-- only those that exist. Words carry the number, so that nobody pays for words of another workspace or season.
create table search_seasons (
  workspace_id text collate "C" not null references workspaces (id),
  season text collate "C" not null,
  number integer not null generated always as identity,
  -- How many times a request was indexed in it. An estimate of its size: a decided request is indexed twice.
  indexed integer not null default 0,
  primary key (workspace_id, season)
);

create unique index search_seasons_number_key on search_seasons (number);

-- Many words are kept out of line (in rows above 2 KB), so that a search that finds thousands of rows reads few of them.
create table approval_words (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  words tsvector not null,
  primary key (workspace_id, approval_id),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id) on delete cascade
) with (toast_tuple_target = 128);

alter table approval_words alter column words set storage external;

-- Without a list of pending entries: every search would read that list, and nobody waits for the worker's writes.
create index approval_words_search on approval_words using gin (words) with (fastupdate = off);

-- Requests whose words must be written, or written again because somebody has decided. Not unique: a decision must not
-- wait for the worker that is about to remove an earlier entry.
create table search_queue (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index search_queue_order on search_queue (approval_id, workspace_id);

-- Requests from before this migration are indexed newest first. Those with smaller ids are still to be done.
create table search_backlog (
  workspace_id text collate "C" primary key references workspaces (id),
  before_id text collate "C" not null
);

insert into search_backlog (workspace_id, before_id)
select w.id, 'req_g' from workspaces w where exists (select from approvals a where a.workspace_id = w.id);

create function queue_created_for_search() returns trigger language plpgsql as $$
begin
  insert into search_queue (workspace_id, approval_id) select workspace_id, id from created;
  return null;
end;
$$;

create function queue_decided_for_search() returns trigger language plpgsql as $$
begin
  insert into search_queue (workspace_id, approval_id) values (new.workspace_id, new.id);
  return null;
end;
$$;

create trigger approvals_created_are_searchable after insert on approvals
  referencing new table as created
  for each statement execute function queue_created_for_search();

create trigger approvals_decided_are_searchable after update on approvals
  for each row when (new.resolved_by_email is not null)
  execute function queue_decided_for_search();

-- Requests that expire next come first in a list sorted by that.
create index approvals_expiring_in_workspace on approvals (workspace_id, expires_at, id)
  where status = 'PENDING';
