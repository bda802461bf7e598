// The list of requests, one request with its history, cancelling it, and mailing its approvers again.

import type { Queryable } from "../../database/database.ts";
import {
  type Approval,
  type ApprovalState,
  type Approver,
  editOf,
} from "../../domain/approval/approval.ts";
import { callbackShownTo } from "../../domain/approval/callback-url.ts";
import { dashboardPageItems } from "../../domain/limits.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { termsOf } from "../../domain/search/words.ts";
import { submittedOf } from "../../domain/shown/submitted-fields.ts";
import { cancelByMember, noSuchRequest } from "../../operations/approvals/cancel-by-member.ts";
import { findWithExpiry } from "../../operations/approvals/expire-approvals.ts";
import { remindByMember } from "../../operations/approvals/remind-by-member.ts";
import { mailAgain as mailReviewersAgain } from "../../operations/deliveries/mail-again.ts";
import * as requestLists from "../../storage/approvals/approval-lists.ts";
import { findExcerpts } from "../../storage/approvals/approval-search.ts";
import { findCallbackUrl } from "../../storage/approvals/approvals.ts";
import type { ListedApproval } from "../../storage/approvals/list-terms.ts";
import { readPending } from "../../storage/approvals/pending.ts";
import * as redemptions from "../../storage/approvals/redemptions.ts";
import * as messageHistory from "../../storage/channels/message-history.ts";
import {
  type ApprovalHistory,
  readHistory,
  type Sent,
} from "../../storage/deliveries/approval-history.ts";
import * as evidenceTable from "../../storage/proof/evidence.ts";
import * as votingHistory from "../../storage/votings/voting-history.ts";
import * as votingProgress from "../../storage/votings/voting-progress.ts";
import * as votings from "../../storage/votings/votings.ts";
import type { DashboardApi, RequestDetail, RequestRow } from "../../wire/dashboard-contract.ts";
import type { HistoryEntry } from "../../wire/dashboard-history.ts";
import { representDelivery } from "./deliveries.ts";
import { readQuery } from "./list-query.ts";
import { filterOf, placeCursor, requestQuery, toPlaceCursor } from "./request-filter.ts";
import { messageEntries, representMessages } from "./request-messages.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
} from "./visit.ts";
import { representEvidence } from "./voting/request-evidence.ts";
import { representVoting, type ShownVoting, votingEntries } from "./voting/request-voting.ts";
import { representProgress } from "./voting/row-progress.ts";

type Answers<Name extends keyof DashboardApi> = Promise<
  DashboardApi[Name]["answer"] | DashboardRefusal
>;

const listQuery = requestQuery.extend({ cursor: placeCursor.optional() });

