-- The schema that all migrations together make. Written by `npm run schema`; a test holds it to the truth.

CREATE OR REPLACE FUNCTION public.base64url(bytes bytea)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$ select translate(encode(bytes, 'base64'), E'+/=\n', '-_') $function$
;

CREATE OR REPLACE FUNCTION public.delete_old_requests(workspace text, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.is_asked_with_care(in_workspace text, key_owner text, has_absences boolean, rule text, domains text[], row_numbers integer[], addresses text[], row_number integer)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.is_push_used()
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (EXISTS (SELECT FROM push_subscriptions))
;

CREATE OR REPLACE FUNCTION public.is_pushed_to(row_numbers integer[], addresses text[], row_number integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (EXISTS (SELECT FROM (UNNEST(is_pushed_to.row_numbers, is_pushed_to.addresses) asked(n, address) JOIN push_subscriptions p ON ((p.email = lower(asked.address)))) WHERE (asked.n = is_pushed_to.row_number)))
;

CREATE OR REPLACE FUNCTION public.is_quiet(settings person_settings)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN COALESCE(CASE WHEN ((settings).quiet_from < (settings).quiet_until) THEN ((((now() AT TIME ZONE (settings).time_zone))::time without time zone >= (settings).quiet_from) AND (((now() AT TIME ZONE (settings).time_zone))::time without time zone < (settings).quiet_until)) ELSE ((((now() AT TIME ZONE (settings).time_zone))::time without time zone >= (settings).quiet_from) OR (((now() AT TIME ZONE (settings).time_zone))::time without time zone < (settings).quiet_until)) END, false)
;

CREATE OR REPLACE FUNCTION public.keep_former_owner()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.former_owners := old.former_owners || jsonb_build_object(person_of(old.owner_email), clock_timestamp());
  return new;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.log_activity()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into log_pending (workspace_id, source, subject) values (new.workspace_id, 'a', new.id);
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.log_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into log_pending (workspace_id, source, subject)
  select workspace_id, 'e', id from added
  where approval_id is not null and kind not in ('mail.failed', 'callback.failed', 'request.expiring', 'request.reminded');
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.log_home()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  cluster text;
  timeline text;
begin
  if has_function_privilege('pg_control_system()', 'execute') then
    cluster := (select system_identifier from pg_control_system());
  end if;
  if has_function_privilege('pg_current_wal_lsn()', 'execute')
    and has_function_privilege('pg_walfile_name(pg_lsn)', 'execute') then
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  end if;
  return concat_ws('/', coalesce(cluster, '-'), (
    select oid from pg_database where datname = current_database()
  ), coalesce(timeline, '-'));
end;
$function$
;

CREATE OR REPLACE FUNCTION public.log_opening()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into log_pending (workspace_id, source, subject) values (new.workspace_id, 'o', new.id);
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.log_passkey()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.log_redemption()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into log_pending (workspace_id, source, subject) values (new.workspace_id, 'r', new.approval_id);
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.log_signing_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.look_for_push()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update workspaces set looks_for_push = true where not looks_for_push;
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.mail_wait(workspace text, address text, asked_group text, allowed text[])
 RETURNS interval
 LANGUAGE sql
 STABLE
RETURN make_interval(mins => COALESCE((CASE WHEN (EXISTS (SELECT FROM person_settings s WHERE (s.email = lower(mail_wait.address)))) THEN (SELECT s.mail_after_minutes FROM person_settings s WHERE ((s.email = lower(mail_wait.address)) AND (NOT is_quiet(s.*)) AND ((((mail_wait.allowed IS NULL) OR ('push'::text = ANY (mail_wait.allowed))) AND (EXISTS (SELECT FROM push_subscriptions p WHERE (p.email = lower(mail_wait.address))))) OR (s.uses_slack AND ((mail_wait.allowed IS NULL) OR (mail_wait.allowed && ARRAY['slack'::text, 'slack_link'::text])) AND (EXISTS (SELECT FROM (slack_connections c JOIN slack_accounts a ON (((a.team_id = c.team_id) AND (a.app_id = c.app_id) AND (a.email = lower(mail_wait.address))))) WHERE ((c.workspace_id = mail_wait.workspace) AND (c.broken_at IS NULL) AND ((a.source = 'linked'::text) OR c.matches_email)))))))) ELSE (SELECT g.mail_after_minutes FROM group_channels g WHERE ((g.workspace_id = mail_wait.workspace) AND (g.group_id = mail_wait.asked_group) AND (((g.teams_sealed IS NOT NULL) AND ((mail_wait.allowed IS NULL) OR ('teams'::text = ANY (mail_wait.allowed)))) OR ((g.slack_channel IS NOT NULL) AND ((mail_wait.allowed IS NULL) OR (mail_wait.allowed && ARRAY['slack'::text, 'slack_link'::text])) AND (EXISTS (SELECT FROM slack_connections c WHERE ((c.workspace_id = mail_wait.workspace) AND (c.broken_at IS NULL)))))))) END)::integer, 0))
;

CREATE OR REPLACE FUNCTION public.name_delivery_channel()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.channel := case when new.endpoint_id is null then 'mail' else 'webhook' end;
  return new;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.new_id(prefix text)
 RETURNS text
 LANGUAGE sql
RETURN ((prefix || lpad(to_hex((floor((EXTRACT(epoch FROM now()) * (1000)::numeric)))::bigint), 12, '0'::text)) || "right"(replace((gen_random_uuid())::text, '-'::text, ''::text), 20))
;

CREATE OR REPLACE FUNCTION public.now_ms()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
RETURN date_trunc('milliseconds'::text, now())
;

CREATE OR REPLACE FUNCTION public.person_of(email text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(lower(email), '^([^+@]+)[+][^@]*@'::text, '\1@'::text)
;

CREATE OR REPLACE FUNCTION public.queue_channel_news()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into channel_news (workspace_id, approval_id, asks) values (new.workspace_id, new.id, tg_op = 'INSERT');
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.queue_checks_of_group_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.queue_checks_of_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.queue_created_for_search()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into search_queue (workspace_id, approval_id) select workspace_id, id from created;
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.queue_resolved_for_search()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into search_queue (workspace_id, approval_id) values (new.workspace_id, new.id);
  return null;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_approval_without_signatures()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from evidence e
    where e.workspace_id = new.workspace_id and e.approval_id = new.id and e.verdict = 'approve'
      and e.signature is not null and person_of(e.email) = person_of(new.resolved_by_email)
  ) and not exists (
    select from votes v
    join votings g on g.workspace_id = v.workspace_id and g.approval_id = v.approval_id and g.revision = v.revision
    where v.workspace_id = new.workspace_id and v.approval_id = new.id and v.verdict = 'approve'
      and not exists (
        select from evidence e
        where e.workspace_id = v.workspace_id and e.approval_id = v.approval_id and e.revision = v.revision
          and e.voter = v.voter and e.signature is not null
      )
  ) then
    return new;
  end if;
  raise exception 'approval % needs signatures', new.id using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_change_of_evidence()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the evidence of approval % never changes', old.approval_id using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_change_of_final_approval()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'approval % is final (%): nothing about it may change', old.id, old.status
    using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_change_of_redemption()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'approval % was redeemed once and for all', old.approval_id
    using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_decision_without_votes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_evidence_alone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_more_of_final()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_other_outcome()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_other_passkey()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'passkey % never becomes another', old.id using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_other_person()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'person % never becomes another', old.id using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_redemption_without_approval()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (
    select status from approvals where workspace_id = new.workspace_id and id = new.approval_id
  ) is distinct from 'APPROVED' then
    raise exception 'approval % is not approved: nobody may redeem it', new.approval_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_revived_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'signing key % was retired or revoked for good', old.id
    using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_seats_taken_away()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'approval % is decided by the people who have seats', old.id
    using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_shrinking_tree()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the log % only grows', old.origin using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_untrue_fact()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.detail->>'kind' = 'request.deleted' and not exists (
    select from approvals a where a.workspace_id = new.workspace_id and a.id = new.subject
  ) then
    return null;
  end if;
  raise exception 'the log of % is not told %', new.workspace_id, new.detail->>'kind'
    using errcode = 'integrity_constraint_violation';
end;
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_vote_of_somebody_used()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_voting_set_back()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the votes on approval % are not set back', old.approval_id
    using errcode = 'integrity_constraint_violation';
end;
$function$
;

create table absences (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('abs_'::text),
  person text not null,
  email text not null,
  delegate_email text not null,
  starts_at timestamp(3) with time zone not null,
  ends_at timestamp(3) with time zone not null,
  begun_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now_ms(),
  begun_up_to text collate "C",
  ended_at timestamp(3) with time zone,
  constraint absences_pkey PRIMARY KEY (workspace_id, id),
  constraint absences_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint absences_end_after_start CHECK ((ends_at > starts_at))
);
CREATE INDEX absences_of_person ON public.absences USING btree (person, workspace_id, ends_at);
CREATE INDEX absences_to_begin ON public.absences USING btree (starts_at) WHERE (begun_at IS NULL);
CREATE INDEX absences_to_end ON public.absences USING btree (ends_at) WHERE (ended_at IS NULL);

create table activity (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('act_'::text),
  actor_email text,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null default now_ms(),
  constraint activity_pkey PRIMARY KEY (workspace_id, id),
  constraint activity_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE TRIGGER activity_is_logged AFTER INSERT ON public.activity FOR EACH ROW EXECUTE FUNCTION log_activity();

create table api_keys (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('key_'::text),
  name text not null,
  digest bytea not null,
  last_four text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  default_approver text,
  owner_email text,
  former_owners jsonb not null default '{}'::jsonb,
  constraint api_keys_pkey PRIMARY KEY (workspace_id, id),
  constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint api_keys_default_approver_check CHECK ((default_approver <> ''::text)),
  constraint api_keys_digest_check CHECK ((octet_length(digest) = 32)),
  constraint api_keys_name_check CHECK ((name <> ''::text)),
  constraint api_keys_owner_email_check CHECK ((owner_email <> ''::text))
);
CREATE UNIQUE INDEX api_keys_digest_key ON public.api_keys USING btree (digest);
CREATE TRIGGER api_keys_keep_former_owners BEFORE UPDATE OF owner_email ON public.api_keys FOR EACH ROW WHEN (((old.owner_email IS NOT NULL) AND (person_of(old.owner_email) IS DISTINCT FROM person_of(new.owner_email)))) EXECUTE FUNCTION keep_former_owner();

create table approval_words (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  words tsvector not null storage e,
  constraint approval_words_pkey PRIMARY KEY (workspace_id, approval_id),
  constraint approval_words_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX approval_words_search ON public.approval_words USING gin (words) WITH (fastupdate=off);

create table approvals (
  workspace_id text collate "C" not null,
  id text collate "C" not null,
  status text not null default 'PENDING'::text,
  summary text not null,
  payload text storage e,
  metadata text storage e,
  agent_state text storage e,
  edit text storage e,
  reasoning text,
  recent_actions text not null default '[]'::text,
  agent_name text,
  approver_email text,
  group_id text collate "C",
  group_key text,
  group_name text,
  idempotency_key text collate "C",
  body_digest bytea,
  created_at timestamp(3) with time zone not null default now_ms(),
  expires_at timestamp(3) with time zone not null,
  resolved_at timestamp(3) with time zone,
  resolved_by_email text,
  resolution_note text,
  remind_at timestamp(3) with time zone,
  callback_url text,
  key_id text collate "C",
  requested_by text,
  has_seats boolean not null default false,
  voting text,
  channels text[],
  has_channels boolean not null default false,
  audience text[],
  require_signature boolean,
  needs_signature boolean not null default false,
  approver_limit text,
  constraint approvals_pkey PRIMARY KEY (workspace_id, id),
  constraint approvals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint approvals_workspace_id_group_id_fkey FOREIGN KEY (workspace_id, group_id) REFERENCES groups(workspace_id, id),
  constraint approvals_audience_named CHECK (((cardinality(audience) >= 1) AND (cardinality(audience) <= 5))) NOT VALID,
  constraint approvals_callback_has_host CHECK (((callback_url ~ '^https?://'::text) AND ((octet_length(split_part(callback_url, '/'::text, 3)) >= 1) AND (octet_length(split_part(callback_url, '/'::text, 3)) <= 261)))) NOT VALID,
  constraint approvals_channels_known CHECK (((channels <@ ARRAY['mail'::text, 'push'::text, 'slack'::text, 'slack_link'::text, 'teams'::text]) AND ('mail'::text = ANY (channels)))) NOT VALID,
  constraint approvals_edit_of_approval CHECK (((edit IS NULL) OR (status = 'APPROVED'::text))),
  constraint approvals_expire_on_time CHECK (((status <> 'EXPIRED'::text) OR (resolved_at = expires_at))),
  constraint approvals_final_has_time CHECK (((status = 'PENDING'::text) = (resolved_at IS NULL))),
  constraint approvals_key_with_digest CHECK (((idempotency_key IS NULL) = (body_digest IS NULL))),
  constraint approvals_note_of_decision CHECK (((resolution_note IS NULL) OR (status = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text])))),
  constraint approvals_one_approver CHECK (((num_nonnulls(approver_email, group_id) = 1) AND (num_nonnulls(group_id, group_key, group_name) = ANY (ARRAY[0, 3])))),
  constraint approvals_person_decides CHECK (((status = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text])) = (resolved_by_email IS NOT NULL))),
  constraint approvals_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'APPROVED'::text, 'REJECTED'::text, 'EXPIRED'::text, 'CANCELLED'::text])))
);
CREATE INDEX approvals_agent ON public.approvals USING btree (COALESCE(agent_name, ''::text), status, workspace_id, id);
CREATE INDEX approvals_approver ON public.approvals USING btree (COALESCE(group_id, lower(approver_email)), status, workspace_id, id);
CREATE INDEX approvals_expiring ON public.approvals USING btree (expires_at) WHERE (status = 'PENDING'::text);
CREATE INDEX approvals_expiring_in_workspace ON public.approvals USING btree (workspace_id, expires_at, id) WHERE (status = 'PENDING'::text);
CREATE UNIQUE INDEX approvals_idempotency_key ON public.approvals USING btree (workspace_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX approvals_reminding ON public.approvals USING btree (remind_at) WHERE ((status = 'PENDING'::text) AND (remind_at IS NOT NULL));
CREATE INDEX approvals_status ON public.approvals USING btree (status, workspace_id, id);
CREATE TRIGGER approvals_created_are_news AFTER INSERT ON public.approvals FOR EACH ROW WHEN (new.has_channels) EXECUTE FUNCTION queue_channel_news();
CREATE TRIGGER approvals_created_are_searchable AFTER INSERT ON public.approvals REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION queue_created_for_search();
CREATE TRIGGER approvals_decided_by_votes BEFORE UPDATE ON public.approvals FOR EACH ROW WHEN ((new.has_seats AND (old.status = 'PENDING'::text) AND (new.status = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text])))) EXECUTE FUNCTION refuse_decision_without_votes();
CREATE TRIGGER approvals_final_is_final BEFORE UPDATE ON public.approvals FOR EACH ROW WHEN ((old.status <> 'PENDING'::text)) EXECUTE FUNCTION refuse_change_of_final_approval();
CREATE TRIGGER approvals_keep_their_seats BEFORE UPDATE OF has_seats ON public.approvals FOR EACH ROW WHEN ((old.has_seats AND (NOT new.has_seats))) EXECUTE FUNCTION refuse_seats_taken_away();
CREATE TRIGGER approvals_resolved_are_news AFTER UPDATE ON public.approvals FOR EACH ROW WHEN ((new.has_channels AND (new.status <> old.status))) EXECUTE FUNCTION queue_channel_news();
CREATE TRIGGER approvals_resolved_are_searchable AFTER UPDATE ON public.approvals FOR EACH ROW WHEN ((new.status <> old.status)) EXECUTE FUNCTION queue_resolved_for_search();
CREATE CONSTRAINT TRIGGER approvals_signed_where_needed AFTER UPDATE ON public.approvals DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.needs_signature AND (old.status = 'PENDING'::text) AND (new.status = 'APPROVED'::text))) EXECUTE FUNCTION refuse_approval_without_signatures();

