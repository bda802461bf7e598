-- Every table has a primary key. While a publication covers a table without one, PostgreSQL refuses to delete from it:
-- nobody could be removed from a group, and no word was indexed. Statements name rows by their keys, too.
--
-- Both tables are locked for as long as a small index takes to build, milliseconds for 10,000 rows. A group has at
-- most 100 members. The queue holds what no worker has indexed yet, a moment's requests; creates wait while it is
-- written anew, so after a long time without a worker, let one empty it first.
alter table group_members add primary key (workspace_id, group_id, email);

alter table search_queue add column id bigint not null generated always as identity;
-- In the order in which it is read, instead of the index that was there for that. A request may be queued twice.
alter table search_queue add primary key (approval_id, workspace_id, id);
drop index search_queue_order;
