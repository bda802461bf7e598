// The contract between the dashboard and the service. It isn't part of /v1: the two are released together, and nothing
// else may use it. Times are ISO 8601 in UTC. JSON that agents sent travels as text, so that no reader rounds it.

import type {
  ApprovalStatus,
  EndpointEventKind,
  TestEventKind,
} from "../../../sdk/src/contract.ts";
import type { SubmittedGiven } from "../domain/shown/submitted-fields.ts";
import type { Absence, NewAbsence } from "./dashboard-absences.ts";
import type { Activity } from "./dashboard-activity.ts";
import type { Attention } from "./dashboard-attention.ts";
import type { CallbackSecret } from "./dashboard-callbacks.ts";
import type { ChannelCalls } from "./dashboard-channels.ts";
import type { Endpoint, EndpointDetail, EndpointWithSecret } from "./dashboard-endpoints.ts";
import type { RequestEvidence } from "./dashboard-evidence.ts";
import type {
  DeliveryFilter,
  DeliveryState,
  ExportFilter,
  FileDownload,
  RequestFilter,
} from "./dashboard-filters.ts";
import type { Group } from "./dashboard-groups.ts";
import type { HistoryEntry, RequestMessage } from "./dashboard-history.ts";
import type { ApiKey, AskedConnection, AskingKey, IssuedKey } from "./dashboard-keys.ts";
import type { ProofCalls } from "./dashboard-proof.ts";
import type {
  Cancellable,
  Cancellation,
  CancelledMatching,
  EndpointDeletion,
  GroupDeletion,
  KeyRevocation,
  MemberRemoval,
} from "./dashboard-removals.ts";
import type { Settings, Workspace } from "./dashboard-settings.ts";
import type {
  Passkey,
  PasskeyAnswer,
  PasskeyQuestion,
  Session,
  SignInOptions,
} from "./dashboard-sign-in.ts";
import type { RequestVoting, StageFigures, VotingProgress } from "./dashboard-voting.ts";

export type Role = "owner" | "admin" | "viewer";

