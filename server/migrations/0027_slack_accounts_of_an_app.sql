-- A link between a Slack account and a person counts only for the app through which it was made. Whoever holds the secrets
-- of an app can forge what it says, and a Slack team may have several apps, of workspaces that don't trust each other.
alter table slack_accounts add column app_id text;
-- Where a team has one app, the link was made through that one. Others can't be told apart: they end, mail asks, and their
-- owners link again.
update slack_accounts a set app_id = c.app_id
from (
  select team_id, min(app_id) as app_id from slack_connections group by team_id having count(distinct app_id) = 1
) as c
where c.team_id = a.team_id;
delete from slack_accounts where app_id is null;
alter table slack_accounts alter column app_id set not null;
alter table slack_accounts drop constraint slack_accounts_pkey;
alter table slack_accounts add constraint slack_accounts_pkey primary key (team_id, app_id, slack_user_id);
drop index slack_accounts_email_key;
create unique index slack_accounts_email_key on slack_accounts (email, team_id, app_id);

create or replace function mail_wait(workspace text, address text, asked_group text, allowed text[]) returns interval
language sql stable
return make_interval(mins => coalesce(
  case when exists (select from person_settings s where s.email = lower(address)) then (
    select s.mail_after_minutes from person_settings s
    where s.email = lower(address) and not is_quiet(s) and (
      (allowed is null or 'push' = any (allowed)) and exists (
        select from push_subscriptions p where p.email = lower(address)
      ) or s.uses_slack and (allowed is null or allowed && array['slack', 'slack_link']) and exists (
        select from slack_connections c
        join slack_accounts a on a.team_id = c.team_id and a.app_id = c.app_id and a.email = lower(address)
        where c.workspace_id = workspace and c.broken_at is null and (a.source = 'linked' or c.matches_email)
      )
    )
  ) else (
    select g.mail_after_minutes from group_channels g
    where g.workspace_id = workspace and g.group_id = asked_group and (
      g.teams_sealed is not null and (allowed is null or 'teams' = any (allowed))
      or g.slack_channel is not null and (allowed is null or allowed && array['slack', 'slack_link']) and exists (
        select from slack_connections c where c.workspace_id = workspace and c.broken_at is null
      )
    )
  ) end, 0));
