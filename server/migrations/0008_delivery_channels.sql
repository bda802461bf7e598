-- A delivery names its channel, instead of "no endpoint means mail". Nothing here grows with what was delivered, except
-- the scan for the index: existing rows get a constant, and only those that are due are written (decision 35).

alter table deliveries add column channel text not null default 'webhook';

update deliveries set channel = 'mail' where state = 'due' and endpoint_id is null;

-- From here on each writer names the channel. 0009 names it on finished mails, and validates the check.
alter table deliveries
  alter column channel drop default,
  drop constraint deliveries_one_destination,
  add constraint deliveries_channel_has_destination check (
    case channel
      when 'webhook' then endpoint_id is not null and reviewer_id is null and recipient is null
      when 'mail' then endpoint_id is null and num_nonnulls(reviewer_id, recipient) = 1
      else false
    end
  ) not valid;

create function name_delivery_channel() returns trigger language plpgsql as $$
begin
  new.channel := case when new.endpoint_id is null then 'mail' else 'webhook' end;
  return new;
end;
$$;

-- An older process that still runs during an update of the service writes no channel.
create trigger deliveries_channel_named before insert on deliveries
  for each row when (new.channel is null) execute function name_delivery_channel();

-- Webhooks wait in a lane per endpoint. All other channels have a lane per workspace, and share this index.
drop index deliveries_due_to_mailbox;

create index deliveries_due_in_workspace on deliveries (channel, workspace_id, due_at, id)
  where state = 'due' and endpoint_id is null;