create table attempts (
  workspace_id text collate "C" not null,
  delivery_id text collate "C" not null,
  number integer not null,
  started_at timestamp(3) with time zone not null default now_ms(),
  finished_at timestamp(3) with time zone,
  outcome text,
  http_status integer,
  response_start text,
  duration_ms integer,
  constraint attempts_pkey PRIMARY KEY (workspace_id, delivery_id, number),
  constraint attempts_workspace_id_delivery_id_fkey FOREIGN KEY (workspace_id, delivery_id) REFERENCES deliveries(workspace_id, id),
  constraint attempts_duration_ms_check CHECK ((duration_ms >= 0)),
  constraint attempts_number_check CHECK ((number >= 1)),
  constraint attempts_outcome_with_end CHECK (((outcome IS NULL) = (finished_at IS NULL)))
);

create table callback_notices (
  workspace_id text collate "C" not null,
  host text collate "C" not null,
  told_at timestamp(3) with time zone not null default now_ms(),
  constraint callback_notices_pkey PRIMARY KEY (workspace_id, host),
  constraint callback_notices_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table callback_secrets (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('sec_'::text),
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  expires_at timestamp(3) with time zone,
  constraint callback_secrets_pkey PRIMARY KEY (workspace_id, id),
  constraint callback_secrets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE UNIQUE INDEX callback_secrets_current ON public.callback_secrets USING btree (workspace_id) WHERE (expires_at IS NULL);

create table channel_messages (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('msg_'::text),
  approval_id text collate "C" not null,
  channel text not null,
  target text not null,
  group_id text collate "C",
  state text not null default 'due'::text,
  wanted integer not null default 1,
  drawn integer not null default 0,
  due_at timestamp(3) with time zone not null default now_ms(),
  attempts integer not null default 0,
  lease_token uuid,
  leased_until timestamp(3) with time zone,
  slack_channel text,
  slack_ts text,
  digest bytea,
  created_at timestamp(3) with time zone not null default now_ms(),
  arrived_at timestamp(3) with time zone,
  sent_at timestamp(3) with time zone,
  failed_at timestamp(3) with time zone,
  failure text,
  constraint channel_messages_pkey PRIMARY KEY (workspace_id, id),
  constraint channel_messages_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id),
  constraint channel_messages_attempts_check CHECK ((attempts >= 0)),
  constraint channel_messages_channel_check CHECK ((channel = ANY (ARRAY['push'::text, 'slack'::text, 'teams'::text]))),
  constraint channel_messages_drawn_of_wanted CHECK (((drawn >= 0) AND (drawn <= wanted))),
  constraint channel_messages_failed_with_reason CHECK (((failed_at IS NULL) = (failure IS NULL))),
  constraint channel_messages_lease_whole CHECK (((lease_token IS NULL) = (leased_until IS NULL))),
  constraint channel_messages_slack_place CHECK (((slack_channel IS NULL) = (slack_ts IS NULL))),
  constraint channel_messages_state_check CHECK ((state = ANY (ARRAY['due'::text, 'sent'::text, 'failed'::text, 'skipped'::text]))),
  constraint channel_messages_wanted_check CHECK ((wanted >= 1))
);
CREATE INDEX channel_messages_due ON public.channel_messages USING btree (channel, workspace_id, due_at, id) WHERE (state = 'due'::text);
CREATE UNIQUE INDEX channel_messages_target_key ON public.channel_messages USING btree (approval_id, channel, target, workspace_id);

create table channel_news (
  id bigint not null,
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  asks boolean not null default false,
  constraint channel_news_pkey PRIMARY KEY (id)
);

create table connection_codes (
  workspace_id text collate "C" not null,
  digest bytea not null,
  email text not null,
  client_digest bytea not null,
  client_name text not null,
  redirect_uri text not null,
  challenge text not null,
  api_key_id text collate "C",
  expires_at timestamp(3) with time zone not null,
  constraint connection_codes_pkey PRIMARY KEY (workspace_id, digest),
  constraint connection_codes_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES connections(workspace_id, api_key_id),
  constraint connection_codes_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint connection_codes_client_digest_check CHECK ((octet_length(client_digest) = 32)),
  constraint connection_codes_client_name_check CHECK ((client_name <> ''::text)),
  constraint connection_codes_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE UNIQUE INDEX connection_codes_digest_key ON public.connection_codes USING btree (digest);
CREATE INDEX connection_codes_expire ON public.connection_codes USING btree (expires_at);

create table connection_tokens (
  workspace_id text collate "C" not null,
  api_key_id text collate "C" not null,
  digest bytea not null,
  kind text not null,
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  constraint connection_tokens_pkey PRIMARY KEY (workspace_id, api_key_id, digest),
  constraint connection_tokens_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES connections(workspace_id, api_key_id),
  constraint connection_tokens_check CHECK (((used_at IS NULL) OR (kind = 'refresh'::text))),
  constraint connection_tokens_digest_check CHECK ((octet_length(digest) = 32)),
  constraint connection_tokens_kind_check CHECK ((kind = ANY (ARRAY['access'::text, 'refresh'::text])))
);
CREATE UNIQUE INDEX connection_tokens_digest_key ON public.connection_tokens USING btree (digest);

create table connections (
  workspace_id text collate "C" not null,
  api_key_id text collate "C" not null,
  email text not null,
  client_digest bytea not null,
  client_name text not null,
  redirect_host text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  redirect_uri text,
  constraint connections_pkey PRIMARY KEY (workspace_id, api_key_id),
  constraint connections_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id),
  constraint connections_client_digest_check CHECK ((octet_length(client_digest) = 32)),
  constraint connections_client_name_check CHECK ((client_name <> ''::text))
);

create table daily_figures (
  workspace_id text collate "C" not null,
  day date not null,
  figures jsonb not null,
  constraint daily_figures_pkey PRIMARY KEY (workspace_id, day),
  constraint daily_figures_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table deliveries (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('dlv_'::text),
  event_id text collate "C" not null,
  endpoint_id text collate "C",
  reviewer_id text collate "C",
  state text not null default 'due'::text,
  due_at timestamp(3) with time zone not null default now_ms(),
  attempts integer not null default 0,
  lease_token uuid,
  leased_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now_ms(),
  finished_at timestamp(3) with time zone,
  recipient text,
  round integer not null default 1,
  attempts_before integer not null default 0,
  weight smallint not null default 1,
  mailbox text,
  digest_id text collate "C",
  channel text not null,
  constraint deliveries_pkey PRIMARY KEY (workspace_id, id),
  constraint deliveries_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES endpoints(workspace_id, id),
  constraint deliveries_workspace_id_event_id_fkey FOREIGN KEY (workspace_id, event_id) REFERENCES events(workspace_id, id),
  constraint deliveries_workspace_id_reviewer_id_fkey FOREIGN KEY (workspace_id, reviewer_id) REFERENCES reviewers(workspace_id, id),
  constraint deliveries_attempts_before_check CHECK ((attempts_before >= 0)),
  constraint deliveries_attempts_check CHECK ((attempts >= 0)),
  constraint deliveries_channel_has_destination CHECK (
CASE channel
    WHEN 'webhook'::text THEN ((endpoint_id IS NOT NULL) AND (reviewer_id IS NULL) AND (recipient IS NULL))
    WHEN 'mail'::text THEN ((endpoint_id IS NULL) AND (num_nonnulls(reviewer_id, recipient) = 1))
    WHEN 'callback'::text THEN ((endpoint_id IS NULL) AND (reviewer_id IS NULL) AND (recipient IS NOT NULL))
    ELSE false
END) NOT VALID,
  constraint deliveries_digest_of_mailbox CHECK (((digest_id IS NULL) OR (mailbox IS NOT NULL))),
  constraint deliveries_finished_has_time CHECK (((state = ANY (ARRAY['delivered'::text, 'failed'::text])) = (finished_at IS NOT NULL))),
  constraint deliveries_held_for_reviewer CHECK (((mailbox IS NULL) OR (reviewer_id IS NOT NULL))),
  constraint deliveries_lease_whole CHECK (((lease_token IS NULL) = (leased_until IS NULL))),
  constraint deliveries_round_check CHECK ((round >= 1)),
  constraint deliveries_state_check CHECK ((state = ANY (ARRAY['due'::text, 'delivered'::text, 'failed'::text, 'skipped'::text]))),
  constraint deliveries_weight_check CHECK ((weight >= 1))
);
CREATE UNIQUE INDEX deliveries_destination_key ON public.deliveries USING btree (event_id, COALESCE(endpoint_id, reviewer_id, recipient), channel, workspace_id);
CREATE INDEX deliveries_due_in_workspace ON public.deliveries USING btree (channel, workspace_id, due_at, id) WHERE ((state = 'due'::text) AND (endpoint_id IS NULL));
CREATE INDEX deliveries_due_to_endpoint ON public.deliveries USING btree (endpoint_id, due_at, id) WHERE ((state = 'due'::text) AND (endpoint_id IS NOT NULL));
CREATE INDEX deliveries_due_to_hosts ON public.deliveries USING btree (workspace_id, recipient COLLATE "C", due_at, id) WHERE ((state = 'due'::text) AND (channel = 'callback'::text));
CREATE INDEX deliveries_failed_callbacks ON public.deliveries USING btree (workspace_id, id) WHERE ((state = 'failed'::text) AND (channel = 'callback'::text));
CREATE INDEX deliveries_failed_mails ON public.deliveries USING btree (workspace_id, id) WHERE ((state = 'failed'::text) AND (channel = 'mail'::text) AND (reviewer_id IS NOT NULL));
CREATE INDEX deliveries_held ON public.deliveries USING btree (mailbox, workspace_id, id) WHERE ((state = 'due'::text) AND (mailbox IS NOT NULL) AND (digest_id IS NULL));
CREATE INDEX deliveries_of_digest ON public.deliveries USING btree (digest_id, workspace_id, id) WHERE (digest_id IS NOT NULL);
CREATE INDEX deliveries_of_endpoint ON public.deliveries USING btree (endpoint_id, id) WHERE (endpoint_id IS NOT NULL);
CREATE INDEX deliveries_of_reviewer ON public.deliveries USING btree (reviewer_id) WHERE (reviewer_id IS NOT NULL);
CREATE INDEX deliveries_unsuccessful ON public.deliveries USING btree (workspace_id, id) WHERE (state = ANY (ARRAY['failed'::text, 'skipped'::text]));
CREATE INDEX deliveries_unsuccessful_of_endpoint ON public.deliveries USING btree (endpoint_id, id) WHERE ((state = ANY (ARRAY['failed'::text, 'skipped'::text])) AND (endpoint_id IS NOT NULL));
CREATE TRIGGER deliveries_channel_named BEFORE INSERT ON public.deliveries FOR EACH ROW WHEN ((new.channel IS NULL)) EXECUTE FUNCTION name_delivery_channel();

create table endpoint_secrets (
  workspace_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null default new_id('sec_'::text),
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  expires_at timestamp(3) with time zone,
  constraint endpoint_secrets_pkey PRIMARY KEY (workspace_id, endpoint_id, id),
  constraint endpoint_secrets_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES endpoints(workspace_id, id)
);

create table endpoints (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('we_'::text),
  url text not null,
  event_kinds text[],
  created_at timestamp(3) with time zone not null default now_ms(),
  disabled_at timestamp(3) with time zone,
  disabled_reason text,
  failing_since timestamp(3) with time zone,
  warned_at timestamp(3) with time zone,
  is_told boolean not null default false,
  told_at timestamp(3) with time zone,
  is_given_up boolean not null default false,
  name text,
  deleted_at timestamp(3) with time zone,
  constraint endpoints_pkey PRIMARY KEY (workspace_id, id),
  constraint endpoints_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint endpoints_deleted_is_disabled CHECK (((deleted_at IS NULL) OR (disabled_at IS NOT NULL))),
  constraint endpoints_disabled_with_reason CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
  constraint endpoints_event_kinds_check CHECK ((cardinality(event_kinds) > 0)),
  constraint endpoints_name_check CHECK ((name <> ''::text)),
  constraint endpoints_warned_of_failing CHECK (((warned_at IS NULL) OR (failing_since IS NOT NULL)))
);

create table events (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('evt_'::text),
  approval_id text collate "C",
  kind text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  endpoint_id text collate "C",
  reviewer_id text collate "C",
  detail jsonb,
  voting text,
  constraint events_pkey PRIMARY KEY (workspace_id, id),
  constraint events_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id),
  constraint events_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES endpoints(workspace_id, id),
  constraint events_workspace_id_reviewer_id_fkey FOREIGN KEY (workspace_id, reviewer_id) REFERENCES reviewers(workspace_id, id),
  constraint events_subject_of_kind CHECK (
CASE
    WHEN (kind = ANY (ARRAY['request.created'::text, 'request.approved'::text, 'request.rejected'::text, 'request.expired'::text, 'request.cancelled'::text, 'request.expiring'::text, 'request.vote_recorded'::text, 'request.stage_entered'::text, 'request.changed'::text, 'request.escalated'::text, 'request.reassigned'::text, 'request.reminded'::text, 'request.unreachable'::text, 'request.stuck'::text])) THEN ((approval_id IS NOT NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NULL))
    WHEN (kind = ANY (ARRAY['webhook.test'::text, 'endpoint.delivery_failed'::text, 'endpoint.failing'::text, 'endpoint.disabled'::text])) THEN ((approval_id IS NULL) AND (endpoint_id IS NOT NULL) AND (reviewer_id IS NULL))
    WHEN (kind = 'mail.failed'::text) THEN ((approval_id IS NOT NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NOT NULL))
    WHEN (kind = 'callback.failed'::text) THEN ((approval_id IS NOT NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NULL) AND (detail IS NOT NULL))
    WHEN (kind = ANY (ARRAY['person.signing_in'::text, 'person.passkey_added'::text, 'person.passkey_removed'::text, 'member.invited'::text, 'owner.passkey_added'::text, 'log.checkpoint'::text, 'log.contradicted'::text])) THEN ((approval_id IS NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NULL) AND (detail IS NOT NULL))
    ELSE false
END) NOT VALID
);
CREATE INDEX events_mail_failed ON public.events USING btree (workspace_id, created_at) WHERE (kind = 'mail.failed'::text);
CREATE INDEX events_of_reviewer ON public.events USING btree (reviewer_id) WHERE (reviewer_id IS NOT NULL);
CREATE UNIQUE INDEX events_once_per_approval ON public.events USING btree (approval_id, kind, (
CASE
    WHEN (kind = ANY (ARRAY['request.vote_recorded'::text, 'request.stage_entered'::text, 'request.changed'::text, 'request.escalated'::text, 'request.reassigned'::text, 'request.reminded'::text, 'request.unreachable'::text, 'request.stuck'::text])) THEN id
    ELSE COALESCE(reviewer_id, ''::text)
END), workspace_id) WHERE (approval_id IS NOT NULL);
CREATE INDEX events_owner_notices ON public.events USING btree (workspace_id, created_at) WHERE (kind = ANY (ARRAY['request.unreachable'::text, 'request.stuck'::text]));
CREATE TRIGGER events_are_logged AFTER INSERT ON public.events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION log_events();
CREATE TRIGGER events_of_votes_while_pending AFTER INSERT ON public.events FOR EACH ROW WHEN ((new.kind = ANY (ARRAY['request.vote_recorded'::text, 'request.stage_entered'::text, 'request.changed'::text, 'request.escalated'::text, 'request.reassigned'::text]))) EXECUTE FUNCTION refuse_more_of_final();
CREATE TRIGGER events_tell_the_outcome AFTER INSERT ON public.events FOR EACH ROW WHEN ((new.kind = ANY (ARRAY['request.approved'::text, 'request.rejected'::text, 'request.expired'::text, 'request.cancelled'::text]))) EXECUTE FUNCTION refuse_other_outcome();

create table evidence (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  revision integer not null,
  voter text not null,
  email text not null,
  for_email text,
  verdict text not null,
  voted_at timestamp(3) with time zone not null,
  shown_version smallint not null,
  shown_digest bytea not null,
  opened_at timestamp(3) with time zone,
  open_ms bigint,
  amr text[] not null,
  address text,
  user_agent text,
  page text,
  credential_id text collate "C",
  statement text,
  authenticator_data bytea,
  client_data bytea,
  signature bytea,
  constraint evidence_pkey PRIMARY KEY (workspace_id, approval_id, revision, voter),
  constraint evidence_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id),
  constraint evidence_whole CHECK (((revision >= 1) AND (verdict = ANY ('{approve,reject}'::text[])) AND (octet_length(shown_digest) = 32) AND (open_ms >= 0) AND (cardinality(amr) > 0) AND (num_nonnulls(credential_id, statement, authenticator_data, client_data, signature) = ANY ('{0,5}'::integer[]))))
);
CREATE TRIGGER evidence_comes_with_its_vote AFTER INSERT ON public.evidence FOR EACH ROW EXECUTE FUNCTION refuse_evidence_alone();
CREATE TRIGGER evidence_never_changes BEFORE UPDATE ON public.evidence FOR EACH ROW EXECUTE FUNCTION refuse_change_of_evidence();