export async function list(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Answers<"GET /workspaces/:workspaceId/requests"> {
  const { workspaceId } = visit;
  const query = readQuery(visit, listQuery);
  if (isRefusal(query)) return query;
  const filter = filterOf(query, query.cursor ?? null);
  if (isRefusal(filter)) return filter;
  // Asked first: what is written meanwhile is found, and then the answer says less than it could, never more.
  const isIndexing = await requestLists.mayLackSome(db, workspaceId, filter);
  const [{ found, last }, { count, isMore, oldestCreatedAt }, now] = await Promise.all([
    requestLists.list(db, workspaceId, { ...filter, limit: dashboardPageItems }),
    readPending(db, workspaceId),
    requestLists.readNow(db),
  ]);
  const rows = await withMatches(db, workspaceId, found, filter);
  return {
    items: await withProgress(db, workspaceId, { rows, found }),
    nextCursor: toPlaceCursor(last),
    pending: { count, isMore, oldestCreatedAt: oldestCreatedAt?.toISOString() ?? null },
    now: now.toISOString(),
    ...(isIndexing ? { isIndexing } : {}),
  };
}

/** Rows that a search has found tell where, if nothing else in the row shows it. */
async function withMatches(
  db: Queryable,
  workspaceId: string,
  found: readonly ListedApproval[],
  { search }: requestLists.ListFilter,
): Promise<RequestRow[]> {
  const rows = found.map(representRow);
  if (search?.kind !== "words" || rows.length === 0) return rows;
  const words = termsOf(search.typed);
  const matches = await findExcerpts(db, { workspaceId, ids: rows.map(({ id }) => id), words });
  return rows.map((row) => {
    const match = matches.get(row.id);
    return match === undefined ? row : { ...row, match };
  });
}

/** Rows that several people decide tell how far they are. */
async function withProgress(
  db: Queryable,
  workspaceId: string,
  { rows, found }: { rows: RequestRow[]; found: readonly ListedApproval[] },
): Promise<RequestRow[]> {
  const ids = found.filter(({ hasSeats }) => hasSeats).map(({ id }) => id);
  const byId = await votingProgress.list(db, workspaceId, ids);
  return rows.map((row) => {
    const its = byId.get(row.id);
    const progress = its === undefined ? null : representProgress(its);
    return progress === null ? row : { ...row, progress };
  });
}

export async function show(
  calls: DashboardCalls,
  visit: MemberVisit,
): Answers<"GET /workspaces/:workspaceId/requests/:requestId"> {
  const found = await findWithExpiry(calls.db, visit.workspaceId, idOf(visit));
  return found === null ? noSuchRequest() : showApproval(calls, visit, found.approval);
}

export async function cancel(
  calls: DashboardCalls,
  visit: MemberVisit,
): Answers<"POST /workspaces/:workspaceId/requests/:requestId/cancel"> {
  const cancelled = await cancelByMember(calls.db, idOf(visit), doerOf(visit));
  if (isRefusal(cancelled)) return cancelled;
  calls.onDue();
  return showApproval(calls, visit, cancelled.approval);
}

export async function mailAgain(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Answers<"POST /workspaces/:workspaceId/requests/:requestId/mail-again"> {
  const mailed = await mailReviewersAgain(db, idOf(visit), doerOf(visit));
  if (isRefusal(mailed)) return mailed;
  onDue();
  return mailed;
}

export async function remind(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Answers<"POST /workspaces/:workspaceId/requests/:requestId/remind"> {
  const reminded = await remindByMember(db, idOf(visit), doerOf(visit));
  if (isRefusal(reminded)) return reminded;
  onDue();
  return reminded;
}

function idOf({ call }: MemberVisit): string {
  return idIn(call, "requestId");
}

async function showApproval(
  { db }: DashboardCalls,
  { workspaceId, call, role }: MemberVisit,
  approval: Approval,
): Promise<RequestDetail> {
  call.facts.approvalId = approval.id;
  const callbackUrl = await findCallbackUrl(db, { workspaceId, id: approval.id });
  const history = await readHistory(db, { workspaceId, id: approval.id });
  const { state } = approval;
  const redemption =
    state.kind === "APPROVED" ? await redemptions.find(db, { workspaceId, id: approval.id }) : null;
  const voting = await readVoting(db, { workspaceId, approval, reviewers: history.reviewers });
  const limit =
    voting === null
      ? await votingHistory.findLimit(db, { workspaceId, approvalId: approval.id })
      : null;
  const messages = await messageHistory.list(db, { workspaceId, approvalId: approval.id });
  const evidence = await evidenceTable.listOfApproval(db, { workspaceId, approvalId: approval.id });
  return {
    ...representRow(listedOf(approval)),
    ...submittedOf(approval),
    ...(callbackUrl === null ? {} : { callbackUrl: callbackShownTo(role, callbackUrl) }),
    now: history.now.toISOString(),
    resolutionNote: "note" in state ? state.note : null,
    edit: editOf(state),
    reviewers: history.reviewers.map(({ email, openedAt }) => ({
      email,
      openedAt: openedAt?.toISOString() ?? null,
    })),
    ...(voting === null ? {} : { voting: representVoting(voting) }),
    ...(limit === null ? {} : { approverLimit: limit }),
    history: historyOf(approval, { history, redemption, voting, messages }),
    ...representMessages(messages),
    ...representEvidence(evidence),
    deliveries: history.deliveries.map(representDelivery),
  };
}

/** Null where one person decides alone. */
async function readVoting(
  db: Queryable,
  {
    workspaceId,
    approval,
    reviewers,
  }: Pick<ShownVoting, "approval" | "reviewers"> & { workspaceId: string },
): Promise<ShownVoting | null> {
  const where = { workspaceId, approvalId: approval.id };
  const history = await votingHistory.find(db, where);
  const record = history === null ? null : await votings.find(db, where);
  if (history === null || record === null) return null;
  const { revision } = record;
  const revisionText = revision === 1 ? null : await votings.findRevision(db, where, revision);
  return { approval, record, history, revisionText, reviewers };
}

function listedOf(approval: Approval): Omit<ListedApproval, "hasSeats"> {
  const { state } = approval;
  return {
    ...approval,
    status: state.kind,
    resolvedAt: "at" in state ? state.at : null,
    resolvedByEmail: "byEmail" in state ? state.byEmail : null,
    isEdited: editOf(state) !== null,
  };
}

function representRow(listed: Omit<ListedApproval, "hasSeats">): RequestRow {
  return {
    id: listed.id,
    status: listed.status,
    summary: listed.summary,
    agentName: listed.agentName,
    ...representApprover(listed.approver),
    createdAt: listed.createdAt.toISOString(),
    expiresAt: listed.expiresAt.toISOString(),
    resolvedAt: listed.resolvedAt?.toISOString() ?? null,
    resolvedByEmail: listed.resolvedByEmail,
    isEdited: listed.isEdited,
  };
}

function representApprover(approver: Approver) {
  return approver.kind === "address"
    ? { approverEmail: approver.email, approverGroup: null }
    : { approverEmail: null, approverGroup: { key: approver.key, name: approver.name } };
}

type ToldHistory = {
  history: ApprovalHistory;
  redemption: redemptions.Redemption | null;
  voting: ShownVoting | null;
  messages: readonly messageHistory.ToldMessage[];
};

/** Oldest first. Entries of the same millisecond keep the order in which they must have happened. */
function historyOf({ createdAt, state }: Approval, told: ToldHistory): HistoryEntry[] {
  const { history, redemption, voting, messages } = told;
  const entries: HistoryEntry[] = [
    { kind: "created", at: createdAt.toISOString() },
    ...history.sent.flatMap(mailEntries),
    ...messageEntries(messages, history.sent),
    ...history.reviewers.flatMap(({ email, openedAt }): HistoryEntry[] =>
      openedAt === null ? [] : [{ kind: "opened", at: openedAt.toISOString(), email }],
    ),
    ...(voting === null ? [] : votingEntries(voting)),
    ...outcomeEntries(state),
    ...(redemption === null ? [] : [redeemedEntry(redemption)]),
    ...history.sent.flatMap(webhookEntries),
  ];
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** Mails to reviewers. The owners' mails, about failed ones and too few people, are among the deliveries. */
function mailEntries({ delivery, at: date, isDelivered }: Sent): HistoryEntry[] {
  const { destination, event, id: deliveryId } = delivery;
  const arrived = mailKinds[event];
  if (destination.kind !== "mailbox" || arrived === undefined) return [];
  const kind = isDelivered ? arrived : "mail_failed";
  return [{ kind, at: date.toISOString(), email: destination.email, deliveryId }];
}

type MailKind = "mailed" | "reminded" | "change_told" | "outcome_told";

const mailKinds: Partial<Record<string, MailKind>> = {
  "request.created": "mailed",
  "request.stage_entered": "mailed",
  "request.escalated": "mailed",
  "request.reassigned": "mailed",
  "request.changed": "change_told",
  "request.expiring": "reminded",
  "request.reminded": "reminded",
  "request.approved": "outcome_told",
  "request.rejected": "outcome_told",
  "request.expired": "outcome_told",
  "request.cancelled": "outcome_told",
};

function webhookEntries({ delivery, at: date, isDelivered }: Sent): HistoryEntry[] {
  const { destination, event, id: deliveryId } = delivery;
  if (destination.kind === "mailbox") return [];
  const kind = isDelivered ? "delivered" : "delivery_failed";
  const entry = { kind, at: date.toISOString(), deliveryId, event } as const;
  if (destination.kind === "callback") {
    return [{ ...entry, url: destination.host, isCallback: true }];
  }
  const { url, name } = destination;
  const named = name === null ? {} : { name };
  return [{ ...entry, url, ...named }];
}

function redeemedEntry({ redeemedAt, redeemedBy }: redemptions.Redemption): HistoryEntry {
  return { kind: "redeemed", at: redeemedAt.toISOString(), apiKey: redeemedBy };
}

function outcomeEntries(state: ApprovalState): HistoryEntry[] {
  switch (state.kind) {
    case "PENDING":
      return [];
    case "APPROVED":
      return [{ kind: "approved", at: state.at.toISOString(), email: state.byEmail }];
    case "REJECTED":
      return [{ kind: "rejected", at: state.at.toISOString(), email: state.byEmail }];
    case "EXPIRED":
      return [{ kind: "expired", at: state.at.toISOString() }];
    case "CANCELLED":
      return [{ kind: "cancelled", at: state.at.toISOString() }];
    default:
      return state satisfies never;
  }
}
