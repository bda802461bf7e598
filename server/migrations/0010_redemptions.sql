-- An executor redeems an approved action before it runs it, so that it runs once: of any number of racing calls the
-- primary key lets one through. A table of its own, because a final approval never changes.

create table redemptions (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  api_key_id text collate "C" not null,
  -- Names the call that redeemed: sent again with this key, it gets its answer again.
  idempotency_key text collate "C",
  redeemed_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, approval_id),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id),
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id)
);

create function refuse_redemption_without_approval() returns trigger language plpgsql as $$
begin
  if (
    select status from approvals where workspace_id = new.workspace_id and id = new.approval_id
  ) is distinct from 'APPROVED' then
    raise exception 'approval % is not approved: nobody may redeem it', new.approval_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end;
$$;

create trigger redemptions_of_approved before insert on redemptions
  for each row execute function refuse_redemption_without_approval();

create function refuse_change_of_redemption() returns trigger language plpgsql as $$
begin
  raise exception 'approval % was redeemed once and for all', old.approval_id
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger redemptions_are_final before update on redemptions
  for each row execute function refuse_change_of_redemption();
