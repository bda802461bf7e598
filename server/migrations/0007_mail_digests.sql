-- Many requests to one person at once leave in one mail: how busy each mailbox is, and which deliveries leave together.

create table mailboxes (
  workspace_id text collate "C" not null references workspaces (id),
  -- In lower case, as addresses are compared.
  address text not null,
  -- Each mail moves it on by the interval between mails. The further ahead it is, the fewer may leave at once.
  busy_until timestamptz(3) not null,
  primary key (workspace_id, address)
);

alter table deliveries
  -- Set while a mail is held for the next digest to this mailbox, and kept on those that leave in one.
  add column mailbox text,
  -- The first delivery of the digest.
  add column digest_id text collate "C",
  add constraint deliveries_digest_of_mailbox check (digest_id is null or mailbox is not null),
  add constraint deliveries_held_for_reviewer check (mailbox is null or reviewer_id is not null);

create index deliveries_held on deliveries (mailbox, workspace_id, id)
  where state = 'due' and mailbox is not null and digest_id is null;

create index deliveries_of_digest on deliveries (digest_id, workspace_id, id) where digest_id is not null;