create table group_channels (
  workspace_id text collate "C" not null,
  group_id text collate "C" not null,
  slack_channel text,
  slack_channel_name text,
  teams_host text,
  teams_secret_key_id text,
  teams_sealed bytea,
  mail_after_minutes smallint,
  updated_at timestamp(3) with time zone not null default now_ms(),
  constraint group_channels_pkey PRIMARY KEY (workspace_id, group_id),
  constraint group_channels_workspace_id_group_id_fkey FOREIGN KEY (workspace_id, group_id) REFERENCES groups(workspace_id, id),
  constraint group_channels_mail_after_minutes_check CHECK (((mail_after_minutes >= 1) AND (mail_after_minutes <= 1440))),
  constraint group_channels_slack_channel_check CHECK ((slack_channel <> ''::text)),
  constraint group_channels_slack_named CHECK (((slack_channel IS NULL) = (slack_channel_name IS NULL))),
  constraint group_channels_teams_whole CHECK ((num_nonnulls(teams_host, teams_secret_key_id, teams_sealed) = ANY (ARRAY[0, 3])))
);

create table group_members (
  workspace_id text collate "C" not null,
  group_id text collate "C" not null,
  email text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  constraint group_members_pkey PRIMARY KEY (workspace_id, group_id, email),
  constraint group_members_workspace_id_group_id_fkey FOREIGN KEY (workspace_id, group_id) REFERENCES groups(workspace_id, id)
);
CREATE UNIQUE INDEX group_members_key ON public.group_members USING btree (workspace_id, group_id, lower(email));
CREATE TRIGGER group_members_added_are_checked AFTER INSERT ON public.group_members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_checks_of_group_members();
CREATE TRIGGER group_members_removed_are_checked AFTER DELETE ON public.group_members REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_checks_of_group_members();

