-- Votes, further: creates in a workspace with a limit stay cheap, stand-ins end with the absence, and whoever owned a
-- key once stays left out of what was created with it.

-- The workspace's rule about approvers when this was created; null where anybody may be asked.
alter table approvals add column approver_limit text;

-- The absences for whose time somebody stands in. Where a delegate is away as well there are several, and the last is
-- that of the voter in whose place they are.
alter table seats add column absence_ids text[];

update seats s set absence_ids = (
  select array[b.id] from absences b
  join seats other on other.workspace_id = s.workspace_id and other.approval_id = s.approval_id
    and other.stage = s.stage and other.person = s.person and other.voter = b.person
  -- One to come led to no seat yet. Of those of one person, the one that runs ends last.
  where b.workspace_id = s.workspace_id and b.person <> s.voter and b.starts_at <= now()
  order by person_of(b.delegate_email) = s.voter desc, b.ends_at desc
  limit 1
)
where s.reason = 'away';

alter table absences
  -- Up to which request the delegate was asked about what was open already.
  add column begun_up_to text collate "C",
  -- When the requests were looked at for which the delegate had stood in; null until it is over.
  add column ended_at timestamptz(3);

update absences set ended_at = ends_at where ends_at <= now();

create index absences_to_end on absences (ends_at) where ended_at is null;

-- Whoever owned the key before, by person, and until when.
alter table api_keys add column former_owners jsonb not null default '{}';

create function keep_former_owner() returns trigger
language plpgsql as $$
begin
  new.former_owners := old.former_owners || jsonb_build_object(person_of(old.owner_email), clock_timestamp());
  return new;
end;
$$;

create trigger api_keys_keep_former_owners before update of owner_email on api_keys
  for each row when (
    old.owner_email is not null and person_of(old.owner_email) is distinct from person_of(new.owner_email)
  )
  execute function keep_former_owner();

-- Whether somebody who is asked owns the key, is away, or may not be asked at all: their people are then found one by
-- one. It is called only in workspaces that have an owner of the key, an absence or a limit, and its plans are kept.
create function is_asked_with_care(
  in_workspace text, key_owner text, has_absences boolean, rule text, domains text[],
  row_numbers integer[], addresses text[], row_number integer
) returns boolean
language plpgsql stable as $$
begin
  -- One statement each: only those are set up that this workspace needs.
  if rule = 'members' and exists (
    select from unnest(row_numbers, addresses) as asked (n, email)
    where asked.n = row_number and not exists (
      select from members m
      where m.workspace_id = in_workspace and lower(m.email) = lower(asked.email) and m.joined_at is not null
    ) and not exists (
      select from group_members m where m.workspace_id = in_workspace and lower(m.email) = lower(asked.email)
    )
  ) then
    return true;
  end if;
  if rule = 'domains' and exists (
    select from unnest(row_numbers, addresses) as asked (n, email)
    where asked.n = row_number and lower(substring(asked.email from '[^@]*$')) <> all (domains)
  ) then
    return true;
  end if;
  if key_owner is not null and exists (
    select from unnest(row_numbers, addresses) as asked (n, email)
    where asked.n = row_number and person_of(asked.email) = person_of(key_owner)
  ) then
    return true;
  end if;
  return has_absences and exists (
    select from unnest(row_numbers, addresses) as asked (n, email)
    join absences b on b.person = person_of(asked.email) and b.workspace_id = in_workspace
      and b.starts_at <= clock_timestamp() and b.ends_at > clock_timestamp()
    where asked.n = row_number
  );
end;
$$;

-- As before, and without anybody who owned the key since the request was created.
create or replace function refuse_decision_without_votes() returns trigger
language plpgsql as $$
declare
  voting votings%rowtype;
  excluded text[];
begin
  select * into voting from votings v where v.workspace_id = new.workspace_id and v.approval_id = new.id;
  excluded := array_remove(voting.later_owners || array[voting.requester, voting.key_owner, (
    select person_of(k.owner_email) from api_keys k where k.workspace_id = new.workspace_id and k.id = new.key_id
  )] || array(
    select former.person
    from api_keys k
    cross join jsonb_each_text(k.former_owners) as former (person, until)
    where k.workspace_id = new.workspace_id and k.id = new.key_id and former.until::timestamptz > new.created_at
  ), null);
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
