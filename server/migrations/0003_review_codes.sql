-- Reviewing can ask for a code that is printed in the mail, for workspaces that want more than the link.

alter table workspaces
  add column review_code boolean not null default false;

alter table reviewers
  -- Whether this link asks for the code: as the workspace had it when the mail was made, for only then it is printed.
  add column needs_code boolean not null default false,
  -- Codes typed that were wrong. At ten the link is locked.
  add column code_tries smallint not null default 0 check (code_tries >= 0);
