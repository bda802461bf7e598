-- Marks the workspace that a first start on one machine made, until a service starts for others on this database. Only
-- there may the terminal decide. Databases of before stay unmarked: what they have served is not known.

alter table workspaces add column is_trial boolean not null default false;
