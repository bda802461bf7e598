-- A connection keeps the whole address that its answer went to; null in older ones. It ends when its person loses the
-- right to connect. Until now it slept, and came back with the right: what sleeps now ends here.

alter table connections add column redirect_uri text;

with asleep as (
  update api_keys k set revoked_at = now_ms()
  from connections c
  where c.workspace_id = k.workspace_id and c.api_key_id = k.id and k.revoked_at is null
    and not exists (
      select from members m
      where m.workspace_id = c.workspace_id and lower(m.email) = lower(c.email)
        and m.joined_at is not null and m.role in ('owner', 'admin')
    )
  returning k.workspace_id, k.name, c.email
)
insert into activity (workspace_id, actor_email, action, subject, detail)
select workspace_id, null, 'key.revoked', name,
  jsonb_build_object('by', 'countersign', 'reason', email || ' is no admin or owner any more')
from asleep;
