// Writes events that belong to no request, with their deliveries: tests of endpoints, notices to owners, and mails about a
// person. The statements that create and resolve requests write the events of those.

import type { Queryable, Transaction } from "../../database/database.ts";
import { askingKinds, type NoticeKind, type PersonMailKind } from "../../domain/approval/event.ts";
import { callbackNoticesPerDayMax, mailNoticesPerDayMax } from "../../domain/limits.ts";

/** Wakes workers on other nodes: something became due. Polling alone would find it too, only later. */
export const dueChannel = "countersign_due";

/** The facts of the moment that a notice keeps in the event's row. */
export type NoticeDetail = {
  failingSince?: string | null;
  reason?: string;
  answer?: string | null;
  /** The delivery that was given up: its event, and its request's id. */
  event?: string;
  approvalId?: string | null;
  /** How many deliveries to the endpoint wait, up to `noticedCountMax`. */
  waiting?: number;
  /** Where a callback went. Never its whole address, which may be a secret. */
  host?: string;
  /** The stage of which nobody was reached, and the first of its people. */
  stage?: number;
  people?: string[];
  peopleCount?: number;
};

/** The facts of a mail about a person, as the event's row keeps them. A nonce is no secret without SECRET_KEY. */
export type PersonMailDetail = {
  role?: string;
  invitedBy?: string | null;
  secretKeyId?: string;
  /** In base64. */
  nonce?: string;
  expiresAt?: string;
  /** The owner's name for the passkey. */
  passkeyName?: string;
  /** Whose passkey it is, where others are told. */
  email?: string;
};

/** What a witness has seen of the log `origin`, and what is there. */
export type ContradictedLog = {
  origin: string;
  witness: string;
  witnessedSize: number;
  size: number;
};

/** The facts of a mail about the log: the signed note of a checkpoint, or how a witness contradicts it. */
export type LogMailDetail = { checkpoint?: string } & Partial<ContradictedLog>;

/** A test event for one endpoint, whatever it subscribes to. Answers the delivery's id. */
export async function insertTest(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
): Promise<string> {
  const { rows } = await tx.query<{ id: string }>(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind) values ($1, $2, 'webhook.test')
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, channel, endpoint_id)
     select workspace_id, id, 'webhook', $2 from event
     returning id`,
    [endpoint.workspaceId, endpoint.id],
  );
  return (rows[0] as { id: string }).id;
}

/** A notice about an endpoint to each owner of its workspace. */
export async function insertEndpointNotice(
  tx: Transaction,
  endpoint: { workspaceId: string; id: string },
  kind: Extract<NoticeKind, `endpoint.${string}`>,
  detail: NoticeDetail,
): Promise<void> {
  await tx.query(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind, detail) values ($1, $2, $3, $4)
       returning workspace_id, id
     )
     ${mailToOwners}`,
    [endpoint.workspaceId, endpoint.id, kind, detail],
  );
}

/**
 * A notice to each owner that a mail never reached its reviewer: one of the given ones that asked. Not twice a day about the same address, and not
 * about too many addresses: an agent that asks mistyped ones a thousand times must not fill the owners' mailboxes.
 */
export async function insertMailNotice(
  tx: Transaction,
  failed: { workspaceId: string; deliveryIds: readonly string[] },
  detail: NoticeDetail,
): Promise<void> {
  await tx.query(
    `with event as (
       insert into events (workspace_id, approval_id, reviewer_id, kind, detail)
       select d.workspace_id, r.approval_id, r.id, 'mail.failed', $3
       from deliveries d
       join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
       join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where d.workspace_id = $1 and d.id = any ($2::text[]) and ev.kind = any ($4::text[])
         and not exists (
           select from events told
           join reviewers other on other.workspace_id = told.workspace_id and other.id = told.reviewer_id
           where told.workspace_id = $1 and told.kind = 'mail.failed'
             and told.created_at > now() - interval '1 day' and lower(other.email) = lower(r.email)
         )
         and ${mailNoticesPerDayMax} > (
           select count(*) from events told
           where told.workspace_id = $1 and told.kind = 'mail.failed'
             and told.created_at > now() - interval '1 day'
         )
       order by d.id
       limit 1
       on conflict do nothing
       returning workspace_id, id
     )
     ${mailToOwners}`,
    [failed.workspaceId, failed.deliveryIds, detail, askingKinds],
  );
}