create table groups (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('grp_'::text),
  key text collate "C" not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  deleted_at timestamp(3) with time zone,
  last_deleted_at timestamp(3) with time zone,
  requires_signature boolean not null default false,
  constraint groups_key_key UNIQUE (workspace_id, key),
  constraint groups_pkey PRIMARY KEY (workspace_id, id),
  constraint groups_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint groups_deleted_is_remembered CHECK (((deleted_at IS NULL) OR (last_deleted_at IS NOT NULL))),
  constraint groups_key_check CHECK ((key ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text)),
  constraint groups_name_check CHECK ((name <> ''::text))
);
CREATE INDEX groups_deleted_lately ON public.groups USING btree (last_deleted_at) WHERE (last_deleted_at IS NOT NULL);

create table log_checkpoints (
  tree_id integer not null,
  size bigint not null,
  note text not null,
  signing_key_id text collate "C" not null,
  signed_at timestamp(3) with time zone not null default now_ms(),
  constraint log_checkpoints_pkey PRIMARY KEY (tree_id, size),
  constraint log_checkpoints_signing_key_id_fkey FOREIGN KEY (signing_key_id) REFERENCES signing_keys(id),
  constraint log_checkpoints_tree_id_fkey FOREIGN KEY (tree_id) REFERENCES log_trees(id)
);

