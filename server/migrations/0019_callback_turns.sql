-- Callbacks take turns by workspace first, and then by host: a workspace with thousands of hosts costs others nothing.
-- Failed ones are found for the dashboard. One event may go to one person through several channels (decision 35).

create index deliveries_due_to_hosts on deliveries (workspace_id, recipient collate "C", due_at, id)
  where state = 'due' and channel = 'callback';

create index deliveries_failed_callbacks on deliveries (workspace_id, id)
  where state = 'failed' and channel = 'callback';

-- The one over all rows: it takes seconds for each million of them, and nothing is written to the table meanwhile.
create unique index deliveries_channel_destination_key
  on deliveries (event_id, coalesce(endpoint_id, reviewer_id, recipient), channel, workspace_id);

-- From here on nothing can be read either, so this comes last.
drop index deliveries_due_to_host;
drop index deliveries_destination_key;
alter index deliveries_channel_destination_key rename to deliveries_destination_key;
