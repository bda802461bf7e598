-- The service's role may write any head into a log's row, because it grows logs. From now on a head bears a seal, which
-- nobody can make without SECRET_KEY, and a log whose head bears none of ours is neither grown nor signed.
alter table log_trees
  add column seal bytea check (octet_length(seal) = 32),
  -- Which key of SECRET_KEY made the seal.
  add column sealed_by text;
