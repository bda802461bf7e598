// An event that a claim has taken, to be POSTed to a receiver: the columns, the rows they are looked up in, and the value
// that the worker gets. Webhooks and callbacks send the same events.

import type { Approval } from "../../domain/approval/approval.ts";
import { checkpointKind, type WebhookEventKind } from "../../domain/approval/event.ts";
import { claimedReadBytesMax } from "../../domain/limits.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import {
  type ApprovalRow,
  largeBytes,
  largeColumns,
  largeColumnsUpTo,
  smallColumns,
  toApproval,
} from "../approvals/approvals.ts";
import type { Lease } from "./attempts.ts";

export type SealedSecret = { secretKeyId: string; sealed: Buffer };

export type ClaimedEvent = Lease & {
  /** By the database's clock. */
  claimedAt: Date;
  numberInRound: number;
  /** How many crashes in a row have cut it short before. */
  crashesInRow: number;
  kind: WebhookEventKind;
  eventAt: Date;
  /** `approvals` as it was then, for kinds that repeat. */
  voting: JsonText | null;
  /** The signed note of a `log.checkpoint`. */
  checkpoint: string | null;
  /** Newest first. */
  secrets: SealedSecret[];
  /** Its id alone when it is too large to come along; null where no request stands behind it. */
  approval: Approval | { largeId: string } | null;
};

export type ClaimedEventRow = ApprovalRow & {
  workspace_id: string;
  delivery_id: string;
  /** Null when it was postponed. */
  lease_token: string | null;
  number: number;
  number_in_round: number;
  crashes: number;
  /** Null when it was claimed. */
  postponed_ms: number | null;
  claimed_at: Date;
  kind: WebhookEventKind;
  event_at: Date;
  event_voting: JsonText | null;
  event_checkpoint: string | null;
  secret_key_ids: string[];
  sealed: Buffer[];
  approval_id: string | null;
  is_large: boolean;
};

export const eventColumns = `moved.workspace_id, moved.id as delivery_id, moved.lease_token, moved.number,
  moved.number_in_round, moved.crashes, moved.postponed_ms, now_ms() as claimed_at, ev.kind,
  ev.created_at as event_at, ev.voting as event_voting, ev.checkpoint as event_checkpoint, secrets.secret_key_ids, secrets.sealed, ev.approval_id, ${smallColumns},
  ${largeBytes} > ${claimedReadBytesMax} as is_large,
  ${largeColumnsUpTo(claimedReadBytesMax)}`;

/**
 * Sub-selects with a limit look up the rows that belong to a claimed row. Plain joins, planned while the tables were
 * small, would each walk through all rows of a workspace.
 */
export const eventJoins = `
cross join lateral (
  select ev.kind, ev.created_at, ev.voting, ev.approval_id,
    case when ev.kind = '${checkpointKind}' then ev.detail ->> 'checkpoint' end as checkpoint
  from events ev
  where ev.workspace_id = moved.workspace_id and ev.id = moved.event_id
  limit 1
) as ev
left join lateral (
  select ${smallColumns}, ${largeColumns} from approvals a
  where a.workspace_id = moved.workspace_id and a.id = ev.approval_id
  limit 1
) as a on true`;

/** The live secrets that sign a claimed event, newest first. */
export function liveSecretsIn(table: string, isOurs = "true"): string {
  return `
cross join lateral (
  select coalesce(array_agg(s.secret_key_id order by s.id desc), '{}') as secret_key_ids,
    coalesce(array_agg(s.sealed order by s.id desc), '{}') as sealed
  from ${table} s
  where s.workspace_id = moved.workspace_id and ${isOurs}
    and (s.expires_at is null or s.expires_at > now())
) as secrets`;
}

export function toClaimedEvent(row: ClaimedEventRow): ClaimedEvent {
  return {
    workspaceId: row.workspace_id,
    deliveryId: row.delivery_id,
    leaseToken: row.lease_token as string,
    number: row.number,
    numberInRound: row.number_in_round,
    crashesInRow: row.crashes,
    claimedAt: row.claimed_at,
    kind: row.kind,
    eventAt: row.event_at,
    voting: row.event_voting,
    checkpoint: row.event_checkpoint,
    secrets: row.secret_key_ids.map((secretKeyId, at) => ({
      secretKeyId,
      sealed: row.sealed[at] as Buffer,
    })),
    approval: toApprovalOrId(row),
  };
}

function toApprovalOrId(row: ClaimedEventRow): ClaimedEvent["approval"] {
  if (row.approval_id === null) return null;
  return row.is_large ? { largeId: row.approval_id } : toApproval(row);
}
