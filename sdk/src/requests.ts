// The calls about approval requests: create, read, list, cancel, remind, wait for the decision, redeem it, and its receipt.

import { isAbout, isDefaultApprover, isList, isReceipt, isRedeemed, notTold } from "./answers.ts";
import type {
  ApprovalRequest,
  ApprovalRequestList,
  ApprovalStatus,
  CreateRequest,
  RedeemedRequest,
} from "./contract.ts";
import { CountersignError, InexactPayloadError } from "./errors.ts";
import { asRead, refuseInexact, roundedNumberInMember } from "./exactness.ts";
import { call, isRequest, pathOf, type TransportOptions } from "./transport.ts";
import { type DecidedRequest, type WaitOptions, waitForDecision } from "./wait.ts";

export type CallOptions = { signal?: AbortSignal };

export type CreateOptions = CallOptions & {
  /**
   * Makes a create safe to repeat for a process that doesn't know whether it succeeded: the same key gives the same
   * request. Without one, `create` makes its own key for each call, which covers lost answers only.
   */
  idempotencyKey?: string;
};

export type RedeemOptions = CallOptions & {
  /**
   * Names one run of the action, for a process that doesn't know whether its redeem succeeded: the same key gets the
   * same answer again. Make it anew for each run, and never from the request or a webhook: two runs with one key would
   * both be let through. Without one, `redeem` makes its own key for each call, which covers lost answers only.
   */
  idempotencyKey?: string;
};

export type ReceiptOptions = CallOptions & {
  /** `"payload"` puts the exact text of the effective payload into the claim `text`. */
  embed?: "payload";
};

/** The bytes that were approved, as text, and their SHA-256 as receipts name it: base64url. */
export type ExactPayload = { text: string; digest: string };

export type ListFilter = {
  status?: ApprovalStatus;
  agentName?: string;
  createdAfter?: Date | string;
  createdBefore?: Date | string;
};

export type PageOptions = CallOptions & { limit?: number; cursor?: string | null };

type Request<Payload, Metadata, AgentState> = ApprovalRequest<Payload, Metadata, AgentState>;

