-- Retention (decision 57): requests that ended longer ago than their workspace keeps them are deleted, whole, by one
-- function of the owner's. The service's role may call it, and may delete nothing of a request by itself.

-- The last look before a reviewer is deleted must not walk through all deliveries.
create index deliveries_of_reviewer on deliveries (reviewer_id) where reviewer_id is not null;
create index events_of_reviewer on events (reviewer_id) where reviewer_id is not null;

-- Deletes the oldest requests of a workspace that ended before its time of retention, and answers how many. Neither age
-- nor request is the caller's to choose.
create function delete_old_requests(workspace text, most integer) returns integer
language plpgsql security definer as $$
declare
  cutoff timestamptz;
  chosen text[];
  waiting text[];
  their_events text[];
  their_deliveries text[];
begin
  select now() - w.retention_days * interval '1 day' into cutoff from workspaces w where w.id = workspace;
  -- The log comes first: where very much waits for it, nothing is deleted yet.
  if cutoff is null or exists (
    select from log_pending p where p.workspace_id = workspace offset 10000
  ) then
    return 0;
  end if;

  -- Ids begin with the millisecond of the request, and none ends before it begins.
  chosen := array(
    select a.id from approvals a
    where a.workspace_id = workspace and a.status <> 'PENDING' and a.resolved_at < cutoff
      and a.id < 'req_' || lpad(to_hex(ceil(extract(epoch from cutoff) * 1000)::bigint), 12, '0')
    order by a.id limit least(greatest(most, 0), 1000)
    for update skip locked
  );
  perform from reviewers r where r.workspace_id = workspace and r.approval_id = any (chosen) for update;

  -- A fact that isn't in the log yet is still needed to write its entry.
  waiting := array(
    select coalesce(e.approval_id, r.approval_id, p.subject)
    from log_pending p
    left join events e on p.source = 'e' and e.workspace_id = p.workspace_id and e.id = p.subject
    left join reviewers r on p.source = 'o' and r.workspace_id = p.workspace_id and r.id = p.subject
    where p.workspace_id = workspace
  );
  chosen := array(select id from unnest(chosen) as id where id <> all (waiting));

  their_events := array(
    select e.id from events e where e.workspace_id = workspace and e.approval_id = any (chosen)
  );
  their_deliveries := array(
    select d.id from deliveries d where d.workspace_id = workspace and d.event_id = any (their_events) for update
  );
  delete from attempts where workspace_id = workspace and delivery_id = any (their_deliveries);
  delete from deliveries where workspace_id = workspace and id = any (their_deliveries);
  delete from channel_messages where workspace_id = workspace and approval_id = any (chosen);
  delete from channel_news where workspace_id = workspace and approval_id = any (chosen);
  delete from search_queue where workspace_id = workspace and approval_id = any (chosen);
  delete from approval_words where workspace_id = workspace and approval_id = any (chosen);
  delete from voting_checks where workspace_id = workspace and approval_id = any (chosen);
  delete from votes where workspace_id = workspace and approval_id = any (chosen);
  delete from seats where workspace_id = workspace and approval_id = any (chosen);
  delete from steps where workspace_id = workspace and approval_id = any (chosen);
  delete from stages where workspace_id = workspace and approval_id = any (chosen);
  delete from revisions where workspace_id = workspace and approval_id = any (chosen);
  delete from votings where workspace_id = workspace and approval_id = any (chosen);
  delete from evidence where workspace_id = workspace and approval_id = any (chosen);
  delete from receipts where workspace_id = workspace and approval_id = any (chosen);
  delete from redemptions where workspace_id = workspace and approval_id = any (chosen);
  delete from events where workspace_id = workspace and approval_id = any (chosen);
  delete from reviewers where workspace_id = workspace and approval_id = any (chosen);
  -- With the salts: from here on the entries of these requests say nothing.
  delete from log_openings o using log_trees t
  where t.id = o.tree_id and t.workspace_id = workspace and o.approval_id = any (chosen);
  delete from approvals where workspace_id = workspace and id = any (chosen);

  insert into log_pending (workspace_id, source, subject, detail)
  select workspace, 'd', id, jsonb_build_object('kind', 'request.deleted', 'request', id)
  from unnest(chosen) as id;
  return cardinality(chosen);
end;
$$;

-- It runs with the owner's rights, so no other schema may lend it tables: ours alone, and temporary tables last.
do $$
begin
  execute format(
    'alter function delete_old_requests(text, integer) set search_path = pg_catalog, %I, pg_temp', current_schema()
  );
end;
$$;
revoke all on function delete_old_requests(text, integer) from public;
