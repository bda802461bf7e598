// The requests of a fake service: their states, what may happen to them, and who waits for them. What may happen is decided
// by the service's own rules wherever they are pure.

import {
  type Approval,
  type ApprovalState,
  describeResolution,
} from "../../../server/src/domain/approval/approval.ts";
import type { ListQuery } from "../../../server/src/domain/approval/call-parameters.ts";
import { type EventKind, eventOfStatus } from "../../../server/src/domain/approval/event.ts";
import type { NewApproval } from "../../../server/src/domain/approval/new-approval.ts";
import {
  parseReviewDecision,
  realEdit,
} from "../../../server/src/domain/approval/review-decision.ts";
import { isRefusal, type Refusal, refuse } from "../../../server/src/domain/refusal.ts";
import { scanJsonValue } from "../../../server/src/domain/shown/json-text.ts";
import type { RedemptionFacts } from "../contract.ts";
import type { AskedPeople } from "./asked-people.ts";
import type { Clock } from "./movable-clock.ts";
import { count, escalate, type FakeVoting, voterOf, votingText } from "./voting.ts";

export type LedgerEntry = {
  approval: Approval;
  /** Who may decide. */
  emails: readonly string[];
  callbackUrl: string | null;
  /** Null where one person decides. */
  voting: FakeVoting | null;
  remindedAt: Date | null;
  replayed: { key: string; body: Uint8Array } | null;
  redemption: (RedemptionFacts & { idempotencyKey: string | null }) | null;
};

export type Choice = {
  verdict: "approve" | "reject";
  by?: string | undefined;
  note?: string | undefined;
  editText?: string | undefined;
};

/** Like the service. */
const remindPauseMinutes = 60;

export function unknownRequest(): Refusal<"not_found"> {
  return refuse(
    "not_found",
    "There is no request with this id in this workspace. Check the id, and that this API key belongs to the workspace that created it.",
  );
}