create table log_contradictions (
  tree_id integer not null,
  witness text not null,
  witnessed_size bigint not null,
  size bigint not null,
  told_at timestamp(3) with time zone not null default now_ms(),
  constraint log_contradictions_pkey PRIMARY KEY (tree_id, witness),
  constraint log_contradictions_tree_id_fkey FOREIGN KEY (tree_id) REFERENCES log_trees(id)
);

create table log_cosignatures (
  tree_id integer not null,
  size bigint not null,
  witness text not null,
  line text not null,
  cosigned_at timestamp(3) with time zone not null default now_ms(),
  constraint log_cosignatures_pkey PRIMARY KEY (tree_id, size, witness),
  constraint log_cosignatures_tree_id_size_fkey FOREIGN KEY (tree_id, size) REFERENCES log_checkpoints(tree_id, size)
);
CREATE INDEX log_cosignatures_of_witness ON public.log_cosignatures USING btree (tree_id, witness, size);

create table log_entries (
  tree_id integer not null,
  index bigint not null,
  entry text not null,
  leaf_hash bytea not null,
  constraint log_entries_pkey PRIMARY KEY (tree_id, index),
  constraint log_entries_tree_id_fkey FOREIGN KEY (tree_id) REFERENCES log_trees(id),
  constraint log_entries_index_check CHECK ((index >= 0)),
  constraint log_entries_leaf_hash_check CHECK ((octet_length(leaf_hash) = 32))
);

create table log_nodes (
  tree_id integer not null,
  level smallint not null,
  index bigint not null,
  hash bytea not null,
  constraint log_nodes_pkey PRIMARY KEY (tree_id, level, index),
  constraint log_nodes_tree_id_fkey FOREIGN KEY (tree_id) REFERENCES log_trees(id),
  constraint log_nodes_hash_check CHECK ((octet_length(hash) = 32)),
  constraint log_nodes_index_check CHECK ((index >= 0)),
  constraint log_nodes_level_check CHECK (((level >= 1) AND (level <= 7)))
);

create table log_openings (
  tree_id integer not null,
  index bigint not null,
  subject text collate "C" not null,
  approval_id text collate "C",
  salt bytea not null,
  fact text not null,
  constraint log_openings_pkey PRIMARY KEY (tree_id, index),
  constraint log_openings_tree_id_index_fkey FOREIGN KEY (tree_id, index) REFERENCES log_entries(tree_id, index),
  constraint log_openings_salt_check CHECK ((octet_length(salt) = 32))
);
CREATE INDEX log_openings_of_approval ON public.log_openings USING btree (approval_id, tree_id) WHERE (approval_id IS NOT NULL);
CREATE INDEX log_openings_of_others ON public.log_openings USING btree (subject, tree_id, index) WHERE (approval_id IS NULL);

create table log_pending (
  workspace_id text collate "C" not null,
  id bigint not null,
  source "char" not null,
  subject text collate "C" not null,
  detail jsonb,
  constraint log_pending_pkey PRIMARY KEY (workspace_id, id)
);
CREATE TRIGGER log_pending_tells_no_request AFTER INSERT ON public.log_pending FOR EACH ROW WHEN (((new.source = 'd'::"char") AND ((new.detail ->> 'kind'::text) ~ '^(request|activity|log|fact)\.|^checkpoint$'::text))) EXECUTE FUNCTION refuse_untrue_fact();

create table log_tellings (
  tree_id integer not null,
  size bigint not null,
  told_at timestamp(3) with time zone not null default now_ms(),
  constraint log_tellings_pkey PRIMARY KEY (tree_id),
  constraint log_tellings_tree_id_fkey FOREIGN KEY (tree_id) REFERENCES log_trees(id)
);