const toldOfHosts = `
  from callback_notices told where told.workspace_id = $1 and told.told_at > now() - interval '1 day'`;

/**
 * Takes the turn to tell a workspace's owners of a host, until the transaction ends: racing processes would each count
 * the day's notices without those of the others. False, and no turn, if nothing is to be told.
 */
export async function lockCallbackNotices(
  tx: Transaction,
  { workspaceId, host }: { workspaceId: string; host: string },
): Promise<boolean> {
  const { rows } = await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('callback notices ' || $1, 0))
     where ${callbackNoticesPerDayMax} > (select count(*) ${toldOfHosts})
       and not exists (select ${toldOfHosts} and told.host = $2)`,
    [workspaceId, host],
  );
  return rows.length === 1;
}

/**
 * A notice to each owner that a callback was given up. Not twice a day about the same host, and not about too many hosts.
 */
export async function insertCallbackNotice(
  tx: Transaction,
  delivery: { workspaceId: string; deliveryId: string },
  detail: NoticeDetail & { host: string },
): Promise<void> {
  await tx.query(
    `with told as (
       insert into callback_notices as n (workspace_id, host)
       select $1, $3
       where ${callbackNoticesPerDayMax} > (select count(*) ${toldOfHosts})
       on conflict (workspace_id, host) do update set told_at = now_ms()
         where n.told_at <= now() - interval '1 day'
       returning 1
     ), event as (
       insert into events (workspace_id, approval_id, kind, detail)
       select d.workspace_id, ev.approval_id, 'callback.failed', $4
       from deliveries d
       join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
       where d.workspace_id = $1 and d.id = $2 and exists (select from told)
       on conflict do nothing
       returning workspace_id, id
     )
     ${mailToOwners}`,
    [delivery.workspaceId, delivery.deliveryId, detail.host, detail],
  );
}

/** After an `event` (workspace_id, id): a mail to each owner. */
export const mailToOwners = `
  insert into deliveries (workspace_id, event_id, channel, recipient)
  select event.workspace_id, event.id, 'mail', m.email
  from event
  join members m on m.workspace_id = event.workspace_id and m.role = 'owner' and m.joined_at is not null`;

/** A code to sign in with, a passkey that came or went, an invitation. */
export async function insertPersonMail(
  tx: Transaction,
  mail: { workspaceId: string; to: string; kind: PersonMailKind; detail: PersonMailDetail },
): Promise<void> {
  const { workspaceId, to, kind, detail } = mail;
  // A person who signs in is waiting, so their mail goes before all others.
  const wait = kind === "person.signing_in" ? "now_ms() - interval '1 day'" : "now_ms()";
  await tx.query(
    `with event as (
       insert into events (workspace_id, kind, detail) values ($1, $2, $3)
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, channel, recipient, due_at)
     select workspace_id, id, 'mail', $4, ${wait} from event`,
    [workspaceId, kind, detail, to],
  );
}

/** To the owners of these workspaces, except a person who would be told about themselves. */
export async function insertPasskeyNotices(
  tx: Transaction,
  workspaceIds: readonly string[],
  detail: { email: string; passkeyName: string },
): Promise<void> {
  await tx.query(
    `with event as (
       insert into events (workspace_id, kind, detail)
       select w.id, 'owner.passkey_added', $2
       from unnest($1::text[]) as w (id)
       where exists (
         select from members m
         where m.workspace_id = w.id and m.role = 'owner' and m.joined_at is not null
           and lower(m.email) <> lower($3)
       )
       returning workspace_id, id
     )
     ${mailToOwners} and lower(m.email) <> lower($3)`,
    [workspaceIds, detail, detail.email],
  );
}

/** Tells workers on every node that something became due. */
export async function announceDue(db: Queryable): Promise<void> {
  await db.query({ name: "deliveries.announceDue", text: `select pg_notify('${dueChannel}', '')` });
}
