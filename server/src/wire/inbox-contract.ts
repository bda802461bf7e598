// The contract between the inbox and the service. It isn't in /v1: the two are released together, and nothing else may
// use it. An opened request has the review page's own contract, because the inbox draws it with the same parts.

import type { ReviewErrorBody, ReviewOutcome, ReviewStatus } from "./review-contract.ts";

/** What waits for the person, and what is over. */
export type InboxList = {
  /** The person who is signed in. */
  email: string;
  /** The earliest deadline first, up to `inboxWaitingMax`. */
  waiting: InboxRow[];
  /** Others wait that aren't listed. */
  isMore: boolean;
  /** The service's clock when it answered. */
  now: string;
};

/** Newest first; the cursor of the next page is null on the last one. */
export type InboxPast = { past: InboxPastRow[]; next: string | null };

/** A request in the list, named by the id of the person's place in it. */
export type InboxRow = {
  id: string;
  requestId: string;
  workspaceName: string;
  summary: string;
  agentName: string | null;
  /** The same for all requests of one agent: only those can be decided together. */
  agent: string;
  createdAt: string;
  expiresAt: string;
  /** Asked as one of a group, or for somebody who is away. */
  groupName: string | null;
  for: string | null;
  /** Approvals so far in the open stage, where several people decide. */
  progress: { stage: number; stages: number; approvals: number; required: number } | null;
};

export type InboxPastRow = Omit<InboxRow, "progress"> & {
  /** Null while the request waits for others: the person has voted, or passed their vote on. */
  outcome: Pick<ReviewOutcome, "status" | "at" | "byEmail" | "isYours"> | null;
};

/** One of several decisions that are sent at once. */
export type InboxDecision = {
  id: string;
  digest: string;
  ticket: string;
  opened?: string;
  place?: string;
};

export type InboxDecisions = {
  verdict: "approve" | "reject";
  note?: string;
  /** As in the body of one decision. */
  page?: string;
  decisions: InboxDecision[];
};

/** In the order in which they were sent. One that was refused doesn't touch the others. */
export type InboxResults = {
  results: ({ id: string } & (
    | { kind: "recorded"; status: ReviewStatus }
    | { kind: "refused"; problem: ReviewErrorBody }
  ))[];
};

/** How a person wants to be asked. */
export type InboxSettings = {
  email: string;
  /** Null: mail is sent at once. */
  mailAfterMinutes: number | null;
  usesSlack: boolean;
  quiet: { from: string; until: string; timeZone: string } | null;
  push: {
    /** For `pushManager.subscribe`, in base64url. */
    publicKey: string;
    browsers: { id: string; createdAt: string; isThis: boolean }[];
  };
  slack: { teamId: string; teamName: string; slackUserId: string; source: "linked" | "email" }[];
  /** Some workspace that asked them has connected Slack. */
  canLinkSlack: boolean;
};

export type InboxSettingsChange = Pick<InboxSettings, "mailAfterMinutes" | "usesSlack" | "quiet">;

/** A browser's subscription, as `PushSubscription.toJSON` tells it. */
export type NewPushSubscription = { endpoint: string; keys: { p256dh: string; auth: string } };

/** Typed in Slack by the person who was shown it. */
export type SlackLinkCode = { code: string; expiresAt: string };
