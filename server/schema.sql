-- The schema that all migrations together make. Written by `npm run schema`; a test holds it to the truth.

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
  constraint api_keys_pkey PRIMARY KEY (workspace_id, id),
  constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint api_keys_default_approver_check CHECK ((default_approver <> ''::text)),
  constraint api_keys_digest_check CHECK ((octet_length(digest) = 32)),
  constraint api_keys_name_check CHECK ((name <> ''::text))
);
CREATE UNIQUE INDEX api_keys_digest_key ON public.api_keys USING btree (digest);

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
  constraint approvals_pkey PRIMARY KEY (workspace_id, id),
  constraint approvals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint approvals_workspace_id_group_id_fkey FOREIGN KEY (workspace_id, group_id) REFERENCES groups(workspace_id, id),
  constraint approvals_callback_has_host CHECK (((callback_url ~ '^https?://'::text) AND ((octet_length(split_part(callback_url, '/'::text, 3)) >= 1) AND (octet_length(split_part(callback_url, '/'::text, 3)) <= 261)))) NOT VALID,
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
CREATE TRIGGER approvals_created_are_searchable AFTER INSERT ON public.approvals REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION queue_created_for_search();
CREATE TRIGGER approvals_final_is_final BEFORE UPDATE ON public.approvals FOR EACH ROW WHEN ((old.status <> 'PENDING'::text)) EXECUTE FUNCTION refuse_change_of_final_approval();
CREATE TRIGGER approvals_resolved_are_searchable AFTER UPDATE ON public.approvals FOR EACH ROW WHEN ((new.status <> old.status)) EXECUTE FUNCTION queue_resolved_for_search();

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
  constraint events_pkey PRIMARY KEY (workspace_id, id),
  constraint events_workspace_id_approval_id_fkey FOREIGN KEY (workspace_id, approval_id) REFERENCES approvals(workspace_id, id),
  constraint events_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES endpoints(workspace_id, id),
  constraint events_workspace_id_reviewer_id_fkey FOREIGN KEY (workspace_id, reviewer_id) REFERENCES reviewers(workspace_id, id),
  constraint events_subject_of_kind CHECK (
CASE
    WHEN (kind = ANY (ARRAY['request.created'::text, 'request.approved'::text, 'request.rejected'::text, 'request.expired'::text, 'request.cancelled'::text, 'request.expiring'::text])) THEN ((approval_id IS NOT NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NULL))
    WHEN (kind = ANY (ARRAY['webhook.test'::text, 'endpoint.delivery_failed'::text, 'endpoint.failing'::text, 'endpoint.disabled'::text])) THEN ((approval_id IS NULL) AND (endpoint_id IS NOT NULL) AND (reviewer_id IS NULL))
    WHEN (kind = 'mail.failed'::text) THEN ((approval_id IS NOT NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NOT NULL))
    WHEN (kind = 'callback.failed'::text) THEN ((approval_id IS NOT NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NULL) AND (detail IS NOT NULL))
    WHEN (kind = ANY (ARRAY['person.signing_in'::text, 'person.passkey_added'::text, 'person.passkey_removed'::text, 'member.invited'::text])) THEN ((approval_id IS NULL) AND (endpoint_id IS NULL) AND (reviewer_id IS NULL) AND (detail IS NOT NULL))
    ELSE false
END) NOT VALID
);
CREATE INDEX events_mail_failed ON public.events USING btree (workspace_id, created_at) WHERE (kind = 'mail.failed'::text);
CREATE UNIQUE INDEX events_once_per_approval ON public.events USING btree (approval_id, kind, COALESCE(reviewer_id, ''::text), workspace_id) WHERE (approval_id IS NOT NULL);

create table group_members (
  workspace_id text collate "C" not null,
  group_id text collate "C" not null,
  email text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  constraint group_members_workspace_id_group_id_fkey FOREIGN KEY (workspace_id, group_id) REFERENCES groups(workspace_id, id)
);
CREATE UNIQUE INDEX group_members_key ON public.group_members USING btree (workspace_id, group_id, lower(email));

create table groups (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('grp_'::text),
  key text collate "C" not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  deleted_at timestamp(3) with time zone,
  last_deleted_at timestamp(3) with time zone,
  constraint groups_key_key UNIQUE (workspace_id, key),
  constraint groups_pkey PRIMARY KEY (workspace_id, id),
  constraint groups_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint groups_deleted_is_remembered CHECK (((deleted_at IS NULL) OR (last_deleted_at IS NOT NULL))),
  constraint groups_key_check CHECK ((key ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text)),
  constraint groups_name_check CHECK ((name <> ''::text))
);
CREATE INDEX groups_deleted_lately ON public.groups USING btree (last_deleted_at) WHERE (last_deleted_at IS NOT NULL);

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

create table migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (name)
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

create table people (
  id text collate "C" not null default new_id('per_'::text),
  email text not null,
  created_at timestamp(3) with time zone not null default now_ms(),
  constraint people_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX people_email_key ON public.people USING btree (lower(email));

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
CREATE UNIQUE INDEX reviewers_token_digest_key ON public.reviewers USING btree (token_digest);

create table search_backlog (
  workspace_id text collate "C" not null,
  before_id text collate "C" not null,
  has_words boolean not null default false,
  constraint search_backlog_pkey PRIMARY KEY (workspace_id),
  constraint search_backlog_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table search_queue (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null
);
CREATE INDEX search_queue_order ON public.search_queue USING btree (approval_id, workspace_id);

create table search_seasons (
  workspace_id text collate "C" not null,
  season text collate "C" not null,
  number integer not null,
  indexed integer not null default 0,
  constraint search_seasons_pkey PRIMARY KEY (workspace_id, season),
  constraint search_seasons_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE UNIQUE INDEX search_seasons_number_key ON public.search_seasons USING btree (number);

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
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_plan_fkey FOREIGN KEY (plan) REFERENCES plans(name),
  constraint workspaces_cap_check CHECK ((cap >= 0)),
  constraint workspaces_default_approver_check CHECK ((default_approver <> ''::text)),
  constraint workspaces_expiry_minutes_check CHECK (((expiry_minutes >= 5) AND (expiry_minutes <= 10080))),
  constraint workspaces_included_check CHECK ((included >= 0)),
  constraint workspaces_name_check CHECK ((name <> ''::text)),
  constraint workspaces_reminder_percent_check CHECK (((reminder_percent >= 1) AND (reminder_percent <= 50)))
);
