// A mail as it is made from its rows: what it tells, and to whom. The same rows give the same mail each time.

import assert from "node:assert/strict";
import type { Queryable } from "../../database/database.ts";
import type {
  AskingKind,
  MailEventKind,
  OutcomeKind,
  PasskeyMailKind,
} from "../../domain/approval/event.ts";
import type { StuckStage } from "../../domain/mail/stuck-mails.ts";
import { type MailStory, readStories } from "./mail-stories.ts";
import type {
  ContradictedLog,
  LogMailDetail,
  NoticeDetail,
  PersonMailDetail,
} from "./new-deliveries.ts";

/** The part of an approval that a mail tells. Never the payload, never the agent's state. */
export type MailedApproval = {
  id: string;
  summary: string;
  agentName: string | null;
  groupName: string | null;
  createdAt: Date;
  expiresAt: Date;
};

/** Somebody is asked for a decision, reminded of it, or told how it ended. */
export type ReviewSubject = {
  kind: AskingKind | OutcomeKind;
  approval: MailedApproval;
  reviewer: { id: string; secretKeyId: string; tokenNonce: Buffer; needsCode: boolean };
  /** Only where the request has seats. */
  story: MailStory | null;
};

export type ReviewMail = Mail & { subject: ReviewSubject };

export type MailSubject =
  | ReviewSubject
  /** The mails that it stands for, two or more, in the order of their ids. */
  | { kind: "digest"; mails: readonly ReviewMail[] }
  | { kind: "mail.failed"; approval: MailedApproval; reviewerEmail: string; answer: string | null }
  | { kind: "request.stuck"; approval: MailedApproval; stages: readonly StuckStage[] }
  | {
      kind: "request.unreachable";
      approval: MailedApproval;
      stage: number | null;
      people: readonly string[];
      peopleCount: number;
      answer: string | null;
    }
  | {
      kind: "callback.failed";
      approval: MailedApproval;
      host: string;
      event: string;
      reason: string;
    }
  | {
      kind: "endpoint.delivery_failed";
      endpoint: { id: string; url: string };
      reason: string;
      event: string;
      approvalId: string | null;
      waiting: number;
    }
  | {
      kind: "endpoint.failing" | "endpoint.disabled";
      endpoint: { id: string; url: string };
      failingSince: Date | null;
      reason: string;
    }
  | { kind: "person.signing_in"; secretKeyId: string; nonce: Buffer; expiresAt: Date }
  | { kind: PasskeyMailKind; passkeyName: string }
  | { kind: "owner.passkey_added"; passkeyName: string; email: string }
  | { kind: "log.checkpoint"; checkpoint: string }
  | ({ kind: "log.contradicted" } & ContradictedLog)
  | { kind: "member.invited"; role: string; invitedBy: string | null };

export type Mail = {
  workspaceId: string;
  deliveryId: string;
  workspaceName: string;
  to: string;
  /** 1, or more when somebody asked to send it again. */
  round: number;
  /** When the event happened. */
  eventAt: Date;
  subject: MailSubject;
};

export type MailRow = {
  workspace_id: string;
  delivery_id: string;
  workspace_name: string;
  round: number;
  kind: MailEventKind;
  event_at: Date;
  detail: (NoticeDetail & PersonMailDetail & LogMailDetail) | null;
  recipient: string | null;
  reviewer_id: string | null;
  reviewer_email: string | null;
  secret_key_id: string | null;
  token_nonce: Buffer | null;
  needs_code: boolean | null;
  approval_id: string | null;
  summary: string;
  agent_name: string | null;
  group_name: string | null;
  approval_created_at: Date;
  expires_at: Date;
  has_seats: boolean | null;
  endpoint_id: string | null;
  url: string;
};

export const mailColumns = `
  d.workspace_id, d.id as delivery_id, w.name as workspace_name, d.round, ev.kind,
  ev.created_at as event_at, ev.detail, d.recipient, r.id as reviewer_id, r.email as reviewer_email,
  r.secret_key_id, r.token_nonce, r.needs_code, a.id as approval_id, a.summary, a.agent_name,
  a.group_name, a.created_at as approval_created_at, a.expires_at, a.has_seats, e.id as endpoint_id, e.url`;

