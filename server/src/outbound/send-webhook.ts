// Sends one webhook and reports how it went. It bounds everything a receiver may take: time, bytes and connections. The
// worker decides whether and when to try again.

import http from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { AddressPolicy, CallbackPolicies } from "../domain/access/network-address.ts";
import {
  webhookAddressTimeoutMs,
  webhookHeaderBytesMax,
  webhookIdleSocketsMax,
  webhookIdleTimeoutMs,
  webhookInterimAnswersMax,
  webhookResponseBytesMax,
  webhookTimeoutMs,
} from "../domain/limits.ts";
import type { WebhookOutcome } from "../domain/shown/attempt.ts";
import { literalOf, type NameSources, resolveHost } from "./resolve-host.ts";

export type WebhookMessage = {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** The outcome of one request, to the address that it named: a secret, at one of any number of hosts. */
  isCallback?: boolean;
};

export type WebhookAnswer = {
  outcome: WebhookOutcome;
  /** Null when no answer began. */
  status: number | null;
  /** The start of the answer's body, up to a bound; null when no answer began. */
  responseStart: string | null;
  /** The Retry-After of a 429 or 503. Not bounded. */
  retryAfterSeconds: number | null;
  durationMs: number;
};

export type WebhookSenderOptions = {
  policy: AddressPolicy;
  /** Without them no callback is sent. */
  callbacks?: CallbackPolicies;
  timeoutMs?: number;
  clock?: () => number;
  /** Trusted instead of the system's certificate authorities. */
  ca?: string;
  names?: NameSources;
};

/** Without a reason, Node would make an exception with its stack for each finished webhook. */
const isOver = new Error("this webhook is over");

