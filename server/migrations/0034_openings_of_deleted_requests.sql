-- Retention finds the openings of a request by the request alone. Each batch looked for the logs of its workspace, of which
-- there is no index, and so read the logs of all workspaces.
-- works beside: 0033

create or replace function delete_old_requests(workspace text, most integer) returns integer
language plpgsql security definer as $$
declare
  cutoff timestamptz;
  chosen text[];
  waiting text[];
  worded text[];
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

  -- Whose words a worker writes just now is left for the next time.
  worded := array(
    select w.approval_id from approval_words w
    where w.workspace_id = workspace and w.approval_id = any (chosen)
    for update skip locked
  );
  waiting := array(
    select w.approval_id from approval_words w
    where w.workspace_id = workspace and w.approval_id = any (chosen) and w.approval_id <> all (worded)
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
  -- A row that a worker holds goes with that worker's own transaction.
  delete from search_queue q
  where q.ctid = any (array(
    select free.ctid
    from unnest(chosen) as chosen_id
    cross join lateral (
      select s.ctid from search_queue s
      where s.approval_id = chosen_id and s.workspace_id = workspace
      for update skip locked
    ) as free
  ));
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
  delete from log_openings o
  where o.approval_id = any (chosen)
    -- Looked up for each opening: a join would look for the logs of the workspace, and read all logs to find them.
    and (select t.workspace_id from log_trees t where t.id = o.tree_id) = workspace;
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