// The reviewer is the mail's recipient or, for a notice, the person a mail never reached. Sub-selects with a limit look
// rows up, because plain joins, planned while the tables were small, would walk through all rows of a workspace.
export const mailJoins = `
  cross join lateral (select w.name from workspaces w where w.id = d.workspace_id limit 1) as w
  cross join lateral (
    select ev.kind, ev.created_at, ev.detail, ev.approval_id, ev.reviewer_id, ev.endpoint_id
    from events ev where ev.workspace_id = d.workspace_id and ev.id = d.event_id limit 1
  ) as ev
  left join lateral (
    select r.id, r.email, r.secret_key_id, r.token_nonce, r.needs_code from reviewers r
    where r.workspace_id = d.workspace_id and r.id = coalesce(d.reviewer_id, ev.reviewer_id) limit 1
  ) as r on true
  left join lateral (
    select a.id, a.summary, a.agent_name, a.group_name, a.created_at, a.expires_at, a.has_seats
    from approvals a
    where a.workspace_id = d.workspace_id and a.id = ev.approval_id limit 1
  ) as a on true
  left join lateral (
    select e.id, e.url from endpoints e
    where e.workspace_id = d.workspace_id and e.id = ev.endpoint_id limit 1
  ) as e on true`;

export type Group<Row> = readonly [Row, ...Row[]];