export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  // Our own agents ignore proxies in the environment; Node's global ones may not.
  readonly #kept = makeAgents({ keepAlive: true });
  readonly #fresh = makeAgents({ keepAlive: false });
  #isClosed = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  async send({ url, headers, body, isCallback = false }: WebhookMessage): Promise<WebhookAnswer> {
    const { timeoutMs = webhookTimeoutMs, clock = Date.now } = this.#options;
    const startedAt = performance.now();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const target = new URL(url);
      const policy = isCallback ? this.#callbackPolicyFor(target) : this.#options.policy;
      const dispatch = { target, headers, body, policy, isCallback, signal: deadline.signal };
      const ending = await this.#deliver(dispatch);
      return {
        outcome: ending.outcome,
        status: ending.status,
        responseStart: ending.status === null ? null : toText(ending.body),
        retryAfterSeconds: toRetryAfterSeconds(ending, clock()),
        durationMs: Math.round(performance.now() - startedAt),
      };
    } finally {
      clearTimeout(timer);
      deadline.abort(isOver); // a lookup may still be running
    }
  }

  /** Ends deliveries under way as lost connections. */
  close(): void {
    this.#isClosed = true;
    for (const agents of [this.#kept, this.#fresh]) {
      agents.http.destroy();
      agents.https.destroy();
    }
  }

  #callbackPolicyFor({ protocol }: URL): AddressPolicy {
    const { policy, plainPolicy } = this.#options.callbacks ?? nowhere;
    return protocol === "http:" ? (plainPolicy ?? nowhere.policy) : policy;
  }

  async #deliver(dispatch: Dispatch): Promise<Ending> {
    // Node connects to a literal address without calling `lookup`, so we check it before.
    const literal = literalOf(dispatch.target.hostname);
    if (literal !== null && dispatch.policy.flawOf(literal) !== null) return neverSent;
    // A kept connection was vetted by the policy of webhooks. And each host of a callback would keep one of its own.
    const agents = dispatch.isCallback ? this.#fresh : this.#kept;
    const first = await new Exchange(dispatch, this.#options, agents).ended;
    // A receiver may close an idle connection at the very moment we use it again. That isn't its failure, and
    // deliveries may arrive twice, so we retry once on another connection, never an idle one.
    if (!first.wasConnectionStale || this.#isClosed) return first;
    return new Exchange(dispatch, this.#options, this.#fresh).ended;
  }
}

type Agents = { http: http.Agent; https: https.Agent };

function makeAgents({ keepAlive }: { keepAlive: boolean }): Agents {
  const options = {
    keepAlive,
    maxFreeSockets: webhookIdleSocketsMax,
    // Node closes an idle connection after this. A busy one isn't affected.
    timeout: webhookIdleTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: webhookAddressTimeoutMs,
  };
  return { http: new http.Agent(options), https: new https.Agent(options) };
}

/** A message on its way, until the signal says that time is up. */
type Dispatch = {
  target: URL;
  headers: Record<string, string>;
  body: Buffer;
  policy: AddressPolicy;
  isCallback: boolean;
  signal: AbortSignal;
};

const nowhere: CallbackPolicies = {
  policy: { flawOf: () => ({ kind: "special", range: "unnamed" }) },
  plainPolicy: null,
};

type Ending = {
  outcome: WebhookOutcome;
  status: number | null;
  body: Buffer;
  retryAfter: string | null;
  /** It had been idle, and failed without a byte of an answer. */
  wasConnectionStale: boolean;
};

const neverSent: Ending = {
  outcome: "address_not_allowed",
  status: null,
  body: Buffer.alloc(0),
  retryAfter: null,
  wasConnectionStale: false,
};

/** One request on one connection. It lives until `ended`, which never rejects. */
class Exchange {
  readonly ended: Promise<Ending>;
  readonly #end: (ending: Ending) => void;
  readonly #request: http.ClientRequest;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #interimAnswers = 0;
  #socket: Socket | null = null;
  #bytesReadEarlier = 0;
  #isSecuring = false;
  #response: http.IncomingMessage | null = null;
  #failure: WebhookOutcome | null = null;
  #isOver = false;

  constructor(dispatch: Dispatch, options: WebhookSenderOptions, agents: Agents) {
    const { promise, resolve } = Promise.withResolvers<Ending>();
    this.ended = promise;
    this.#end = resolve;
    const lookup = this.#makeLookup(dispatch, options);
    this.#request = openRequest(dispatch, { agents, lookup, ca: options.ca });
    this.#request.on("socket", (socket) => this.#watch(socket));
    this.#request.on("information", ({ statusCode }) => this.#passOver(statusCode));
    this.#request.on("upgrade", (_response, socket) => {
      socket.destroy();
      this.#finish("broken_response");
    });
    this.#request.on("response", (response) => this.#read(response));
    this.#request.on("error", (error) => this.#fail(error));
    dispatch.signal.addEventListener("abort", () => this.#finish("timed_out"));
    this.#request.end(dispatch.body);
  }

  /** Gives Node only the vetted addresses, so it connects to nothing else. */
  #makeLookup({ policy, signal }: Dispatch, { names = {} }: WebhookSenderOptions): LookupFunction {
    return async (hostname, { all }, callback) => {
      const resolved = await resolveHost(hostname, policy, { signal, sources: names });
      if (resolved.kind !== "addresses") {
        this.#failure = resolved.kind;
        return callback(new Error(resolved.kind), []);
      }
      const [first] = resolved.addresses;
      if (all || first === undefined) return callback(null, resolved.addresses);
      callback(null, first.address, first.family);
    };
  }

  #watch(socket: Socket): void {
    this.#socket = socket;
    this.#bytesReadEarlier = socket.bytesRead;
    if (this.#request.reusedSocket || !(socket instanceof TLSSocket)) return;
    socket.once("connect", () => {
      this.#isSecuring = true;
    });
    socket.once("secureConnect", () => {
      this.#isSecuring = false;
    });
  }

  #passOver(status: number): void {
    this.#interimAnswers += 1;
    const isTooMany = this.#interimAnswers > webhookInterimAnswersMax;
    if (isTooMany || !knownInterimStatuses.includes(status)) this.#finish("broken_response");
  }

  #read(response: http.IncomingMessage): void {
    this.#response = response;
    response.on("data", (chunk: Buffer) => this.#keep(chunk));
    response.on("end", () => this.#judge(response));
    response.on("error", () => {}); // its close follows
    response.on("close", () => this.#judge(response));
  }

  /** Nothing is read beyond the bound. */
  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > webhookResponseBytesMax) this.#finish(outcomeOfStatus(this.#status));
  }

  #fail(error: NodeJS.ErrnoException): void {
    this.#failure ??= outcomeOfError(error, this.#isSecuring);
    // An answer is judged when it closes.
    if (this.#response === null) this.#finish(this.#failure);
  }

  /**
   * A broken answer is lost, unless it came before we had sent everything: such a receiver hangs up while we still
   * send, and its answer is complete.
   */
  #judge(response: http.IncomingMessage): void {
    const isEarly = !this.#request.writableFinished && this.#failure !== "broken_response";
    if (response.complete || isEarly) this.#finish(outcomeOfStatus(this.#status));
    else this.#finish(this.#failure ?? "connection_failed");
  }

  get #status(): number | null {
    return this.#response?.statusCode ?? null;
  }

  #finish(outcome: WebhookOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const isWhole = this.#response?.complete === true && this.#request.writableFinished;
    if (!isWhole) this.#request.destroy(); // else the connection serves the next request
    this.#end({
      outcome,
      status: this.#status,
      body: Buffer.concat(this.#chunks).subarray(0, webhookResponseBytesMax),
      retryAfter: this.#response?.headers["retry-after"] ?? null,
      wasConnectionStale: outcome === "connection_failed" && this.#wasIdleUntilNow(),
    });
  }

  #wasIdleUntilNow(): boolean {
    return this.#request.reusedSocket && this.#socket?.bytesRead === this.#bytesReadEarlier;
  }
}

