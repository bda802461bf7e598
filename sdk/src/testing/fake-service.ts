// A service in memory for the tests of agents: hand its `options` to the real client, decide by hand, move the clock. The
// rules are the service's own: bodies, queries, JSON, decisions and events go through its domain code, and one list of
// cases runs against both.

import type { Approval } from "../../../server/src/domain/approval/approval.ts";
import {
  filterOf,
  refuseIdempotencyKey,
  toCursor,
  waitSecondsOf,
} from "../../../server/src/domain/approval/call-parameters.ts";
import { isVotingKind } from "../../../server/src/domain/approval/event.ts";
import { parseNewApproval } from "../../../server/src/domain/approval/new-approval.ts";
import { bodyBytesMax } from "../../../server/src/domain/limits.ts";
import { isRefusal, type Refusal, refuse } from "../../../server/src/domain/refusal.ts";
import type { ApprovalRequest, EventKind } from "../contract.ts";
import { refuseInexact } from "../exactness.ts";
import type { Fetch } from "../transport.ts";
import { type FakeGroup, findAsked } from "./asked-people.ts";
import { Ledger, type LedgerEntry, unknownRequest } from "./ledger.ts";
import { type Clock, makeClock } from "./movable-clock.ts";
import { type Outbox, type OutboxOptions, openOutbox, type SentWebhook } from "./outbox.ts";
import { FakeReceipts } from "./receipts.ts";
import { planVoting } from "./voting.ts";
import {
  answered,
  entityTagOf,
  hasTag,
  problem,
  readKeyOf,
  representEntry,
  routeOf,
} from "./wire.ts";

export type FakeServiceOptions = OutboxOptions & {
  /** The clock stands still at this time until it is moved. By default it runs with the real one. */
  now?: Date;
  /** When requests without `ttlMinutes` expire; 1440 by default. */
  expiryMinutes?: number;
  /** Groups that may be named as `group:<key>`. */
  groups?: readonly FakeGroup[];
  /** False as on a plan without groups. */
  hasGroups?: boolean;
  /** How many requests may be created in a calendar month; no limit by default. */
  monthlyLimit?: number;
  /** Whom `requests.defaultApprover()` names; nobody by default. */
  defaultApprover?: string;
  /** Called after each create, such as with `({ id }, service) => service.approve(id)`. */
  onRequest?: (request: ApprovalRequest, service: FakeService) => unknown;
};

export type DecideOptions = {
  /** One of those who were asked; by default the first of them, with several people the first who may vote now. */
  by?: string;
  note?: string;
};

export type ApproveOptions = DecideOptions & {
  /** The payload as the approver edits it. */
  edit?: unknown;
  /** The same as JSON text, for numbers that JavaScript would round. */
  editText?: string;
};

type FakeKey = { id: string; name: string; owner: string | null };

const baseUrl = "https://countersign.test";

/** `const countersign = new Countersign(new FakeService().options)` */
export class FakeService {
  readonly #settings: FakeServiceOptions;
  readonly #clock: Clock;
  readonly #ledger: Ledger;
  readonly #outbox: Outbox;
  readonly #receipts = new FakeReceipts(baseUrl);
  /** By the text of the API key. */
  readonly #keys = new Map<string, FakeKey>();
  /** Requests that `nextRequest` has not handed out yet, and calls of it that wait for one. */
  readonly #fresh: string[] = [];
  readonly #takers: ((request: ApprovalRequest) => void)[] = [];

  constructor(options: FakeServiceOptions = {}) {
    this.#settings = options;
    this.#clock = makeClock(options.now);
    const receiptOf = (approval: Approval) => this.#receipts.of(approval);
    this.#outbox = openOutbox({ ...options, receiptOf });
    this.#ledger = new Ledger(this.#clock, (entry, kind) => this.#tell(entry, kind));
    this.addKey("Test key");
  }

  /** For `new Countersign(…)`. */
  get options(): { apiKey: string; baseUrl: string; fetch: Fetch } {
    const [apiKey = ""] = this.#keys.keys();
    return { apiKey, baseUrl, fetch: this.fetch };
  }