/** Rows of one digest together, in the order of their ids; each other row alone. */
export function groupDigests<Row extends MailRow & { digest_id: string | null }>(
  rows: readonly Row[],
): Group<Row>[] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows.toSorted(byDeliveryId)) {
    const name = row.digest_id ?? row.delivery_id;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function byDeliveryId(one: MailRow, other: MailRow): number {
  return one.delivery_id < other.delivery_id ? -1 : 1;
}

/** Stories by delivery, of mails whose request has seats. */
export type Stories = ReadonlyMap<string, MailStory>;

/** What the mails of requests with seats tell beyond their rows. Without any there is nothing to read. */
export async function readStoriesOf(
  db: Queryable,
  groups: readonly Group<MailRow>[],
): Promise<Stories> {
  const told = groups.flatMap((rows) =>
    rows
      .filter(({ has_seats }) => has_seats === true)
      .map((row) => ({
        workspaceId: row.workspace_id,
        deliveryId: row.delivery_id,
        isAlone: rows.length === 1,
      })),
  );
  return readStories(db, told);
}

export function toMailOf(rows: Group<MailRow>, stories: Stories): Mail {
  const [first] = rows;
  if (rows.length === 1) return toMail(first, stories);
  return digestOf(rows.map((row) => toMail(row, stories)).filter(isReviewMail));
}

/** Dated like the newest in it, so that its bytes follow from the rows alone. */
export function digestOf(mails: readonly ReviewMail[]): Mail {
  const [first] = mails;
  assert(first !== undefined, "a digest stands for at least one mail");
  if (mails.length === 1) return first;
  const eventAt = new Date(Math.max(...mails.map((mail) => mail.eventAt.getTime())));
  return { ...first, eventAt, round: 1, subject: { kind: "digest", mails } };
}

/** The ids of all deliveries that a message stands for. */
export function deliveryIdsOf(mail: Mail): string[] {
  return mail.subject.kind === "digest"
    ? mail.subject.mails.map(({ deliveryId }) => deliveryId)
    : [mail.deliveryId];
}

/** The mails to reviewers that a message stands for. */
export function reviewMailsOf(mail: Mail): readonly ReviewMail[] {
  if (mail.subject.kind === "digest") return mail.subject.mails;
  return isReviewMail(mail) ? [mail] : [];
}

function isReviewMail(mail: Mail): mail is ReviewMail {
  return isReviewSubject(mail.subject);
}

export function isReviewSubject(subject: MailSubject): subject is ReviewSubject {
  return "reviewer" in subject;
}

function toMail(row: MailRow, stories: Stories): Mail {
  return {
    workspaceId: row.workspace_id,
    deliveryId: row.delivery_id,
    workspaceName: row.workspace_name,
    to: row.recipient ?? (row.reviewer_email as string),
    round: row.round,
    eventAt: row.event_at,
    subject: toSubject(row, stories.get(row.delivery_id) ?? null),
  };
}

// The schema's constraints promise which columns are there for which kind.
function toSubject(row: MailRow, story: MailStory | null): MailSubject {
  const { kind } = row;
  switch (kind) {
    case "request.created":
    case "request.stage_entered":
    case "request.escalated":
    case "request.reassigned":
    case "request.changed":
    case "request.reminded":
    case "request.expiring":
    case "request.approved":
    case "request.rejected":
    case "request.expired":
    case "request.cancelled":
      return {
        kind,
        approval: toMailedApproval(row),
        reviewer: {
          id: row.reviewer_id as string,
          secretKeyId: row.secret_key_id as string,
          tokenNonce: row.token_nonce as Buffer,
          needsCode: row.needs_code as boolean,
        },
        story,
      };
    case "request.stuck":
      return { kind, approval: toMailedApproval(row), stages: story?.stages ?? [] };
    case "request.unreachable":
      return {
        kind,
        approval: toMailedApproval(row),
        stage: row.detail?.stage ?? null,
        people: row.detail?.people ?? [],
        peopleCount: row.detail?.peopleCount ?? 0,
        answer: row.detail?.answer ?? null,
      };
    case "mail.failed":
      return {
        kind,
        approval: toMailedApproval(row),
        reviewerEmail: row.reviewer_email as string,
        answer: row.detail?.answer ?? null,
      };
    case "callback.failed":
      return {
        kind,
        approval: toMailedApproval(row),
        host: row.detail?.host ?? "",
        event: row.detail?.event ?? "",
        reason: row.detail?.reason ?? "",
      };
    case "endpoint.delivery_failed":
      return {
        kind,
        endpoint: { id: row.endpoint_id as string, url: row.url },
        reason: row.detail?.reason ?? "",
        event: row.detail?.event ?? "",
        approvalId: row.detail?.approvalId ?? null,
        waiting: row.detail?.waiting ?? 0,
      };
    case "endpoint.failing":
    case "endpoint.disabled":
      return {
        kind,
        endpoint: { id: row.endpoint_id as string, url: row.url },
        failingSince: row.detail?.failingSince ? new Date(row.detail.failingSince) : null,
        reason: row.detail?.reason ?? "",
      };
    case "person.signing_in":
      return {
        kind,
        secretKeyId: row.detail?.secretKeyId ?? "",
        nonce: Buffer.from(row.detail?.nonce ?? "", "base64"),
        expiresAt: new Date(row.detail?.expiresAt ?? 0),
      };
    case "person.passkey_added":
    case "person.passkey_removed":
      return { kind, passkeyName: row.detail?.passkeyName ?? "" };
    case "owner.passkey_added": {
      const { passkeyName = "", email = "" } = row.detail ?? {};
      return { kind, passkeyName, email };
    }
    case "log.checkpoint":
      return { kind, checkpoint: row.detail?.checkpoint ?? "" };
    case "log.contradicted": {
      const { origin = "", witness = "", witnessedSize = 0, size = 0 } = row.detail ?? {};
      return { kind, origin, witness, witnessedSize, size };
    }
    case "member.invited":
      return { kind, role: row.detail?.role ?? "", invitedBy: row.detail?.invitedBy ?? null };
    default:
      return kind satisfies never;
  }
}

function toMailedApproval(row: MailRow): MailedApproval {
  return {
    id: row.approval_id as string,
    summary: row.summary,
    agentName: row.agent_name,
    groupName: row.group_name,
    createdAt: row.approval_created_at,
    expiresAt: row.expires_at,
  };
}
