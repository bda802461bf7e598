-- A migration says which older programs work beside the schema that it makes, and the database keeps that: a program that
-- doesn't know the migration reads there whether it may go on.
-- works beside: 0032
alter table migrations
  -- The number of the newest migration of the oldest such program. Null: no program from before this migration.
  add column works_beside text check (works_beside ~ '^[0-9]{4}$');