export class Requests {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Asks for an approval. Retries after lost answers, and never asks twice. */
  async create<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    input: CreateRequest<Payload, Metadata, AgentState>,
    { idempotencyKey, signal }: CreateOptions = {},
  ): Promise<ApprovalRequest<Payload, Metadata, AgentState>> {
    const headers = { "idempotency-key": readKey(idempotencyKey) };
    refuseInexact(input.payload, this.#options);
    const outgoing = {
      method: "POST",
      path: "/v1/requests",
      body: input,
      headers,
      signal,
    } as const;
    const answer = await call<Request<Payload, Metadata, AgentState>>(this.#options, outgoing);
    if (!isRequest(answer)) throw notTold(this.#options, "the new request");
    return answer;
  }

  async get<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    id: string,
    { signal }: CallOptions = {},
  ): Promise<ApprovalRequest<Payload, Metadata, AgentState>> {
    const outgoing = { method: "GET", path: pathOf(id), signal } as const;
    const answer = await call<Request<Payload, Metadata, AgentState>>(this.#options, outgoing);
    if (!isAbout(answer, id)) throw notTold(this.#options, id);
    return answer;
  }

  /** `for await (const request of countersign.requests.list({ status: "PENDING" }))`, newest first. */
  async *list<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    filter: ListFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<ApprovalRequest<Payload, Metadata, AgentState>, void, undefined> {
    let cursor: string | null = null;
    do {
      const page: ApprovalRequestList<Payload, Metadata, AgentState> = await this.listPage<
        Payload,
        Metadata,
        AgentState
      >(filter, { ...options, limit: 100, cursor });
      yield* page.data;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** One page of the list; `nextCursor` leads to the next. */
  async listPage<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    filter: ListFilter = {},
    { limit, cursor, signal }: PageOptions = {},
  ): Promise<ApprovalRequestList<Payload, Metadata, AgentState>> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filter, limit, cursor })) {
      if (value === undefined || value === null) continue;
      query.set(name, value instanceof Date ? value.toISOString() : String(value));
    }
    const path = query.size === 0 ? "/v1/requests" : `/v1/requests?${query}`;
    const outgoing = { method: "GET", path, signal } as const;
    const answer = await call<ApprovalRequestList<Payload, Metadata, AgentState>>(
      this.#options,
      outgoing,
    );
    if (!isList(answer)) throw notTold(this.#options, "requests");
    return answer;
  }

  /** Whom the workspace has set to be asked, for this key or for all: an address or `group:<key>`; null is nobody. */
  async defaultApprover({ signal }: CallOptions = {}): Promise<string | null> {
    const outgoing = { method: "GET", path: "/v1/default-approver", signal } as const;
    const answer = await call<unknown>(this.#options, outgoing);
    if (!isDefaultApprover(answer)) throw notTold(this.#options, "a default approver");
    return answer.notify;
  }

  /** Cancels a pending request. If it is decided already, this throws a `CountersignError` `already_resolved`. */
  async cancel<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    id: string,
    { signal }: CallOptions = {},
  ): Promise<ApprovalRequest<Payload, Metadata, AgentState>> {
    const outgoing = { method: "POST", path: `${pathOf(id)}/cancel`, signal } as const;
    try {
      const answer = await call<Request<Payload, Metadata, AgentState>>(this.#options, outgoing);
      if (!isAbout(answer, id) || answer.status !== "CANCELLED") throw notTold(this.#options, id);
      return answer;
    } catch (error) {
      if (!(error instanceof CountersignError) || error.code !== "already_resolved") throw error;
      // The answer to an earlier try may have been lost: then the request is cancelled already.
      const request = await this.get<Payload, Metadata, AgentState>(id, signal ? { signal } : {});
      if (request.status === "CANCELLED") return request;
      throw error;
    }
  }

  /**
   * Mails everybody who can still vote again, at most once in an hour: sooner, this throws a `CountersignError`
   * `reminded_recently`. After a lost answer that may be the reminder of this very call.
   */
  async remind<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    id: string,
    { signal }: CallOptions = {},
  ): Promise<ApprovalRequest<Payload, Metadata, AgentState>> {
    const outgoing = { method: "POST", path: `${pathOf(id)}/remind`, signal } as const;
    const answer = await call<Request<Payload, Metadata, AgentState>>(this.#options, outgoing);
    if (!isAbout(answer, id)) throw notTold(this.#options, id);
    return answer;
  }

  /**
   * Right before you run an approved action: of any number of calls one gets the request, and may run its
   * `effectivePayload`. Every other one throws an `AlreadyRedeemedError`, which says who may. Retries after lost answers.
   * A payload that `JSON.parse` would round is not redeemed: this throws an `InexactPayloadError`. The `signal` counts
   * until the redeem is sent: after that nothing is given up, because the approval may be used up already.
   */
  async redeem<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    id: string,
    { idempotencyKey, signal }: RedeemOptions = {},
  ): Promise<RedeemedRequest<Payload, Metadata, AgentState>> {
    const headers = { "idempotency-key": readKey(idempotencyKey) };
    await this.#refuseRounded(id, signal);
    const { retriesMax } = this.#options;
    // A redeem that is given up may have arrived, and then nobody else can run the action.
    const patient = retriesMax === 0 ? 0 : Math.max(retriesMax, redeemRetriesMin);
    signal?.throwIfAborted();
    // Without the signal: once sent it may have arrived, and the approval would be used up for nothing.
    const answer = await call<RedeemedRequest<Payload, Metadata, AgentState>>(
      { ...this.#options, retriesMax: patient },
      { method: "POST", path: `${pathOf(id)}/redeem`, headers },
    );
    if (!isRedeemed(answer, id)) throw notTold(this.#options, id);
    return answer;
  }

  /**
   * The signed receipt of an approved or rejected request: a compact JWS that anybody can verify with the keys at
   * `/.well-known/jwks.json`. Before the decision this throws a `CountersignError` `not_found`.
   */
  async receipt(id: string, { embed, signal }: ReceiptOptions = {}): Promise<string> {
    const path = `${pathOf(id)}/receipt${embed === undefined ? "" : "?embed=payload"}`;
    const answer = await this.#readText(path, signal);
    if (!isReceipt(answer, id)) throw notTold(this.#options, `the receipt of ${id}`);
    return answer;
  }

  /**
   * The exact text that was approved, never written anew: hash and execute this one. Unless the request is approved and
   * has a payload, this throws a `CountersignError` `not_found`.
   */
  async effectivePayload(id: string, { signal }: CallOptions = {}): Promise<ExactPayload> {
    const text = await this.#readText(`${pathOf(id)}/effective-payload`, signal);
    return { text, digest: await sha256(text) };
  }

  /**
   * The proof that the decision is in the log: give it to `receipts.verify` as `proof`. Until a checkpoint covers the
   * decision, a second or two after it, this throws a `CountersignError` `not_found`.
   */
  async logProof(id: string, { signal }: CallOptions = {}): Promise<string> {
    return this.#readText(`${pathOf(id)}/log-proof`, signal);
  }

  /**
   * Resolves once the request is approved, rejected, expired or cancelled: look at `status`. Survives restarts of the
   * service, and can be called again with the same id in another process.
   */
  async waitForDecision<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    id: string,
    options: WaitOptions = {},
  ): Promise<DecidedRequest<Payload, Metadata, AgentState>> {
    return waitForDecision<Payload, Metadata, AgentState>(this.#options, id, options);
  }

  #readText(path: string, signal: AbortSignal | undefined): Promise<string> {
    const asText = { ...this.#options, parse: (text: string) => text };
    return call<string>(asText, { method: "GET", path, signal });
  }

  /** Reads the request before it is redeemed, so that an approval that can't run here is not used up. */
  async #refuseRounded(id: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#options.parse !== JSON.parse) return;
    let text = "";
    const parse = (answer: string): unknown => {
      text = answer;
      return JSON.parse(answer);
    };
    const answer = await call<unknown>(
      { ...this.#options, parse },
      { method: "GET", path: pathOf(id), signal },
    );
    if (!isAbout(answer, id)) throw notTold(this.#options, id);
    const rounded =
      answer.status === "APPROVED" ? roundedNumberInMember(text, "effectivePayload") : null;
    if (rounded !== null) throw new InexactPayloadError(rounded, asRead(rounded));
  }
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const characters = Array.from(new Uint8Array(digest), (byte) => String.fromCharCode(byte));
  return btoa(characters.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Together they outlast a restart of the service. */
const redeemRetriesMin = 8;

/** A missing key must not become one: the text "null" would be the same request for everybody. */
function readKey(key: string | undefined): string {
  if (key === undefined) return crypto.randomUUID();
  if (typeof key === "string" && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new TypeError("idempotencyKey must be a text of 1 to 255 printable ASCII characters");
}
