// Claims callbacks that are due: outcomes of requests that named an address of their own. A claim is one statement and one
// commit, like that of webhooks.

import type { Transaction } from "../../database/database.ts";
import {
  callbackLanesMax,
  callbacksKeptFree,
  callbacksLightShare,
  callbacksPerHostMax,
  callbacksPerWorkspaceMax,
} from "../../domain/limits.ts";
import {
  type ClaimedEvent,
  type ClaimedEventRow,
  eventColumns,
  eventJoins,
  liveSecretsIn,
  toClaimedEvent,
} from "./claimed-events.ts";
import { takeInTurns, workspaceLanes } from "./claims.ts";

export type ClaimedCallback = ClaimedEvent & { url: string; host: string };

/** What a process knows about a workspace when it claims. */
export type Standing = {
  workspaceId: string;
  /** The weight of its callbacks that this process has under way. */
  underWay: number;
  /** Its hosts are looked at behind this one; from the first if null. */
  after: string | null;
};

/** How far the hosts of a workspace were looked at. */
export type Look = {
  workspaceId: string;
  /** The last host, if there may be more behind it; null when all were looked at. */
  last: string | null;
};

export type Claim = {
  callbacks: ClaimedCallback[];
  /** How long each delivery waits after crashes have cut it short again and again. */
  postponedMs: number[];
  /** Of workspaces with more hosts than were looked at, now or before. */
  looks: Look[];
};

type ClaimedRow = ClaimedEventRow & { callback_url: string; host: string };

/** The looks are reported in a row of their own if nothing was claimed. */
type LooksRow = { looked_workspace_ids: string[]; looked_hosts: (string | null)[] };
type AnsweredRow = LooksRow & (ClaimedRow | { delivery_id: null });

/**
 * Workspaces come first: each gets a share of what this process has under way, and of the hosts that the claim looks at.
 * So a workspace that names a new host for each request slows nobody down but itself.
 */
export async function claim(
  tx: Transaction,
  { limit, standings }: { limit: number; standings: readonly Standing[] },
): Promise<Claim> {
  const { rows } = await tx.query<AnsweredRow>({
    name: "dueCallbacks.claim",
    text: claimSql,
    values: [
      limit,
      standings.map(({ workspaceId }) => workspaceId),
      standings.map(({ underWay }) => underWay),
      standings.map(({ after }) => after ?? ""),
    ],
  });
  const moved = rows.filter((row) => row.delivery_id !== null);
  const { looked_workspace_ids: ids = [], looked_hosts: hosts = [] } = rows[0] ?? {};
  return {
    callbacks: moved.filter(({ lease_token }) => lease_token !== null).map(toClaimed),
    postponedMs: moved.flatMap(({ postponed_ms }) => postponed_ms ?? []),
    looks: ids.map((workspaceId, at) => ({ workspaceId, last: hosts[at] ?? null })),
  };
}

const isDue = "d.state = 'due' and d.channel = 'callback' and d.workspace_id = w.workspace_id";
// The order of the index, which alone knows it: another would be walked through in vain.
const inOrder = `order by d.workspace_id, d.recipient collate "C", d.due_at, d.id`;

/**
 * Walks from workspace to workspace, passes over those that have their share under way in this process, and looks at a few
 * hosts of each of the others. Of a host it looks at no more than the oldest few: that window is all that may be in flight
 * to it for one workspace, from all processes together.
 */
const claimSql = `
with recursive workspace as (${workspaceLanes("callback", "workspace")}
),
open_workspace as materialized (
  select workspace.workspace_id, coalesce(own.under_way, 0) as under_way, coalesce(own.after, '') as after,
    greatest(1, ${callbackLanesMax} / count(*) over ()) as lanes_max
  from workspace
  left join unnest($2::text[], $3::integer[], $4::text[]) as own (workspace_id, under_way, after)
    on own.workspace_id = workspace.workspace_id
  where workspace.due_at <= now() and coalesce(own.under_way, 0) < ${callbacksPerWorkspaceMax}
),
lane as materialized (
  select w.workspace_id, w.under_way, w.lanes_max, each.host, each.nth
  from open_workspace w
  cross join lateral (
    with recursive step as (
      (select d.recipient collate "C" as host, 1 as nth from deliveries d
       where ${isDue} and d.recipient collate "C" > w.after collate "C"
       ${inOrder} limit 1)
      union all
      select next.host, step.nth + 1
      from step
      cross join lateral (
        select d.recipient collate "C" as host from deliveries d
        where ${isDue} and d.recipient collate "C" > step.host
        ${inOrder} limit 1
      ) as next
      where step.nth < w.lanes_max
    )
    select host, nth from step
  ) as each
),
window_row as (
  select w.workspace_id, w.under_way, oldest.ctid, oldest.due_at, oldest.is_leased, oldest.weight,
    row_number() over (
      partition by w.workspace_id, w.host, oldest.is_leased order by oldest.due_at, oldest.id
    ) as turn
  from lane w
  cross join lateral (
    select d.ctid, d.id, d.due_at, d.weight, coalesce(d.leased_until > now(), false) as is_leased
    from deliveries d
    where ${isDue} and d.recipient collate "C" = w.host and d.due_at <= now()
    ${inOrder}
    limit ${callbacksPerHostMax}
  ) as oldest
),
${takeInTurns("recipient", {
  perWorkspaceMax: callbacksPerWorkspaceMax,
  lightShare: callbacksLightShare,
  keptFree: callbacksKeptFree,
  underWay: "under_way",
})},
look as (
  select coalesce(array_agg(w.workspace_id), '{}') as workspace_ids, coalesce(array_agg(last.host), '{}') as hosts
  from open_workspace w
  left join lane last on last.workspace_id = w.workspace_id and last.nth = w.lanes_max
  where last.host is not null or w.after <> ''
),
taken as (
  select ${eventColumns}, moved.recipient as host, target.callback_url
  from moved
  ${eventJoins}
  cross join lateral (
    select t.callback_url from approvals t
    where t.workspace_id = moved.workspace_id and t.id = ev.approval_id
    limit 1
  ) as target
  ${liveSecretsIn("callback_secrets")}
)
select look.workspace_ids as looked_workspace_ids, look.hosts as looked_hosts, taken.*
from look
left join taken on true`;

function toClaimed(row: ClaimedRow): ClaimedCallback {
  return { ...toClaimedEvent(row), url: row.callback_url, host: row.host };
}
