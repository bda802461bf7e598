-- What a receipt and the log tell of a decision is as final as the decision: by whom, about which text, in which stages. So
-- far only the request's own row was, and whoever held the service's role could add a vote, or its evidence, behind it.

-- A final row never changes, so it is this transaction's only if this transaction decided: one statement writes a
-- decision and its evidence. Of any other it is locked, so that it can't be decided while something joins it.
create function refuse_more_of_final() returns trigger
language plpgsql as $$
declare
  state text;
begin
  if exists (
    select from approvals a
    where a.workspace_id = new.workspace_id and a.id = new.approval_id and a.xmin = pg_current_xact_id()::xid
  ) then
    return null;
  end if;
  select a.status into state from approvals a
  where a.workspace_id = new.workspace_id and a.id = new.approval_id
  for share;
  if state <> 'PENDING' then
    raise exception 'approval % is final (%): nothing joins it in %', new.approval_id, state, tg_table_name
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end;
$$;

create trigger votings_of_pending after insert on votings
  for each row execute function refuse_more_of_final();
create trigger votings_change_while_pending after update on votings
  for each row when (
    new.revision <> old.revision or new.stage <> old.stage or new.later_owners <> old.later_owners
  )
  execute function refuse_more_of_final();
create trigger stages_of_pending after insert on stages
  for each row execute function refuse_more_of_final();
create trigger revisions_of_pending after insert on revisions
  for each row execute function refuse_more_of_final();
create trigger votes_of_pending after insert on votes
  for each row execute function refuse_more_of_final();
create trigger events_of_votes_while_pending after insert on events
  for each row when (new.kind in (
    'request.vote_recorded', 'request.stage_entered', 'request.changed', 'request.escalated', 'request.reassigned'
  ))
  execute function refuse_more_of_final();

-- Evidence is of a vote, or of the decision of one person, and written with it.
create function refuse_evidence_alone() returns trigger
language plpgsql as $$
begin
  if exists (
    select from approvals a
    where a.workspace_id = new.workspace_id and a.id = new.approval_id and a.status in ('APPROVED', 'REJECTED')
      and a.xmin = pg_current_xact_id()::xid
  ) or exists (
    select from votes v
    where v.workspace_id = new.workspace_id and v.approval_id = new.approval_id and v.revision = new.revision
      and v.voter = new.voter and v.verdict = new.verdict and v.xmin = pg_current_xact_id()::xid
  ) then
    return null;
  end if;
  raise exception 'approval % has no vote of % just now', new.approval_id, new.voter
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger evidence_comes_with_its_vote after insert on evidence
  for each row execute function refuse_evidence_alone();

-- Votes on one text never count for an older one, and whoever was left out once stays left out.
create function refuse_voting_set_back() returns trigger
language plpgsql as $$
begin
  raise exception 'the votes on approval % are not set back', old.approval_id
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger votings_only_go_on before update on votings
  for each row when (new.revision < old.revision or not new.later_owners @> old.later_owners)
  execute function refuse_voting_set_back();

-- The trigger that counts votes looks at requests with seats alone.
create function refuse_seats_taken_away() returns trigger
language plpgsql as $$
begin
  raise exception 'approval % is decided by the people who have seats', old.id
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger approvals_keep_their_seats before update of has_seats on approvals
  for each row when (old.has_seats and not new.has_seats)
  execute function refuse_seats_taken_away();
