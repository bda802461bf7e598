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
import { takeInTurns } from "./claims.ts";

export type ClaimedCallback = ClaimedEvent & { url: string; host: string };

/** A lane: callbacks of one workspace to one host. */
export type Lane = { host: string; workspaceId: string };

export type Claim = {
  callbacks: ClaimedCallback[];
  /** How long each delivery waits after crashes have cut it short again and again. */
  postponedMs: number[];
  /** The next claim continues behind this lane; null when all lanes were looked at. */
  continueAfter: Lane | null;
};

type ClaimedRow = ClaimedEventRow & { callback_url: string; host: string };

/** The walk is reported in a row of its own if nothing was claimed. */
type WalkRow = { last_host: string | null; last_workspace_id: string | null };
type AnsweredRow = WalkRow & (ClaimedRow | { delivery_id: null });

/** Looks at a bounded number of lanes, behind the one given: whoever names a new host for each request slows nobody down. */
export async function claim(
  tx: Transaction,
  { limit, after }: { limit: number; after: Lane | null },
): Promise<Claim> {
  const { rows } = await tx.query<AnsweredRow>({
    name: "dueCallbacks.claim",
    text: claimSql,
    values: [limit, after?.host ?? "", after?.workspaceId ?? ""],
  });
  const moved = rows.filter((row) => row.delivery_id !== null);
  const { last_host: host = null, last_workspace_id: workspaceId = null } = rows[0] ?? {};
  return {
    callbacks: moved.filter(({ lease_token }) => lease_token !== null).map(toClaimed),
    postponedMs: moved.flatMap(({ postponed_ms }) => postponed_ms ?? []),
    continueAfter: host === null || workspaceId === null ? null : { host, workspaceId },
  };
}

const isDue = "d.state = 'due' and d.channel = 'callback'";
// The order of the index, which alone knows it: another would be walked through in vain.
const inOrder = `order by d.recipient collate "C", d.workspace_id, d.due_at, d.id`;

/**
 * Walks from lane to lane, and looks at no more than the oldest few of each: that window is all that may be in flight to a
 * host for one workspace, from all processes together.
 */
const claimSql = `
with recursive lane as (
  (select d.recipient collate "C" as host, d.workspace_id, 1 as nth from deliveries d
   where ${isDue} and (d.recipient collate "C", d.workspace_id) > ($2::text collate "C", $3::text)
   ${inOrder} limit 1)
  union all
  select next.host, next.workspace_id, lane.nth + 1
  from lane
  cross join lateral (
    select d.recipient collate "C" as host, d.workspace_id from deliveries d
    where ${isDue} and (d.recipient collate "C", d.workspace_id) > (lane.host, lane.workspace_id)
    ${inOrder} limit 1
  ) as next
  where lane.nth < ${callbackLanesMax}
),
window_row as (
  select lane.workspace_id, oldest.ctid, oldest.due_at, oldest.is_leased, oldest.weight,
    row_number() over (
      partition by lane.host, lane.workspace_id, oldest.is_leased order by oldest.due_at, oldest.id
    ) as turn
  from lane
  cross join lateral (
    select d.ctid, d.id, d.due_at, d.weight, coalesce(d.leased_until > now(), false) as is_leased
    from deliveries d
    where ${isDue} and d.recipient collate "C" = lane.host and d.workspace_id = lane.workspace_id
      and d.due_at <= now()
    ${inOrder}
    limit ${callbacksPerHostMax}
  ) as oldest
),
${takeInTurns("recipient", {
  perWorkspaceMax: callbacksPerWorkspaceMax,
  lightShare: callbacksLightShare,
  keptFree: callbacksKeptFree,
})},
walk as (
  select host, workspace_id from lane where nth = ${callbackLanesMax}
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
select walk.host as last_host, walk.workspace_id as last_workspace_id, taken.*
from (select) as one
left join walk on true
left join taken on true`;

function toClaimed(row: ClaimedRow): ClaimedCallback {
  return { ...toClaimedEvent(row), url: row.callback_url, host: row.host };
}