create table log_trees (
  id integer not null,
  workspace_id text collate "C",
  origin text not null,
  home text not null,
  size bigint not null default 0,
  root bytea not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  closed_at timestamp(3) with time zone,
  seal bytea,
  sealed_by text,
  constraint log_trees_origin_key UNIQUE (origin),
  constraint log_trees_pkey PRIMARY KEY (id),
  constraint log_trees_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint log_trees_root_check CHECK ((octet_length(root) = 32)),
  constraint log_trees_seal_check CHECK ((octet_length(seal) = 32)),
  constraint log_trees_size_check CHECK ((size >= 0))
);
CREATE UNIQUE INDEX log_trees_open ON public.log_trees USING btree (COALESCE(workspace_id, ''::text)) WHERE (closed_at IS NULL);
CREATE TRIGGER log_trees_only_grow BEFORE UPDATE ON public.log_trees FOR EACH ROW WHEN (((new.size < old.size) OR (new.origin <> old.origin) OR (new.workspace_id IS DISTINCT FROM old.workspace_id) OR (old.closed_at IS NOT NULL) OR ((new.size = old.size) AND (new.root <> old.root)))) EXECUTE FUNCTION refuse_shrinking_tree();

create table mailboxes (
  workspace_id text collate "C" not null,
  address text not null,
  busy_until timestamp(3) with time zone not null,
  constraint mailboxes_pkey PRIMARY KEY (workspace_id, address),
  constraint mailboxes_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table members (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('mem_'::text),
  email text not null,
  role text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  joined_at timestamp(3) with time zone default now_ms(),
  invited_by text,
  constraint members_pkey PRIMARY KEY (workspace_id, id),
  constraint members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'viewer'::text])))
);
CREATE INDEX members_email ON public.members USING btree (lower(email));
CREATE UNIQUE INDEX members_email_key ON public.members USING btree (workspace_id, lower(email));
CREATE TRIGGER members_added_are_checked AFTER INSERT ON public.members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_checks_of_members();
CREATE TRIGGER members_changed_are_checked AFTER UPDATE ON public.members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_checks_of_members();
CREATE TRIGGER members_removed_are_checked AFTER DELETE ON public.members REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_checks_of_members();

create table migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  works_beside text,
  constraint migrations_pkey PRIMARY KEY (name),
  constraint migrations_works_beside_check CHECK ((works_beside ~ '^[0-9]{4}$'::text))
);

create table monthly_usage (
  workspace_id text collate "C" not null,
  month date not null,
  requests integer not null,
  monthly_limit integer,
  granted integer not null,
  constraint monthly_usage_pkey PRIMARY KEY (workspace_id, month),
  constraint monthly_usage_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint monthly_usage_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  constraint monthly_usage_requests_check CHECK ((requests >= 0))
);

create table passkeys (
  id text collate "C" not null default new_id('psk_'::text),
  person_id text collate "C" not null,
  name text not null,
  credential_id text collate "C" not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}'::text[],
  created_at timestamp(3) with time zone not null default now_ms(),
  last_used_at timestamp(3) with time zone,
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id),
  constraint passkeys_name_check CHECK ((name <> ''::text))
);
CREATE UNIQUE INDEX passkeys_credential_key ON public.passkeys USING btree (credential_id);
CREATE INDEX passkeys_person ON public.passkeys USING btree (person_id);
CREATE TRIGGER passkeys_are_logged AFTER INSERT OR DELETE ON public.passkeys FOR EACH ROW EXECUTE FUNCTION log_passkey();
CREATE TRIGGER passkeys_stay_the_same BEFORE UPDATE ON public.passkeys FOR EACH ROW WHEN (((new.id <> old.id) OR (new.person_id <> old.person_id) OR (new.credential_id <> old.credential_id) OR (new.public_key <> old.public_key))) EXECUTE FUNCTION refuse_other_passkey();

create table people (
  id text collate "C" not null default new_id('per_'::text),
  email text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  constraint people_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX people_email_key ON public.people USING btree (lower(email));
CREATE TRIGGER people_stay_the_same BEFORE UPDATE ON public.people FOR EACH ROW WHEN (((new.id <> old.id) OR (new.email <> old.email))) EXECUTE FUNCTION refuse_other_person();

create table person_settings (
  email text not null,
  mail_after_minutes smallint,
  uses_slack boolean not null default true,
  quiet_from time without time zone,
  quiet_until time without time zone,
  time_zone text,
  updated_at timestamp(3) with time zone not null default now_ms(),
  constraint person_settings_pkey PRIMARY KEY (email),
  constraint person_settings_email_check CHECK ((email = lower(email))),
  constraint person_settings_mail_after_minutes_check CHECK (((mail_after_minutes >= 1) AND (mail_after_minutes <= 1440))),
  constraint person_settings_place_known CHECK (((time_zone IS NULL) OR (('2000-01-01 00:00:00+00'::timestamp with time zone AT TIME ZONE time_zone) IS NOT NULL))),
  constraint person_settings_quiet_span CHECK ((quiet_from <> quiet_until)),
  constraint person_settings_quiet_whole CHECK ((num_nonnulls(quiet_from, quiet_until, time_zone) = ANY (ARRAY[0, 3])))
);

create table plans (
  name text not null,
  included integer,
  has_overage boolean not null,
  cap integer,
  has_groups boolean not null,
  constraint plans_pkey PRIMARY KEY (name),
  constraint plans_cap_check CHECK ((cap >= 0)),
  constraint plans_included_check CHECK ((included >= 0))
);

create table push_identity (
  id boolean not null default true,
  public_key bytea not null,
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  constraint push_identity_pkey PRIMARY KEY (id),
  constraint push_identity_id_check CHECK (id),
  constraint push_identity_public_key_check CHECK ((octet_length(public_key) = 65))
);

create table push_subscriptions (
  id text collate "C" not null default new_id('psh_'::text),
  session_id text collate "C" not null,
  email text not null,
  endpoint text not null,
  public_key bytea not null,
  auth bytea not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  sent_at timestamp(3) with time zone,
  constraint push_subscriptions_pkey PRIMARY KEY (id),
  constraint push_subscriptions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  constraint push_subscriptions_auth_check CHECK ((octet_length(auth) = 16)),
  constraint push_subscriptions_email_check CHECK ((email = lower(email))),
  constraint push_subscriptions_public_key_check CHECK ((octet_length(public_key) = 65))
);
CREATE INDEX push_subscriptions_email ON public.push_subscriptions USING btree (email);
CREATE UNIQUE INDEX push_subscriptions_endpoint_key ON public.push_subscriptions USING btree (endpoint);
CREATE INDEX push_subscriptions_session ON public.push_subscriptions USING btree (session_id);
CREATE TRIGGER push_subscriptions_are_looked_for AFTER INSERT ON public.push_subscriptions FOR EACH STATEMENT EXECUTE FUNCTION look_for_push();

create table receipts (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  signing_key_id text collate "C" not null,
  jws text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  constraint receipts_pkey PRIMARY KEY (workspace_id, approval_id, signing_key_id),
  constraint receipts_signing_key_id_fkey FOREIGN KEY (signing_key_id) REFERENCES signing_keys(id),
  constraint receipts_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id)
);

create table redemptions (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  api_key_id text collate "C" not null,
  idempotency_key text collate "C",
  redeemed_at timestamp(3) with time zone not null default now_ms(),
  constraint redemptions_pkey PRIMARY KEY (workspace_id, approval_id),
  constraint redemptions_workspace_id_api_key_id_fkey FOREIGN KEY (workspace_id, api_key_id) REFERENCES api_keys(workspace_id, id),
  constraint redemptions_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id)
);
CREATE TRIGGER redemptions_are_final BEFORE UPDATE ON public.redemptions FOR EACH ROW EXECUTE FUNCTION refuse_change_of_redemption();
CREATE TRIGGER redemptions_are_logged AFTER INSERT ON public.redemptions FOR EACH ROW EXECUTE FUNCTION log_redemption();
CREATE TRIGGER redemptions_of_approved BEFORE INSERT ON public.redemptions FOR EACH ROW EXECUTE FUNCTION refuse_redemption_without_approval();

create table reviewers (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('rev_'::text),
  approval_id text collate "C" not null,
  email text not null,
  secret_key_id text not null,
  token_nonce bytea not null,
  token_digest bytea not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  needs_code boolean not null default false,
  code_tries smallint not null default 0,
  opened_at timestamp(3) with time zone,
  constraint reviewers_pkey PRIMARY KEY (workspace_id, id),
  constraint reviewers_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id),
  constraint reviewers_code_tries_check CHECK ((code_tries >= 0)),
  constraint reviewers_token_digest_check CHECK ((octet_length(token_digest) = 32))
);
CREATE UNIQUE INDEX reviewers_email_key ON public.reviewers USING btree (approval_id, lower(email), workspace_id);
CREATE INDEX reviewers_of_person ON public.reviewers USING btree (lower(email), id);
CREATE UNIQUE INDEX reviewers_token_digest_key ON public.reviewers USING btree (token_digest);
CREATE TRIGGER reviewers_opening_is_logged AFTER UPDATE OF opened_at ON public.reviewers FOR EACH ROW WHEN (((old.opened_at IS NULL) AND (new.opened_at IS NOT NULL))) EXECUTE FUNCTION log_opening();

