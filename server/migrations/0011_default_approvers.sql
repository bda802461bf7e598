-- Whom to ask when an agent names nobody: for a workspace, and for a single key, whose own one wins. An address or
-- group:<key>, as callers write it: a group that is gone is then an error that names it, and never somebody else.

alter table workspaces
  add column default_approver text check (default_approver <> '');

alter table api_keys
  add column default_approver text check (default_approver <> '');