/** Every call below /app/api, by method and path: what it takes and what it answers. */
export type DashboardApi = ChannelCalls &
  ProofCalls & {
    // Signing in. These need no session.
    "GET /sign-in": { answer: SignInOptions };
    /** Mails a code to a person who may sign in. Answers everybody else alike. */
    "POST /sign-in/code": { body: { email: string }; answer: Done };
    "POST /sign-in/code/verify": { body: { email: string; code: string }; answer: Me };
    /** The one-time link that the terminal prints. */
    "POST /sign-in/link": { body: { token: string }; answer: Me };
    /** The options are those of WebAuthn, in its JSON form; `challengeId` comes back with the browser's answer. */
    "POST /sign-in/passkey/begin": { answer: PasskeyQuestion };
    "POST /sign-in/passkey/finish": { body: PasskeyAnswer; answer: Me };
    "POST /sign-out": { answer: Done };

    // The person who is signed in.
    "GET /me": { answer: Me };
    "GET /me/sessions": { answer: { sessions: Session[] } };
    "POST /me/sessions/:sessionId/revoke": { answer: Done };
    "POST /me/sessions/revoke-others": { answer: { revoked: number } };
    "GET /me/passkeys": { answer: { passkeys: Passkey[] } };
    "POST /me/passkeys/begin": { answer: PasskeyQuestion };
    "POST /me/passkeys/finish": { body: PasskeyAnswer & { name: string }; answer: Passkey };
    "POST /me/passkeys/:passkeyId/remove": { answer: Done };
    "POST /me/invitations/:workspaceId/accept": { answer: Me };
    "POST /me/invitations/:workspaceId/decline": { answer: Me };
    /** For any member; the last owner cannot. */
    "POST /me/workspaces/:workspaceId/leave": { answer: Me };
    /** In all workspaces, those that are not over. */
    "GET /me/absences": { answer: { absences: Absence[] } };
    "POST /me/workspaces/:workspaceId/absences": { body: NewAbsence; answer: Absence };
    "POST /me/absences/:absenceId": { body: Partial<NewAbsence>; answer: Absence };
    "POST /me/absences/:absenceId/end": { answer: Done };

    // One workspace.
    "GET /workspaces/:workspaceId": { answer: Workspace };
    "POST /workspaces/:workspaceId/settings": { body: Partial<Settings>; answer: Workspace };
    "POST /workspaces/:workspaceId/callback-secret/show": { answer: CallbackSecret };
    "POST /workspaces/:workspaceId/callback-secret/rotate": { answer: CallbackSecret };
    "GET /workspaces/:workspaceId/usage": { answer: Usage };
    "GET /workspaces/:workspaceId/overview": {
      query: { days?: "7" | "30" | "90" };
      answer: Overview;
    };
    "GET /workspaces/:workspaceId/attention": { answer: Attention };
    "GET /workspaces/:workspaceId/activity": { query: { cursor?: string }; answer: Page<Activity> };

    "GET /workspaces/:workspaceId/requests": { query: RequestFilter; answer: RequestPage };
    "GET /workspaces/:workspaceId/requests/export": { query: ExportFilter; answer: FileDownload };
    /** Whether that file would be refused now: a browser can't tell its page why a download failed. */
    "GET /workspaces/:workspaceId/exportable": { query: ExportFilter; answer: Done };
    "GET /workspaces/:workspaceId/requests/:requestId": { answer: RequestDetail };
    /** Null for requests from before keys were recorded. */
    "GET /workspaces/:workspaceId/requests/:requestId/key": {
      answer: { apiKey: AskingKey | null };
    };
    "POST /workspaces/:workspaceId/requests/:requestId/cancel": { answer: RequestDetail };
    "GET /workspaces/:workspaceId/cancellable": { query: RequestFilter; answer: Cancellable };
    /** At most `cancelledAtOnceMax` ids. */
    "POST /workspaces/:workspaceId/requests/cancel": {
      body: { ids: string[] };
      answer: Cancellation;
    };
    /** Cancels pending requests that match, as many as one call may, from `upTo` to older ones. */
    "POST /workspaces/:workspaceId/requests/cancel-matching": {
      query: RequestFilter;
      body: { upTo: string };
      answer: CancelledMatching;
    };
    /** Sends the mails that ask for a decision once more, to everybody who may decide. */
    "POST /workspaces/:workspaceId/requests/:requestId/mail-again": { answer: { sent: number } };
    /** Mails everybody who can still vote, once an hour at most. */
    "POST /workspaces/:workspaceId/requests/:requestId/remind": { answer: { reminded: number } };

    "GET /workspaces/:workspaceId/deliveries": { query: DeliveryFilter; answer: Page<Delivery> };
    "GET /workspaces/:workspaceId/deliveries/:deliveryId": { answer: DeliveryDetail };
    "POST /workspaces/:workspaceId/deliveries/:deliveryId/resend": { answer: Delivery };

    "GET /workspaces/:workspaceId/endpoints": { answer: { endpoints: Endpoint[] } };
    "POST /workspaces/:workspaceId/endpoints": {
      body: { name?: string | null; url: string; eventKinds: EndpointEventKind[] | null };
      answer: EndpointWithSecret;
    };
    "GET /workspaces/:workspaceId/endpoints/:endpointId": { answer: EndpointDetail };
    "POST /workspaces/:workspaceId/endpoints/:endpointId": {
      body: { name?: string | null; url?: string; eventKinds?: EndpointEventKind[] | null };
      answer: Endpoint;
    };
    "POST /workspaces/:workspaceId/endpoints/:endpointId/enable": { answer: Endpoint };
    "POST /workspaces/:workspaceId/endpoints/:endpointId/disable": {
      body: { reason: string };
      answer: Endpoint;
    };
    "POST /workspaces/:workspaceId/endpoints/:endpointId/rotate": { answer: EndpointWithSecret };
    "POST /workspaces/:workspaceId/endpoints/:endpointId/test": { answer: { deliveryId: string } };
    "POST /workspaces/:workspaceId/endpoints/:endpointId/resend-failed": {
      body: { since: string };
      answer: { resent: number };
    };

    "GET /workspaces/:workspaceId/endpoints/:endpointId/deletion": { answer: EndpointDeletion };
    "POST /workspaces/:workspaceId/endpoints/:endpointId/delete": { answer: Done };

    /** All working keys, then the keys revoked last; `isMore` when more were revoked than are listed. */
    "GET /workspaces/:workspaceId/keys": { answer: { keys: ApiKey[]; isMore: boolean } };
    "POST /workspaces/:workspaceId/keys": {
      body: { name: string; defaultApprover?: string | null; owner?: string | null };
      answer: IssuedKey;
    };
    "POST /workspaces/:workspaceId/keys/:keyId": {
      body: { defaultApprover?: string | null; owner?: string | null };
      answer: ApiKey;
    };
    "GET /workspaces/:workspaceId/keys/:keyId/revocation": { answer: KeyRevocation };
    /** With `cancelPending` its pending requests are cancelled, too. */
    "POST /workspaces/:workspaceId/keys/:keyId/revoke": {
      body: { cancelPending?: boolean };
      answer: ApiKey & { cancelled: number };
    };

    "GET /connections/asked": { query: Record<string, string>; answer: AskedConnection };
    /** `asked` is that address, from the question mark on. `as` is the person whom the page named. */
    "POST /workspaces/:workspaceId/connections": {
      body: { asked: string; as?: string };
      answer: { redirectTo: string };
    };

    "GET /workspaces/:workspaceId/groups": { answer: { groups: Group[] } };
    "POST /workspaces/:workspaceId/groups": {
      body: { key: string; name: string; members: string[] };
      answer: Group;
    };
    "POST /workspaces/:workspaceId/groups/:groupId": { body: { name: string }; answer: Group };
    "POST /workspaces/:workspaceId/groups/:groupId/members": {
      body: { email: string };
      answer: Group;
    };
    "POST /workspaces/:workspaceId/groups/:groupId/members/remove": {
      body: { email: string };
      answer: Group;
    };
    "GET /workspaces/:workspaceId/groups/:groupId/deletion": { answer: GroupDeletion };
    "POST /workspaces/:workspaceId/groups/:groupId/delete": { answer: { cancelled: number } };

    "GET /workspaces/:workspaceId/members": { answer: { members: Member[] } };
    "POST /workspaces/:workspaceId/members": {
      body: { email: string; role: Role };
      answer: Member;
    };
    "POST /workspaces/:workspaceId/members/:memberId/role": {
      body: { role: Role };
      answer: Member;
    };
    "GET /workspaces/:workspaceId/members/:memberId/removal": { answer: MemberRemoval };
    /** With `groups` from all groups of approvers, too. */
    "POST /workspaces/:workspaceId/members/:memberId/remove": {
      body: { groups?: boolean };
      answer: Done;
    };
    /** The addresses of people who may stand in for each other: those who have joined, and those in groups. */
    "GET /workspaces/:workspaceId/colleagues": { answer: { colleagues: string[] } };
    "GET /workspaces/:workspaceId/absences": { answer: { absences: Absence[] } };
    "POST /workspaces/:workspaceId/absences/:absenceId/end": { answer: Done };
  };

