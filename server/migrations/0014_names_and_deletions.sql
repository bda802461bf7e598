-- Lets endpoints have a name, and lets groups and endpoints be deleted. Their rows stay, because requests and deliveries
-- point to them and must remain readable.

alter table endpoints
  add column name text,
  add column deleted_at timestamptz(3),
  add constraint endpoints_name_check check (name <> ''),
  add constraint endpoints_deleted_is_disabled check (deleted_at is null or disabled_at is not null);

alter table groups add column deleted_at timestamptz(3);