create table revisions (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  number integer not null,
  payload text not null storage e,
  by_email text not null,
  created_at timestamp(3) with time zone not null,
  constraint revisions_pkey PRIMARY KEY (workspace_id, approval_id, number),
  constraint revisions_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES votings(workspace_id, approval_id),
  constraint revisions_number_check CHECK ((number >= 2))
);
CREATE TRIGGER revisions_of_pending AFTER INSERT ON public.revisions FOR EACH ROW EXECUTE FUNCTION refuse_more_of_final();

create table search_backlog (
  workspace_id text collate "C" not null,
  before_id text collate "C" not null,
  has_words boolean not null default false,
  constraint search_backlog_pkey PRIMARY KEY (workspace_id),
  constraint search_backlog_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table search_queue (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  id bigint not null,
  constraint search_queue_pkey PRIMARY KEY (approval_id, workspace_id, id)
);

create table search_seasons (
  workspace_id text collate "C" not null,
  season text collate "C" not null,
  number integer not null,
  indexed integer not null default 0,
  constraint search_seasons_pkey PRIMARY KEY (workspace_id, season),
  constraint search_seasons_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE UNIQUE INDEX search_seasons_number_key ON public.search_seasons USING btree (number);

create table seats (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  stage smallint not null,
  person text not null,
  voter text not null,
  person_email text not null,
  reviewer_id text collate "C" not null,
  group_id text collate "C",
  reason text not null,
  given_to text,
  created_at timestamp(3) with time zone not null default now_ms(),
  absence_ids text[],
  constraint seats_pkey PRIMARY KEY (workspace_id, approval_id, stage, person, voter),
  constraint seats_workspace_id_approval_id_stage_fkey FOREIGN KEY (workspace_id, approval_id, stage) REFERENCES stages(workspace_id, approval_id, number),
  constraint seats_workspace_id_reviewer_id_fkey FOREIGN KEY (workspace_id, reviewer_id) REFERENCES reviewers(workspace_id, id),
  constraint seats_reason_check CHECK ((reason = ANY (ARRAY['asked'::text, 'escalated'::text, 'away'::text, 'handed_over'::text])))
);
CREATE INDEX seats_of_reviewer ON public.seats USING btree (reviewer_id);
CREATE INDEX seats_of_voter ON public.seats USING btree (voter, workspace_id, approval_id);

create table sessions (
  id text collate "C" not null default new_id('ses_'::text),
  person_id text collate "C" not null,
  token_digest bytea not null,
  method text not null,
  user_agent text,
  address text,
  created_at timestamp(3) with time zone not null default now_ms(),
  last_seen_at timestamp(3) with time zone not null default now_ms(),
  expires_at timestamp(3) with time zone not null,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id),
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['code'::text, 'link'::text, 'passkey'::text, 'oidc'::text]))),
  constraint sessions_token_digest_check CHECK ((octet_length(token_digest) = 32))
);
CREATE INDEX sessions_person ON public.sessions USING btree (person_id);
CREATE UNIQUE INDEX sessions_token_digest_key ON public.sessions USING btree (token_digest);

create table sign_in_challenges (
  id text collate "C" not null default new_id('sic_'::text),
  kind text not null,
  person_id text collate "C",
  detail jsonb not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  expires_at timestamp(3) with time zone not null,
  constraint sign_in_challenges_pkey PRIMARY KEY (id),
  constraint sign_in_challenges_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id),
  constraint sign_in_challenges_kind_check CHECK ((kind = ANY (ARRAY['passkey_new'::text, 'passkey'::text, 'oidc'::text])))
);
CREATE INDEX sign_in_challenges_expiring ON public.sign_in_challenges USING btree (expires_at);

create table sign_in_secrets (
  id text collate "C" not null default new_id('sis_'::text),
  kind text not null,
  email text not null,
  secret_key_id text not null,
  nonce bytea not null,
  digest bytea,
  tries smallint not null default 0,
  created_at timestamp(3) with time zone not null default now_ms(),
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  constraint sign_in_secrets_pkey PRIMARY KEY (id),
  constraint sign_in_secrets_digest_check CHECK ((octet_length(digest) = 32)),
  constraint sign_in_secrets_kind_check CHECK ((kind = ANY (ARRAY['code'::text, 'link'::text]))),
  constraint sign_in_secrets_link_has_digest CHECK (((kind = 'link'::text) = (digest IS NOT NULL))),
  constraint sign_in_secrets_tries_check CHECK ((tries >= 0))
);
CREATE INDEX sign_in_secrets_email ON public.sign_in_secrets USING btree (lower(email), created_at);
CREATE INDEX sign_in_secrets_expiring ON public.sign_in_secrets USING btree (expires_at);
CREATE UNIQUE INDEX sign_in_secrets_link_key ON public.sign_in_secrets USING btree (digest) WHERE (kind = 'link'::text);

create table signing_keys (
  id text collate "C" not null,
  public_key bytea not null,
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  retired_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint signing_keys_pkey PRIMARY KEY (id),
  constraint signing_keys_public_key_check CHECK ((octet_length(public_key) = 32)),
  constraint signing_keys_revoked_is_retired CHECK (((revoked_at IS NULL) OR (retired_at IS NOT NULL)))
);
CREATE UNIQUE INDEX signing_keys_current ON public.signing_keys USING btree ((true)) WHERE (retired_at IS NULL);
CREATE TRIGGER signing_keys_are_logged AFTER INSERT ON public.signing_keys FOR EACH ROW EXECUTE FUNCTION log_signing_key();
CREATE TRIGGER signing_keys_revoking_is_logged AFTER UPDATE OF revoked_at ON public.signing_keys FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION log_signing_key();
CREATE TRIGGER signing_keys_stay_retired BEFORE UPDATE ON public.signing_keys FOR EACH ROW WHEN ((((old.retired_at IS NOT NULL) AND (new.retired_at IS DISTINCT FROM old.retired_at)) OR ((old.revoked_at IS NOT NULL) AND (new.revoked_at IS DISTINCT FROM old.revoked_at)) OR (new.id <> old.id) OR (new.public_key <> old.public_key))) EXECUTE FUNCTION refuse_revived_key();

create table slack_accounts (
  team_id text not null,
  slack_user_id text not null,
  email text not null,
  source text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  app_id text not null,
  constraint slack_accounts_pkey PRIMARY KEY (team_id, app_id, slack_user_id),
  constraint slack_accounts_email_check CHECK ((email = lower(email))),
  constraint slack_accounts_source_check CHECK ((source = ANY (ARRAY['linked'::text, 'email'::text])))
);
CREATE UNIQUE INDEX slack_accounts_email_key ON public.slack_accounts USING btree (email, team_id, app_id);

create table slack_connections (
  workspace_id text collate "C" not null,
  team_id text not null,
  team_name text not null,
  app_id text not null,
  bot_user_id text not null,
  mode text not null,
  secret_key_id text not null,
  sealed_bot_token bytea not null,
  sealed_app_token bytea,
  sealed_signing_secret bytea,
  matches_email boolean not null default false,
  shows_payload boolean not null default true,
  connected_by text,
  connected_at timestamp(3) with time zone not null default now_ms(),
  broken_at timestamp(3) with time zone,
  broken_reason text,
  constraint slack_connections_pkey PRIMARY KEY (workspace_id),
  constraint slack_connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint slack_connections_broken_with_reason CHECK (((broken_at IS NULL) = (broken_reason IS NULL))),
  constraint slack_connections_mode_check CHECK ((mode = ANY (ARRAY['socket'::text, 'http'::text]))),
  constraint slack_connections_proof_of_mode CHECK (
CASE mode
    WHEN 'socket'::text THEN (sealed_app_token IS NOT NULL)
    ELSE (sealed_signing_secret IS NOT NULL)
END)
);
CREATE INDEX slack_connections_team ON public.slack_connections USING btree (team_id, app_id);