export type Done = { done: true };

/** `cursor` of the next page; null on the last. */
export type Page<Item> = { items: Item[]; nextCursor: string | null };

export type Me = {
  email: string;
  sessionId: string;
  workspaces: { id: string; name: string; role: Role }[];
  /** Workspaces that this person was invited to and has neither joined nor declined. */
  invitations: {
    workspaceId: string;
    workspaceName: string;
    role: Role;
    invitedBy: string | null;
  }[];
  hasPasskey: boolean;
};

export type Usage = {
  plan: string;
  /** This UTC month. */
  month: string;
  used: number;
  /** Null is no limit. */
  included: number | null;
  hasOverage: boolean;
  cap: number | null;
  /** Requests created on each UTC day of this month and the last, oldest first, days without any included. */
  days: { day: string; requests: number }[];
};

export type Overview = {
  now: string;
  pending: PendingNow;
  days: number;
  total: Shares;
  perDay: (Shares & { day: string })[];
  /** The agents that asked most, at most ten; null is unnamed. */
  perAgent: (Shares & { agentName: string | null })[];
  /** Only where stages were complete, or more people were asked. */
  stages?: StageFigures;
};

/** A count that is not worth more time than a look at the list: from `pendingCountMax` on it is "that or more". */
export type PendingNow = { count: number; isMore: boolean; oldestCreatedAt: string | null };