type Route = { agents: Agents; lookup: LookupFunction; ca: string | undefined };

function openRequest(
  { target, headers, body }: Dispatch,
  { agents, lookup, ca }: Route,
): http.ClientRequest {
  const literal = literalOf(target.hostname);
  const options = {
    method: "POST",
    host: literal ?? target.hostname,
    port: target.port,
    path: target.pathname + target.search,
    headers: { ...headers, host: target.host, "content-length": String(body.length) },
    lookup,
    maxHeaderSize: webhookHeaderBytesMax,
  };
  if (target.protocol === "http:") return http.request({ ...options, agent: agents.http });
  return https.request({
    ...options,
    agent: agents.https,
    // An address is no server name. The certificate is then checked for the address.
    servername: literal === null ? target.hostname.replace(/\.$/, "") : "",
    rejectUnauthorized: true, // even where the environment would have it otherwise
    ca,
  });
}

/** Others, such as 101, would change the protocol or are unknown. */
const knownInterimStatuses = [100, 102, 103];

function outcomeOfStatus(status: number | null): WebhookOutcome {
  if (status === null || status < 200) return "broken_response";
  if (status < 300) return "delivered";
  return status < 400 ? "redirected" : "http_status";
}

/** TLS 1.3 reports some refusals only after the handshake, hence the codes beside the phase. */
function outcomeOfError({ code = "" }: NodeJS.ErrnoException, isSecuring: boolean): WebhookOutcome {
  if (code.startsWith("HPE_")) return "broken_response";
  const isTls = isSecuring || code.startsWith("ERR_SSL_") || code === "EPROTO";
  return isTls ? "tls_failed" : "connection_failed";
}

/** Bytes that aren't UTF-8 become U+FFFD, and so does U+0000, which PostgreSQL can't store. */
function toText(bytes: Buffer): string {
  // A character that the bound cut in two is dropped: a stream would still wait for its rest.
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll("\0", "\ufffd");
}

function toRetryAfterSeconds({ status, retryAfter }: Ending, nowMs: number): number | null {
  if (retryAfter === null || (status !== 429 && status !== 503)) return null;
  if (/^[0-9]{1,10}$/.test(retryAfter)) return Number(retryAfter);
  // Date.parse accepts much that is no HTTP date.
  const timeMs = /^[A-Z][a-z]+, .* GMT$/.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(timeMs) ? null : Math.max(0, Math.ceil((timeMs - nowMs) / 1000));
}