create table slack_link_codes (
  digest bytea not null,
  person_id text collate "C" not null,
  email text not null,
  expires_at timestamp(3) with time zone not null,
  constraint slack_link_codes_pkey PRIMARY KEY (digest),
  constraint slack_link_codes_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id),
  constraint slack_link_codes_digest_check CHECK ((octet_length(digest) = 32)),
  constraint slack_link_codes_email_check CHECK ((email = lower(email)))
);
CREATE INDEX slack_link_codes_expiring ON public.slack_link_codes USING btree (expires_at);
CREATE INDEX slack_link_codes_person ON public.slack_link_codes USING btree (person_id);

create table stages (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  number smallint not null,
  notify text not null,
  group_id text collate "C",
  group_name text,
  required smallint not null,
  entered_at timestamp(3) with time zone,
  completed_at timestamp(3) with time zone,
  constraint stages_pkey PRIMARY KEY (workspace_id, approval_id, number),
  constraint stages_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES votings(workspace_id, approval_id),
  constraint stages_complete_once_entered CHECK (((completed_at IS NULL) OR (entered_at IS NOT NULL))),
  constraint stages_named_group CHECK (((group_id IS NULL) = (group_name IS NULL))),
  constraint stages_number_check CHECK (((number >= 1) AND (number <= 5))),
  constraint stages_required_check CHECK (((required >= 1) AND (required <= 20)))
);
CREATE TRIGGER stages_of_pending AFTER INSERT ON public.stages FOR EACH ROW EXECUTE FUNCTION refuse_more_of_final();

create table steps (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  stage smallint not null,
  number smallint not null,
  after_minutes integer not null,
  notify text not null,
  group_id text collate "C",
  due_at timestamp(3) with time zone,
  done_at timestamp(3) with time zone,
  outcome text,
  constraint steps_pkey PRIMARY KEY (workspace_id, approval_id, stage, number),
  constraint steps_workspace_id_approval_id_stage_fkey FOREIGN KEY (workspace_id, approval_id, stage) REFERENCES stages(workspace_id, approval_id, number),
  constraint steps_after_minutes_check CHECK ((after_minutes >= 1)),
  constraint steps_done_with_outcome CHECK (((done_at IS NULL) = (outcome IS NULL))),
  constraint steps_number_check CHECK (((number >= 1) AND (number <= 5))),
  constraint steps_outcome_check CHECK ((outcome = ANY (ARRAY['asked'::text, 'nobody_new'::text, 'moot'::text])))
);
CREATE INDEX steps_due ON public.steps USING btree (due_at) WHERE ((done_at IS NULL) AND (due_at IS NOT NULL));

create table votes (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  revision integer not null,
  stage smallint not null,
  person text not null,
  voter text not null,
  voter_email text not null,
  for_email text,
  verdict text not null,
  note text,
  via text not null,
  created_at timestamp(3) with time zone not null,
  constraint votes_pkey PRIMARY KEY (workspace_id, approval_id, revision, person),
  constraint votes_workspace_id_approval_id_stage_person_voter_fkey FOREIGN KEY (workspace_id, approval_id, stage, person, voter) REFERENCES seats(workspace_id, approval_id, stage, person, voter),
  constraint votes_for_another CHECK (((for_email IS NULL) = (person = voter))),
  constraint votes_revision_check CHECK ((revision >= 1)),
  constraint votes_verdict_check CHECK ((verdict = ANY (ARRAY['approve'::text, 'reject'::text]))),
  constraint votes_via_check CHECK ((via = ANY (ARRAY['link'::text, 'inbox'::text, 'slack'::text, 'teams'::text])))
);
CREATE UNIQUE INDEX votes_voter_key ON public.votes USING btree (approval_id, revision, voter, workspace_id);
CREATE TRIGGER votes_of_pending AFTER INSERT ON public.votes FOR EACH ROW EXECUTE FUNCTION refuse_more_of_final();
CREATE TRIGGER votes_use_nobody_twice BEFORE INSERT ON public.votes FOR EACH ROW EXECUTE FUNCTION refuse_vote_of_somebody_used();

create table voting_checks (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  constraint voting_checks_pkey PRIMARY KEY (workspace_id, approval_id),
  constraint voting_checks_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES votings(workspace_id, approval_id)
);

create table votings (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  requester text,
  key_owner text,
  later_owners text[] not null default '{}'::text[],
  approver_limit text not null,
  revision integer not null default 1,
  stage smallint not null default 1,
  escalated_at timestamp(3) with time zone,
  stuck_at timestamp(3) with time zone,
  unreachable_at timestamp(3) with time zone,
  constraint votings_pkey PRIMARY KEY (workspace_id, approval_id),
  constraint votings_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id),
  constraint votings_approver_limit_check CHECK ((approver_limit = ANY (ARRAY['anybody'::text, 'members'::text, 'domains'::text]))),
  constraint votings_revision_check CHECK ((revision >= 1)),
  constraint votings_stage_check CHECK ((stage >= 1))
);
CREATE INDEX votings_escalated ON public.votings USING btree (workspace_id, approval_id) WHERE (escalated_at IS NOT NULL);
CREATE INDEX votings_in_trouble ON public.votings USING btree (workspace_id, approval_id) WHERE ((stuck_at IS NOT NULL) OR (unreachable_at IS NOT NULL));
CREATE TRIGGER votings_change_while_pending AFTER UPDATE ON public.votings FOR EACH ROW WHEN (((new.revision <> old.revision) OR (new.stage <> old.stage) OR (new.later_owners <> old.later_owners))) EXECUTE FUNCTION refuse_more_of_final();
CREATE TRIGGER votings_of_pending AFTER INSERT ON public.votings FOR EACH ROW EXECUTE FUNCTION refuse_more_of_final();
CREATE TRIGGER votings_only_go_on BEFORE UPDATE ON public.votings FOR EACH ROW WHEN (((new.revision < old.revision) OR (NOT (new.later_owners @> old.later_owners)))) EXECUTE FUNCTION refuse_voting_set_back();

create table workspaces (
  id text collate "C" not null default new_id('ws_'::text),
  name text not null,
  plan text not null default 'unlimited'::text,
  included integer,
  cap integer,
  expiry_minutes integer not null default 1440,
  created_at timestamp(3) with time zone not null default now_ms(),
  reminder_percent integer default 10,
  review_code boolean not null default false,
  default_approver text,
  is_trial boolean not null default false,
  approver_limit text not null default 'anybody'::text,
  approver_limit_chosen boolean not null default false,
  approver_domains text[] not null default '{}'::text[],
  hand_over text not null default 'workspace'::text,
  absences_until timestamp(3) with time zone,
  has_channels boolean not null default false,
  looks_for_push boolean not null default is_push_used(),
  requires_signature boolean not null default false,
  receipt_hours integer not null default 24,
  retention_days integer,
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_plan_fkey FOREIGN KEY (plan) REFERENCES plans(name),
  constraint workspaces_approver_limit_check CHECK ((approver_limit = ANY (ARRAY['anybody'::text, 'members'::text, 'domains'::text]))),
  constraint workspaces_cap_check CHECK ((cap >= 0)),
  constraint workspaces_default_approver_check CHECK ((default_approver <> ''::text)),
  constraint workspaces_expiry_minutes_check CHECK (((expiry_minutes >= 5) AND (expiry_minutes <= 10080))),
  constraint workspaces_hand_over_check CHECK ((hand_over = ANY (ARRAY['off'::text, 'group'::text, 'workspace'::text]))),
  constraint workspaces_included_check CHECK ((included >= 0)),
  constraint workspaces_name_check CHECK ((name <> ''::text)),
  constraint workspaces_receipt_hours_check CHECK (((receipt_hours >= 1) AND (receipt_hours <= 8760))),
  constraint workspaces_reminder_percent_check CHECK (((reminder_percent >= 1) AND (reminder_percent <= 50))),
  constraint workspaces_retention_days_check CHECK (((retention_days >= 30) AND (retention_days <= 3650)))
);