export class Ledger {
  readonly #clock: Clock;
  readonly #onEvent: (entry: LedgerEntry, kind: EventKind) => void;
  /** Oldest first. */
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock, onEvent: (entry: LedgerEntry, kind: EventKind) => void) {
    this.#clock = clock;
    this.#onEvent = onEvent;
  }

  list(): LedgerEntry[] {
    this.expireOverdue();
    return [...this.#entries.values()];
  }

  find(id: string): LedgerEntry | null {
    return this.#entries.get(id) ?? null;
  }

  get(id: string): LedgerEntry {
    this.expireOverdue();
    const entry = this.find(id);
    if (entry === null) throw new Error(unknownRequest().message);
    return entry;
  }

  create(
    { notify: _, ttlMinutes, callbackUrl, quorum, then, escalate: __, ...submitted }: NewApproval,
    input: { asked: AskedPeople; minutes: number } & Pick<LedgerEntry, "voting" | "replayed">,
  ): LedgerEntry {
    const { asked, minutes, voting, replayed } = input;
    const createdAt = new Date(this.#clock.now());
    const approval: Approval = {
      ...submitted,
      id: this.#newId(createdAt),
      approver: asked.approver,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + minutes * 60_000),
      state: { kind: "PENDING" },
      voting: voting === null ? null : votingText(voting),
    };
    const { emails } = asked;
    const nothingYet = { remindedAt: null, redemption: null };
    const entry = { approval, emails, callbackUrl, voting, replayed, ...nothingYet };
    this.#entries.set(approval.id, entry);
    this.#onEvent(entry, "request.created");
    return entry;
  }

  /** Ids sort by time, like the service's. Within a millisecond they count on. */
  #newId(at: Date): string {
    const time = at.getTime().toString(16).padStart(12, "0");
    return `req_${time}${(this.#entries.size + 1).toString(16).padStart(20, "0")}`;
  }

  findReplay(key: string | null, body: Uint8Array): LedgerEntry | null | Refusal {
    if (key === null) return null;
    const entry = this.list().find(({ replayed }) => replayed?.key === key);
    if (entry === undefined || entry.replayed === null) return null;
    if (isSameBytes(entry.replayed.body, body)) return entry;
    return refuse(
      "idempotency_key_reused",
      `This Idempotency-Key was used for ${entry.approval.id} with another body. Use a new key for a new request, or send the very same body.`,
    );
  }

  countOfMonth(): number {
    const month = new Date(this.#clock.now()).toISOString().slice(0, 7);
    const created = this.list().map(({ approval }) => approval.createdAt.toISOString());
    return created.filter((at) => at.startsWith(month)).length;
  }

  page(filter: ListQuery): { page: LedgerEntry[]; hasMore: boolean } {
    const { status, agentName, createdAfter, createdBefore, beforeId, limit } = filter;
    const found = this.list()
      .reverse()
      .filter(
        ({ approval }) =>
          (status === null || approval.state.kind === status) &&
          (agentName === null || approval.agentName === agentName) &&
          (createdAfter === null || approval.createdAt > createdAfter) &&
          (createdBefore === null || approval.createdAt < createdBefore) &&
          (beforeId === null || approval.id < beforeId),
      );
    return { page: found.slice(0, limit), hasMore: found.length > limit };
  }

  /** Through the body that the review page would send, so that the same rules judge it. */
  decide(id: string, { verdict, by, note, editText }: Choice): LedgerEntry {
    const entry = this.get(id);
    const { approval } = entry;
    const byEmail = deciderOf(entry, by, verdict);
    const decision = parseReviewDecision(bodyOf({ verdict, note, editText }));
    if (isRefusal(decision)) throw new Error(decision.message);
    if (approval.state.kind !== "PENDING") {
      throw new Error(
        `This request ${describeResolution(approval.state)}. Nothing can be decided any more, and what you sent changed nothing.`,
      );
    }
    const at = new Date(this.#clock.now());
    const { note: kept, edit } = decision;
    if (entry.voting !== null) {
      const ballot = { email: byEmail, verdict, note: kept, edit, payload: approval.payload, at };
      return this.#vote(entry, entry.voting, ballot);
    }
    return this.#resolve(
      entry,
      verdict === "reject"
        ? { kind: "REJECTED", at, byEmail, note: kept }
        : { kind: "APPROVED", at, byEmail, note: kept, edit: realEdit(approval.payload, edit) },
    );
  }

  #vote(entry: LedgerEntry, voting: FakeVoting, ballot: Parameters<typeof count>[1]): LedgerEntry {
    const { verdict, at, email: byEmail, note } = ballot;
    const { entered, approved } = count(voting, ballot);
    this.#publish(entry, voting, "request.vote_recorded");
    if (verdict === "reject") return this.#resolve(entry, { kind: "REJECTED", at, byEmail, note });
    if (approved !== null) {
      return this.#resolve(entry, { kind: "APPROVED", at, byEmail, note, ...approved });
    }
    if (entered !== null) this.#onEvent(entry, "request.stage_entered");
    this.#wake();
    return entry;
  }

  #publish(entry: LedgerEntry, voting: FakeVoting, kind: EventKind): void {
    entry.approval.voting = votingText(voting);
    this.#onEvent(entry, kind);
  }

  expire(id: string): LedgerEntry {
    const entry = this.get(id);
    const { approval } = entry;
    if (approval.state.kind !== "PENDING") {
      throw new Error(`This request ${describeResolution(approval.state)} and cannot expire.`);
    }
    approval.expiresAt = new Date(this.#clock.now());
    return this.#resolve(entry, { kind: "EXPIRED", at: approval.expiresAt });
  }

  expireOverdue(): void {
    const now = this.#clock.now();
    for (const entry of this.#entries.values()) {
      const { voting } = entry;
      const { state, expiresAt } = entry.approval;
      if (state.kind !== "PENDING") continue;
      if (expiresAt.getTime() <= now) this.#resolve(entry, { kind: "EXPIRED", at: expiresAt });
      else if (voting !== null && escalate(voting, new Date(now))) {
        this.#publish(entry, voting, "request.escalated");
      }
    }
    this.#wake();
  }

  cancel(id: string): LedgerEntry | Refusal {
    const entry = this.find(id);
    if (entry === null) return unknownRequest();
    const { state } = entry.approval;
    if (state.kind === "PENDING") {
      return this.#resolve(entry, { kind: "CANCELLED", at: new Date(this.#clock.now()) });
    }
    return refuse(
      "already_resolved",
      `This request ${describeResolution(state)} and cannot be cancelled any more. Read it to learn its outcome.`,
    );
  }

  remind(id: string): LedgerEntry | RemindRefusal {
    const entry = this.find(id);
    if (entry === null) return unknownRequest();
    const { state } = entry.approval;
    if (state.kind !== "PENDING") {
      return refuse(
        "already_resolved",
        `This request ${describeResolution(state)}, so nobody is asked any more. Read it to learn its outcome.`,
      );
    }
    const now = this.#clock.now();
    const againAt = (entry.remindedAt?.getTime() ?? -Infinity) + remindPauseMinutes * 60_000;
    if (againAt > now) return remindedRecently(Math.ceil((againAt - now) / 1_000));
    entry.remindedAt = new Date(now);
    return entry;
  }

  redeem(
    id: string,
    { by, idempotencyKey }: { by: { id: string; name: string }; idempotencyKey: string | null },
  ): { entry: LedgerEntry; facts: RedemptionFacts; isReplay: boolean } | RedeemRefusal {
    const entry = this.find(id);
    if (entry === null) return unknownRequest();
    const { state } = entry.approval;
    if (state.kind !== "APPROVED") return notApproved(state);
    if (entry.redemption === null) {
      const redeemedAt = new Date(this.#clock.now()).toISOString();
      entry.redemption = { redeemedAt, redeemedBy: by, idempotencyKey };
      return { entry, facts: { redeemedAt, redeemedBy: by }, isReplay: false };
    }
    const { idempotencyKey: usedKey, ...facts } = entry.redemption;
    const isReplay =
      usedKey !== null && usedKey === idempotencyKey && facts.redeemedBy.id === by.id;
    return isReplay ? { entry, facts, isReplay } : alreadyRedeemed(facts);
  }

  /** Until it is resolved, it has news for the caller, the seconds are over by either clock, or the caller leaves. */
  async untilResolved(
    entry: LedgerEntry,
    { waitMs, signal, hasNews }: { waitMs: number; signal: AbortSignal | null; hasNews(): boolean },
  ): Promise<void> {
    const endsAt = this.#clock.now() + waitMs;
    const isOver = () =>
      entry.approval.state.kind !== "PENDING" || hasNews() || this.#clock.now() >= endsAt;
    if (isOver()) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const look = () => {
        if (isOver()) end();
      };
      const timer = setTimeout(end, waitMs);
      this.#waiting.add(look);
      signal?.addEventListener("abort", end, { once: true });
    });
  }

  #resolve(entry: LedgerEntry, state: Exclude<ApprovalState, { kind: "PENDING" }>): LedgerEntry {
    entry.approval.state = state;
    this.#onEvent(entry, eventOfStatus(state.kind));
    this.#wake();
    return entry;
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}

