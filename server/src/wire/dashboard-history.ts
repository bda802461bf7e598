// The history of a request, as the lines of its timeline.

export type HistoryEntry =
  | { kind: "created"; at: string }
  | {
      kind: "mailed" | "reminded" | "mail_failed" | "change_told" | "outcome_told";
      at: string;
      email: string;
      deliveryId: string;
    }
  | { kind: "opened"; at: string; email: string }
  | { kind: "approved" | "rejected"; at: string; email: string }
  | { kind: "expired" | "cancelled"; at: string }
  | { kind: "redeemed"; at: string; apiKey: { id: string; name: string } }
  | {
      kind: "delivered" | "delivery_failed";
      at: string;
      deliveryId: string;
      event: string;
      url: string;
      /** The endpoint's, if it has one. */
      name?: string;
      /** Then the URL is only the host. */
      isCallback?: true;
    }
  | MessageEntry
  | VotingEntry;

/** A message beside mail. Only where there are some. */
export type MessageEntry =
  | { kind: "message_sent"; at: string; channel: RequestMessage["channel"]; to: string }
  | {
      kind: "message_failed";
      at: string;
      channel: RequestMessage["channel"];
      to: string;
      /** A status, or a code of Slack’s or ours. */
      failure: string;
      /** A mail that asks reached those whom it was for, in its place. */
      isMailed: boolean;
      /** It is tried again. Only where it is. */
      isRetried?: true;
    };

export type RequestMessage = {
  channel: "push" | "slack" | "teams";
  /** A person's address, a group's name, or a channel in Slack. */
  to: string;
  /** `due` with a failure is tried again. */
  state: "due" | "sent" | "failed" | "skipped";
  sentAt: string | null;
  failedAt: string | null;
  failure: string | null;
};

/** Only where people have seats. Stages are counted from 1. */
export type VotingEntry =
  | {
      kind: "voted";
      at: string;
      email: string;
      for: string | null;
      verdict: "approve" | "reject";
      stage: number;
      revision: number;
      via: "link" | "inbox" | "slack" | "teams";
      note: string | null;
      /** The revision since which it no longer counts. */
      outdatedBy: number | null;
    }
  | { kind: "revised"; at: string; email: string; revision: number }
  /** `isAgain` after an edit. */
  | { kind: "stage_entered"; at: string; stage: number; name: string; isAgain: boolean }
  /** `isNews` unless everybody had been asked already. */
  | { kind: "escalated"; at: string; stage: number; name: string; isNews: boolean }
  /** Is to come. */
  | { kind: "escalates"; at: string; stage: number; name: string }
  | { kind: "handed_over"; at: string; email: string; toEmail: string }
  | { kind: "delegated"; at: string; email: string; toEmail: string }
  | { kind: "stuck" | "unreachable"; at: string; stage: number };
