// A workspace and its settings, as the dashboard gets and changes them.

export type Settings = {
  name: string;
  expiryMinutes: number;
  /** Per cent of the time left when approvers are reminded; null is never. */
  reminderPercent: number | null;
  reviewCode: boolean;
  /** The workspace's own safety cap a month; null goes by the plan. */
  cap: number | null;
  /** Whom MCP asks when an agent names nobody: an address or group:<key>; null is nobody. */
  defaultApprover: string | null;
  /** Whom agents may ask. Null until somebody chooses, which means anybody. */
  approverLimit: "anybody" | "members" | "domains" | null;
  /** For the limit to domains. */
  approverDomains: string[];
  /** To whom somebody who is asked may pass their vote on. */
  handOver: "off" | "group" | "workspace";
};

/** What others rely on as proof. Only owners change it. */
export type ProofSettings = {
  /** Nobody approves without a passkey. Holds for requests that are created from then on. */
  requiresSignature: boolean;
  /** How long receipts are valid, from 1 to `receiptHoursMax`. */
  receiptHours: number;
  /** Requests that ended longer ago are deleted; null keeps them for ever. */
  retentionDays: number | null;
};

export type Workspace = Settings &
  ProofSettings & {
    id: string;
    plan: string;
    hasGroups: boolean;
    role: "owner" | "admin" | "viewer";
    createdAt: string;
    /** Whether there is no request yet, for the first steps. */
    isEmpty: boolean;
    /** The URL at which requests are created. */
    apiUrl: string;
  };