/** Requests by outcome. `approved` includes `edited`. */
export type Shares = {
  asked: number;
  pending: number;
  approved: number;
  edited: number;
  rejected: number;
  expired: number;
  cancelled: number;
  /** Milliseconds from question to decision by a person, approved or rejected; null when nobody decided. */
  medianMs: number | null;
  p90Ms: number | null;
};

/** `isIndexing` while some requests can't be found by their words yet: many new ones, or those from before an upgrade. */
export type RequestPage = Page<RequestRow> & {
  pending: PendingNow;
  now: string;
  isIndexing?: true;
};

export type RequestRow = {
  id: string;
  status: ApprovalStatus;
  summary: string;
  agentName: string | null;
  /** The approver is an address or a group. */
  approverEmail: string | null;
  approverGroup: { key: string; name: string } | null;
  createdAt: string;
  expiresAt: string;
  resolvedAt: string | null;
  resolvedByEmail: string | null;
  isEdited: boolean;
  /** Where a search found a word, if the rest of the row doesn't show it. The text is a part of a long value. */
  match?: { field: "payload" | "edit" | "metadata"; path: string; text: string };
  /** Only where several people decide, or something is the matter with them. */
  progress?: VotingProgress;
};

/** Everything that was submitted, and the outcome. */
export type RequestDetail = RequestRow &
  SubmittedGiven & {
    /** Only if the request named one. Viewers see no more than where it leads. */
    callbackUrl?: string;
    now: string;
    resolutionNote: string | null;
    /** Exact JSON text, like the submitted one. */
    edit: string | null;
    reviewers: { email: string; openedAt: string | null }[];
    voting?: RequestVoting;
    /** Where one person decided, and the workspace limited whom agents may ask when this was created. */
    approverLimit?: "members" | "domains";
    /** Oldest first. */
    history: HistoryEntry[];
    /** Beside the mails. Only where there are some. */
    messages?: RequestMessage[];
    /** Of each decision and vote, in their order. Only where there is some. */
    evidence?: RequestEvidence[];
    deliveries: Delivery[];
  };

export type Delivery = {
  id: string;
  requestId: string | null;
  /** The summary of that request. */
  requestSummary: string | null;
  event: EndpointEventKind | TestEventKind | string;
  state: DeliveryState;
  /** `name` only if it has one. `isDeleted` only if the endpoint was: then nothing can be sent to it again. */
  destination:
    | { kind: "endpoint"; id: string; url: string; name?: string; isDeleted?: true }
    | { kind: "mailbox"; email: string }
    | { kind: "callback"; host: string };
  attempts: number;
  createdAt: string;
  nextAttemptAt: string | null;
  finishedAt: string | null;
  /** How the last attempt went, in a word of the service's closed list, and the HTTP status. */
  lastOutcome: string | null;
  lastHttpStatus: number | null;
};

export type DeliveryDetail = Delivery & {
  /** The HTTP request of every attempt; null for a mail. */
  request: { url: string; headers: Record<string, string>; body: string } | null;
  attemptList: DeliveryAttempt[];
};

export type DeliveryAttempt = {
  number: number;
  startedAt: string;
  finishedAt: string | null;
  outcome: string | null;
  httpStatus: number | null;
  durationMs: number | null;
  /** The beginning of the answer. */
  responseStart: string | null;
  /** Only where there was an answer to a callback, and this member may not see it. */
  isResponseWithheld?: true;
};

export type Member = {
  id: string;
  email: string;
  role: Role;
  isYou: boolean;
  invitedAt: string;
  /** Null while they have not accepted. */
  joinedAt: string | null;
};

export type DashboardErrorCode =
  | "invalid_json"
  | "validation_error"
  | "signed_out"
  | "sign_in_failed"
  | "forbidden"
  | "cross_origin"
  | "not_found"
  | "method_not_allowed"
  | "conflict"
  | "already_resolved"
  | "plan_required"
  | "body_too_large"
  | "rate_limited"
  | "internal_error"
  | "unavailable";

export type DashboardErrorBody = {
  error: {
    code: DashboardErrorCode;
    message: string;
    /** The field of a form that is wrong, where one is. */
    field?: string;
  };
};