  /** Answers as the service does. A call may be aborted by its signal. */
  readonly fetch: Fetch = async (url, init) => {
    init.signal?.throwIfAborted();
    const response = await this.#answer(new URL(url), init);
    init.signal?.throwIfAborted();
    return response;
  };

  /** Another API key of the workspace, as text. Its `owner`, an address, never approves what is created with it. */
  addKey(name: string, { owner = null }: { owner?: string | null } = {}): string {
    const number = this.#keys.size + 1;
    const apiKey = `cs_test_${number}`;
    this.#keys.set(apiKey, { id: `key_${String(number).padStart(32, "0")}`, name, owner });
    return apiKey;
  }

  /** The service's time. */
  get now(): Date {
    return new Date(this.#clock.now());
  }

  /** Moves the clock forward. Requests whose time is over expire, and waiting calls notice. */
  advance({
    minutes = 0,
    seconds = 0,
    ms = 0,
  }: {
    minutes?: number;
    seconds?: number;
    ms?: number;
  }): void {
    this.#clock.advance((minutes * 60 + seconds) * 1_000 + ms);
    this.#ledger.expireOverdue();
  }

  /** All requests as they are now, oldest first. */
  get requests(): ApprovalRequest[] {
    return this.#ledger.list().map(read);
  }

  request(id: string): ApprovalRequest {
    return read(this.#ledger.get(id));
  }

  /** The oldest request that was not handed out by this before; waits for one if there is none. */
  async nextRequest(): Promise<ApprovalRequest> {
    const id = this.#fresh.shift();
    if (id !== undefined) return this.request(id);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Decides as the approver would on the review page; throws the sentence that they would read there. */
  approve(id: string, { edit, editText, ...options }: ApproveOptions = {}): ApprovalRequest {
    refuseInexact(edit, JSON);
    const text = editText ?? (edit === undefined ? undefined : JSON.stringify(edit));
    return read(this.#ledger.decide(id, { verdict: "approve", editText: text, ...options }));
  }

  reject(id: string, options: DecideOptions = {}): ApprovalRequest {
    return read(this.#ledger.decide(id, { verdict: "reject", ...options }));
  }

  /** Ends the time of one request now. */
  expire(id: string): ApprovalRequest {
    return read(this.#ledger.expire(id));
  }

  /** The webhooks that were sent so far, oldest first. */
  get webhooks(): readonly SentWebhook[] {
    return this.#outbox.sent;
  }

  /** The signing secret of the webhooks. */
  get webhookSecret(): string {
    return this.#outbox.secret;
  }

  /** The callbacks that were sent so far, oldest first: the outcome of each request that named a `callbackUrl`. */
  get callbacks(): readonly SentWebhook[] {
    return this.#outbox.callbacks;
  }

  /** The secret that signs callbacks. */
  get callbackSecret(): string {
    return this.#outbox.callbackSecret;
  }

  /** Resolves once `onWebhook` and `onCallback` have answered everything that was sent, or has failed to. */
  async delivered(): Promise<void> {
    await this.#outbox.settled();
  }

  /** Sends a webhook again, as the service may: with the same id and body. */
  async redeliver(webhook: SentWebhook): Promise<void> {
    await this.#outbox.resend(webhook);
  }

  async sendTestEvent(): Promise<void> {
    this.#outbox.sendTest(this.#clock.now());
    await this.#outbox.settled();
  }

  #tell(entry: LedgerEntry, kind: EventKind): void {
    const at = new Date(this.#clock.now());
    this.#outbox.send(kind, entry.approval, at);
    if (isVotingKind(kind)) return;
    if (kind !== "request.created") {
      if (entry.callbackUrl !== null) {
        this.#outbox.sendCallback(entry.callbackUrl, { kind, approval: entry.approval, at });
      }
      return;
    }
    const request = read(entry);
    const taker = this.#takers.shift();
    if (taker === undefined) this.#fresh.push(request.id);
    else taker(request);
    // After the create is answered, as people decide.
    if (this.#settings.onRequest !== undefined) {
      queueMicrotask(() => void this.#settings.onRequest?.(request, this));
    }
  }

  async #answer(url: URL, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const route = routeOf(init.method ?? "GET", url.pathname);
    if ("refused" in route) return route.refused;
    if (route.name === "key_set") return this.#receipts.showKeySet();
    const key = readKeyOf(headers, this.#keys);
    if (isRefusal(key)) return problem(key);
    this.#ledger.expireOverdue();
    switch (route.name) {
      case "create":
        return this.#create(headers, bytesOf(init.body), key);
      case "list":
        return this.#list(url.searchParams);
      case "read":
        return this.#read(route.id, url.searchParams, { headers, signal: init.signal ?? null });
      case "cancel":
        return this.#cancel(route.id);
      case "remind":
        return this.#remind(route.id);
      case "redeem":
        return this.#redeem(route.id, { headers, key });
      case "receipt":
        return this.#receipts.show(this.#ledger.find(route.id), url.searchParams, headers);
      case "effective-payload":
        return this.#receipts.showPayload(this.#ledger.find(route.id), headers);
      case "default_approver":
        return this.#showDefaultApprover();
      default:
        return route satisfies never;
    }
  }

  #create(headers: Headers, body: Uint8Array, { owner: keyOwner }: FakeKey): Response {
    if (body.length > bodyBytesMax) {
      return problem(refuseBody(`The body may have at most ${bodyBytesMax} bytes.`));
    }
    const approval = parseNewApproval(body);
    if (isRefusal(approval)) return problem(approval);
    const unsafe = refuseUnsafeCallback(approval.callbackUrl);
    if (unsafe !== null) return problem(unsafe);
    const idempotencyKey = headers.get("idempotency-key");
    const flaw = idempotencyKey === null ? null : refuseIdempotencyKey(idempotencyKey);
    if (flaw !== null) return problem(flaw);
    const known = this.#ledger.findReplay(idempotencyKey, body);
    if (isRefusal(known)) return problem(known);
    if (known !== null) return answered(201, representEntry(known), createdHeaders(known, true));
    const { groups = [], hasGroups = true, expiryMinutes = 1_440 } = this.#settings;
    const askable = { groups, hasGroups };
    const asked = findAsked(approval.notify, askable);
    if (isRefusal(asked)) return problem(asked);
    const minutes = approval.ttlMinutes ?? expiryMinutes;
    const voting = planVoting(approval, { askable, keyOwner, minutes, now: this.now });
    if (isRefusal(voting)) return problem(voting);
    const { monthlyLimit = Number.POSITIVE_INFINITY } = this.#settings;
    if (this.#ledger.countOfMonth() >= monthlyLimit) return problem(quotaExceeded(monthlyLimit));
    const replayed = idempotencyKey === null ? null : { key: idempotencyKey, body };
    const entry = this.#ledger.create(approval, { asked, minutes, voting, replayed });
    return answered(201, representEntry(entry), createdHeaders(entry, false));
  }

  #list(query: URLSearchParams): Response {
    const filter = filterOf(query);
    if (isRefusal(filter)) return problem(filter);
    const { page, hasMore } = this.#ledger.page(filter);
    const last = page.at(-1);
    const nextCursor = hasMore && last !== undefined ? toCursor(last.approval.id) : null;
    const data = page.map(representEntry).join(",");
    const body = `{"data":[${data}],"hasMore":${hasMore},"nextCursor":${JSON.stringify(nextCursor)}}`;
    return answered(200, body, { "cache-control": "private, no-cache" });
  }

  async #read(
    id: string,
    query: URLSearchParams,
    { headers, signal }: { headers: Headers; signal: AbortSignal | null },
  ): Promise<Response> {
    const waitSeconds = waitSecondsOf(query);
    if (isRefusal(waitSeconds)) return problem(waitSeconds);
    const entry = this.#ledger.find(id);
    if (entry === null) return problem(unknownRequest());
    const named = headers.get("if-none-match");
    const isKnown = (tag: string) => hasTag(headers, tag);
    const { voting } = entry.approval;
    // Only a caller who says what they have hears of votes before the outcome.
    const isOld = named !== null && voting !== null && !isKnown(await entityTagOf(entry));
    const hasNews = () => isOld || (named !== null && entry.approval.voting !== voting);
    await this.#ledger.untilResolved(entry, { waitMs: waitSeconds * 1_000, signal, hasNews });
    const etag = await entityTagOf(entry);
    const told = { etag, "cache-control": "private, no-cache" };
    return isKnown(etag) ? answered(304, null, told) : answered(200, representEntry(entry), told);
  }

  #cancel(id: string): Response {
    const cancelled = this.#ledger.cancel(id);
    return isRefusal(cancelled) ? problem(cancelled) : answered(200, representEntry(cancelled));
  }

  #remind(id: string): Response {
    const reminded = this.#ledger.remind(id);
    if (!isRefusal(reminded)) return answered(200, representEntry(reminded));
    const headers: Record<string, string> =
      "retryAfterSeconds" in reminded ? { "retry-after": String(reminded.retryAfterSeconds) } : {};
    return problem(reminded, {}, headers);
  }

  async #redeem(
    id: string,
    { headers, key: { id: keyId, name } }: { headers: Headers; key: FakeKey },
  ): Promise<Response> {
    const idempotencyKey = headers.get("idempotency-key");
    const flaw = idempotencyKey === null ? null : refuseIdempotencyKey(idempotencyKey);
    if (flaw !== null) return problem(flaw);
    const by = { id: keyId, name };
    const redeemed = this.#ledger.redeem(id, { by, idempotencyKey });
    if (isRefusal(redeemed)) return problem(redeemed, "facts" in redeemed ? redeemed.facts : {});
    const { entry, facts, isReplay } = redeemed;
    const receipt = await this.#receipts.of(entry.approval);
    const more = JSON.stringify({ ...facts, receipt }).slice(1);
    const body = `${representEntry(entry).slice(0, -1)},${more}`;
    return answered(200, body, isReplay ? { "idempotent-replayed": "true" } : {});
  }

  #showDefaultApprover(): Response {
    const notify = this.#settings.defaultApprover ?? null;
    const setFor = notify === null ? null : "workspace";
    const body = JSON.stringify({ object: "default_approver", notify, setFor });
    return answered(200, body, { "cache-control": "private, no-cache" });
  }
}

/** Like a service that runs on this machine: plain http reaches nothing but the machine itself. */
function refuseUnsafeCallback(url: string | null): Refusal | null {
  const { protocol, hostname } = new URL(url ?? baseUrl);
  const isHere = /^(?:.+\.)?localhost$|^127\.|^\[::1\]$/.test(hostname);
  if (protocol === "https:" || isHere) return null;
  return refuse("validation_error", "callbackUrl: must begin with https://.");
}

/** As a client reads it. */
function read(entry: LedgerEntry): ApprovalRequest {
  return JSON.parse(representEntry(entry)) as ApprovalRequest;
}

function createdHeaders({ approval }: LedgerEntry, isReplay: boolean): Record<string, string> {
  const location = `/v1/requests/${approval.id}`;
  return isReplay ? { location, "idempotent-replayed": "true" } : { location };
}

function bytesOf(body: RequestInit["body"]): Uint8Array {
  if (body === null || body === undefined) return new Uint8Array();
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError("the fake service takes a body as text or bytes");
}

function refuseBody(message: string): Refusal<"body_too_large"> {
  return refuse("body_too_large", message);
}

function quotaExceeded(monthlyLimit: number): Refusal {
  return refuse(
    "quota_exceeded",
    `This workspace has used all ${monthlyLimit} requests of this month (plan hobby). It can create requests again on the first of next month (UTC), or after its plan or limit was raised.`,
  );
}
