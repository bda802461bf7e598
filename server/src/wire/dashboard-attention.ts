// What needs somebody's attention in a workspace, as the dashboard's strip and rail get it. Empty lists and nulls are
// the usual answer.

export type Attention = {
  now: string;
  endpoints: {
    /** The most urgent ones, at most `attentionNamedMax`. */
    named: AttentionEndpoint[];
    count: number;
  };
  /** Null when no request expires soon. */
  expiring: (AttentionCount & { first: { requestId: string; expiresAt: string } }) | null;
  /** Mails that never reached an approver of a request that still waits. */
  failedMails: AttentionCount & {
    /** The newest, at most `attentionNamedMax`. */
    named: { deliveryId: string; email: string; failedAt: string }[];
  };
  /** Callbacks that were given up, and whose action nobody redeemed. Left out while there are none. */
  failedCallbacks?: FailedCallbacks;
  /** Slack no longer takes the token. Left out while it does. */
  brokenSlack?: { teamName: string; at: string };
  /** Null while much of the monthly limit is left, or there is none. */
  quota: AttentionQuota | null;
};

export type FailedCallbacks = AttentionCount & {
  /** The hosts with the newest, at most `attentionNamedMax`, each with one of its deliveries. */
  named: { deliveryId: string; host: string; failedAt: string; count: number }[];
  /** One to a host that is not named, if there is any. */
  otherDeliveryId?: string;
};

/** Counted up to a bound. `isMore` says that there are more. */
export type AttentionCount = { count: number; isMore: boolean };

export type AttentionEndpoint = {
  id: string;
  /** Left out while it has none. */
  name?: string;
  url: string;
  /**
   * Every attempt fails; the service disabled it; or it works again, and deliveries that failed before were not resent.
   */
  trouble: "failing" | "disabled" | "missed";
  /** When it began to fail, was disabled, or last gave a delivery up. */
  since: string;
  /** Deliveries that failed, or were skipped because it is disabled. Without test events. */
  missed: AttentionCount;
  /** Deliveries that wait for an attempt. */
  waiting: AttentionCount;
};

export type AttentionQuota = {
  used: number;
  limit: number;
  /** New requests are refused until the month ends. */
  isUsedUp: boolean;
};
