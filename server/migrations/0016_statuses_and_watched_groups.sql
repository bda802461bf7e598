-- A search by words and status asks the index of words for both, so that a common word with a status it never has is
-- answered at once. Groups remember their last deletion, so that one that was made again is looked after, too.

-- Every change of status queues a request, not only a decision.
drop trigger approvals_decided_are_searchable on approvals;
drop function queue_decided_for_search();

create function queue_resolved_for_search() returns trigger language plpgsql as $$
begin
  insert into search_queue (workspace_id, approval_id) values (new.workspace_id, new.id);
  return null;
end;
$$;

create trigger approvals_resolved_are_searchable after update on approvals
  for each row when (new.status <> old.status)
  execute function queue_resolved_for_search();

-- Requests from before this migration are indexed once more. Those with words are found meanwhile; their statuses are
-- looked up in their rows.
alter table search_backlog add column has_words boolean not null default false;

insert into search_backlog (workspace_id, before_id, has_words)
select w.id, 'req_g', true from workspaces w where exists (select from approvals a where a.workspace_id = w.id)
on conflict (workspace_id) do update set before_id = 'req_g';

-- A group that is made again under its key keeps its row, and this.
alter table groups add column last_deleted_at timestamptz(3);
update groups set last_deleted_at = deleted_at where deleted_at is not null;
alter table groups add constraint groups_deleted_is_remembered check (deleted_at is null or last_deleted_at is not null);

create index groups_deleted_lately on groups (last_deleted_at) where last_deleted_at is not null;
