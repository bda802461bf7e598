-- What the log and receipts rely on is held by PostgreSQL, also against the service's role: a request has one outcome,
-- nobody tells the log what its own rows tell, and a key by which receipts are believed never comes or goes untold. And an
-- index, by which a witness's newest cosignature is found however long it has been silent.

-- With the index that allows each kind once for a request, this allows one outcome in all: final rows never change.
create function refuse_other_outcome() returns trigger
language plpgsql as $$
declare
  state text;
begin
  select a.status into state from approvals a where a.workspace_id = new.workspace_id and a.id = new.approval_id;
  if new.kind is distinct from 'request.' || lower(state) then
    raise exception 'approval % is %, and has no event %', new.approval_id, state, new.kind
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end;
$$;

-- After the statement, because one statement writes the outcome and its event.
create trigger events_tell_the_outcome after insert on events
  for each row when (new.kind in ('request.approved', 'request.rejected', 'request.expired', 'request.cancelled'))
  execute function refuse_other_outcome();

-- Deleting leaves its fact after the request is gone. Everything else about requests is told by rows.
create function refuse_untrue_fact() returns trigger
language plpgsql as $$
begin
  if new.detail->>'kind' = 'request.deleted' and not exists (
    select from approvals a where a.workspace_id = new.workspace_id and a.id = new.subject
  ) then
    return null;
  end if;
  raise exception 'the log of % is not told %', new.workspace_id, new.detail->>'kind'
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger log_pending_tells_no_request after insert on log_pending
  for each row when (
    new.source = 'd' and new.detail->>'kind' ~ '^(request|activity|log|fact)\.|^checkpoint$'
  )
  execute function refuse_untrue_fact();

create index log_cosignatures_of_witness on log_cosignatures (tree_id, witness, size);

create function base64url(bytes bytea) returns text
language sql immutable strict as $$ select translate(encode(bytes, 'base64'), E'+/=\n', '-_') $$;

-- Passkeys sign in every workspace that knows their holder: whose member they are, in whose group, or who asked them.
create function log_passkey() returns trigger
language plpgsql as $$
declare
  key passkeys;
  holder text;
begin
  if tg_op = 'DELETE' then key := old; else key := new; end if;
  select p.email into holder from people p where p.id = key.person_id;
  insert into log_pending (workspace_id, source, subject, detail)
  select knowing.workspace_id, 'd', key.id, jsonb_build_object(
    'kind', case tg_op when 'DELETE' then 'passkey.removed' else 'passkey.added' end, 'email', holder,
    'credentialId', key.credential_id, 'publicKey', base64url(key.public_key), 'name', key.name
  )
  from (
    select workspace_id from members where lower(email) = lower(holder)
    union
    select workspace_id from group_members where lower(email) = lower(holder)
    union
    select workspace_id from reviewers where lower(email) = lower(holder)
    order by workspace_id
  ) as knowing;
  return null;
end;
$$;

create trigger passkeys_are_logged after insert or delete on passkeys
  for each row execute function log_passkey();

create function refuse_other_passkey() returns trigger
language plpgsql as $$
begin
  raise exception 'passkey % never becomes another', old.id using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger passkeys_stay_the_same before update on passkeys
  for each row when (
    new.id <> old.id or new.person_id <> old.person_id or new.credential_id <> old.credential_id
    or new.public_key <> old.public_key
  )
  execute function refuse_other_passkey();

-- A passkey is its holder's, and an address says who that is.
create function refuse_other_person() returns trigger
language plpgsql as $$
begin
  raise exception 'person % never becomes another', old.id using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger people_stay_the_same before update on people
  for each row when (new.id <> old.id or new.email <> old.email)
  execute function refuse_other_person();

-- In the log of each workspace. A key that follows another names it.
create function log_signing_key() returns trigger
language plpgsql as $$
declare
  former text;
  fact jsonb := jsonb_build_object('kid', new.id, 'x', base64url(new.public_key));
begin
  if tg_op = 'UPDATE' then
    fact := fact || '{"kind":"signing_key.revoked"}';
  else
    select k.id into former from signing_keys k where k.id <> new.id order by k.retired_at desc nulls first limit 1;
    fact := fact || case
      when former is null then '{"kind":"signing_key.made"}'::jsonb
      else jsonb_build_object('kind', 'signing_key.rotated', 'retired', former)
    end;
  end if;
  insert into log_pending (workspace_id, source, subject, detail) select id, 'd', new.id, fact from workspaces;
  return null;
end;
$$;

create trigger signing_keys_are_logged after insert on signing_keys
  for each row execute function log_signing_key();

create trigger signing_keys_revoking_is_logged after update of revoked_at on signing_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null)
  execute function log_signing_key();