export type RemindRefusal =
  | Refusal
  | (Refusal<"reminded_recently"> & { retryAfterSeconds: number });

function remindedRecently(retryAfterSeconds: number): RemindRefusal {
  const message = `Everybody was reminded within the last ${remindPauseMinutes} minutes. Try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`;
  return { ...refuse("reminded_recently", message), retryAfterSeconds };
}

export type RedeemRefusal = Refusal | (Refusal<"already_redeemed"> & { facts: RedemptionFacts });

function notApproved(state: Exclude<ApprovalState, { kind: "APPROVED" }>): Refusal {
  return refuse(
    "not_approved",
    state.kind === "PENDING"
      ? "This request is still PENDING. Wait for its decision, and redeem it when it is APPROVED."
      : `This request ${describeResolution(state)}. Only an approved request can be redeemed: do not run the action.`,
  );
}

function alreadyRedeemed(facts: RedemptionFacts): RedeemRefusal {
  const { redeemedAt, redeemedBy } = facts;
  const message = `This request was redeemed at ${redeemedAt} with the API key ${JSON.stringify(redeemedBy.name)} (${redeemedBy.id}). Do not run the action again: find out there whether it was carried out.`;
  return { ...refuse("already_redeemed", message), facts };
}

function deciderOf(
  { approval, emails, voting }: LedgerEntry,
  by: string | undefined,
  verdict: Choice["verdict"],
): string {
  const [first = ""] = emails;
  if (by === undefined && voting === null) return first;
  const found =
    voting === null
      ? emails.find((email) => email.toLowerCase() === by?.toLowerCase())
      : voterOf(voting, by, verdict);
  if (found === undefined) throw new Error(`${by} was not asked about ${approval.id}`);
  return found;
}

/** Of the page's own proofs only their form is checked: there is no page. */
function bodyOf({ verdict, note, editText }: Omit<Choice, "by">): Uint8Array {
  const fields = { verdict, note, digest: "0".repeat(64), ticket: "testing" };
  const text = JSON.stringify(fields);
  if (editText === undefined) return new TextEncoder().encode(text);
  const scanned = scanJsonValue(editText);
  if (scanned.kind === "malformed") throw new Error(`the edit is not JSON: ${scanned.message}`);
  return new TextEncoder().encode(`${text.slice(0, -1)},"edit":${editText}}`);
}

function isSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
