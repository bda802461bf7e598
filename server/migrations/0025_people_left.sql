-- Requests are looked at again whoever of their people comes or goes. Until now that were the members of a stage's group;
-- stand-ins, people of escalation groups, and members of the workspace were missed, and owners never heard.

drop trigger group_members_are_checked on group_members;
drop function queue_voting_checks();
-- Nothing else looked for stages by their group.
drop index stages_of_group;

-- Walks the pending requests of the workspace, which are few beside those that have ended.
create function queue_checks_of_group_members() returns trigger
language plpgsql as $$
begin
  insert into voting_checks (workspace_id, approval_id)
  select a.workspace_id, a.id
  from approvals a
  where a.status = 'PENDING' and a.has_seats and a.workspace_id in (select c.workspace_id from changed c) and (
    exists (
      select from stages s
      where s.workspace_id = a.workspace_id and s.approval_id = a.id and s.group_id in (select c.group_id from changed c)
    ) or exists (
      select from steps s
      where s.workspace_id = a.workspace_id and s.approval_id = a.id and s.group_id in (select c.group_id from changed c)
    ) or exists (
      -- They hold a place, or stand in for somebody and are a colleague no longer, or again.
      select from seats s
      where s.workspace_id = a.workspace_id and s.approval_id = a.id
        and s.voter in (select person_of(c.email) from changed c)
    )
  )
  -- In one order, so that two changes never wait for each other.
  order by 1, 2
  on conflict do nothing;
  return null;
end;
$$;

create trigger group_members_added_are_checked after insert on group_members
  referencing new table as changed for each statement execute function queue_checks_of_group_members();
create trigger group_members_removed_are_checked after delete on group_members
  referencing old table as changed for each statement execute function queue_checks_of_group_members();

create function queue_checks_of_members() returns trigger
language plpgsql as $$
begin
  insert into voting_checks (workspace_id, approval_id)
  select a.workspace_id, a.id
  from approvals a
  where a.status = 'PENDING' and a.has_seats and a.workspace_id in (select c.workspace_id from changed c) and exists (
    select from seats s
    where s.workspace_id = a.workspace_id and s.approval_id = a.id
      and s.voter in (select person_of(c.email) from changed c)
  )
  order by 1, 2
  on conflict do nothing;
  return null;
end;
$$;

create trigger members_added_are_checked after insert on members
  referencing new table as changed for each statement execute function queue_checks_of_members();
-- Who accepts an invitation is a colleague from then on.
create trigger members_changed_are_checked after update on members
  referencing new table as changed for each statement execute function queue_checks_of_members();
create trigger members_removed_are_checked after delete on members
  referencing old table as changed for each statement execute function queue_checks_of_members();

-- One person counts once, as the one who votes or as the one for whom somebody votes: somebody whose delegate has voted
-- for them doesn't vote for another. All votes on a request are under its lock. Earlier ones stay as they are.
create function refuse_vote_of_somebody_used() returns trigger
language plpgsql as $$
begin
  if exists (
    select from votes v
    where v.workspace_id = new.workspace_id and v.approval_id = new.approval_id and v.revision = new.revision
      and (v.person = new.voter or v.voter = new.person)
  ) then
    raise exception 'one person counts once: % for %', new.voter, new.person
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end;
$$;

create trigger votes_use_nobody_twice before insert on votes
  for each row execute function refuse_vote_of_somebody_used();

-- What was missed so far.
insert into voting_checks (workspace_id, approval_id)
select a.workspace_id, a.id from approvals a where a.status = 'PENDING' and a.has_seats
on conflict do nothing;
