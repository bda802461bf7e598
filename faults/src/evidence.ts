// What a run leaves behind: what callers, people, receivers and mailboxes noted themselves, and what the database says at
// the end. The checker reads this and nothing else.

/** An answer may be missing: the caller then doesn't know what became of the call. */
export type Asked = {
  /** By the clock of the machine, when the call was noted, which is before it was sent. */
  at: number;
  /** When its answer had come, or failed to; infinite until then. */
  endedAt: number;
  node: number;
  status: number | null;
  answer: string | null;
};

export type CreateCall = Asked & {
  workspaceId: string;
  idempotencyKey: string;
  summary: string;
  /** The exact text that was sent. */
  payload: string;
  approver: string;
};

export type ReadCall = Asked & { workspaceId: string; requestId: string };
export type CancelCall = Asked & { workspaceId: string; requestId: string };

export type DecideCall = Asked & {
  /** What the page said that it is about: no two requests of a run have the same. */
  summary: string;
  email: string;
  verdict: "approve" | "reject";
  /** The exact text that was sent. */
  edit: string | null;
};

/** A page opened by a link. */
export type OpenCall = Asked & { email: string };

/** A webhook as its receiver took it. `answered` is null if it never answered, or cut the connection. */
export type Heard = {
  at: number;
  endpointId: string;
  headers: Record<string, string>;
  body: string;
  answered: number | null;
};

/** `isTaken`: the mailbox has said that it has it. */
export type Mail = { at: number; to: string; text: string; isTaken: boolean };

export type Workspace = { id: string; endpoints: { id: string; secret: string }[] };

export type RequestRow = {
  id: string;
  workspaceId: string;
  idempotencyKey: string | null;
  status: string;
  summary: string;
  payload: string | null;
  edit: string | null;
  createdAt: number;
  expiresAt: number;
  resolvedAt: number | null;
  resolvedBy: string | null;
  /** What a read answers at the end, from an API node. */
  answer: string;
};

export type EventRow = {
  id: string;
  workspaceId: string;
  requestId: string;
  kind: string;
  createdAt: number;
};

export type DeliveryRow = {
  id: string;
  workspaceId: string;
  eventId: string;
  /** Null for a mail. */
  endpointId: string | null;
  state: string;
  dueAt: number;
  attempts: number;
  leasedUntil: number | null;
};

export type AttemptRow = {
  deliveryId: string;
  number: number;
  startedAt: number;
  outcome: string | null;
};

export type Evidence = {
  /** When the last fault had ended, and when the database was read. */
  faultsEndedAt: number;
  readAt: number;
  workspaces: Workspace[];
  creates: CreateCall[];
  reads: ReadCall[];
  cancels: CancelCall[];
  decisions: DecideCall[];
  opens: OpenCall[];
  heard: Heard[];
  mails: Mail[];
  requests: RequestRow[];
  events: EventRow[];
  deliveries: DeliveryRow[];
  attempts: AttemptRow[];
  /** All that each process has written. */
  outputs: { process: string; text: string }[];
  secrets: { name: string; value: string }[];
};

/** A promise that was broken, in words, with the ids that show it. */
export type Flaw = {
  promise: string;
  what: string;
  /** Found by comparing PostgreSQL's clock with another, or with itself at another time. */
  isByClock?: boolean;
};

export function byClock(flaw: Flaw): Flaw {
  return { ...flaw, isByClock: true };
}
