// The client: `new Countersign({ apiKey, baseUrl })`.

import type { CreateRequest } from "./contract.ts";
import { type Action, type Describe, type Gated, type GateOptions, gate } from "./gate.ts";
import { type CreateOptions, Requests } from "./requests.ts";
import type { Fetch, TransportOptions } from "./transport.ts";
import { type DecidedRequest, refuseFlawedWait, type WaitOptions } from "./wait.ts";
import { webhooks } from "./webhooks.ts";

export type CountersignOptions = {
  /** Otherwise `COUNTERSIGN_API_KEY`. */
  apiKey?: string;
  /** Otherwise `COUNTERSIGN_BASE_URL`, otherwise a service on this machine. */
  baseUrl?: string;
  /** A `fetch` of your own. */
  fetch?: Fetch;
  /** Instead of `JSON.parse`, which rounds numbers such as 9007199254740993. */
  parse?: (text: string) => unknown;
  /** Instead of `JSON.stringify`, for values that it does not write exactly. */
  stringify?: (value: unknown) => string;
  /** The time limit of one try; 30 seconds by default. */
  timeoutMs?: number;
  /** How often a call with a passing failure is retried; 4 times by default. */
  retriesMax?: number;
};

export class Countersign {
  readonly requests: Requests;
  readonly webhooks = webhooks;
  readonly #options: TransportOptions;

  constructor(options: CountersignOptions = {}) {
    this.#options = {
      apiKey: readKey(options.apiKey ?? readEnvironment("COUNTERSIGN_API_KEY")),
      baseUrl: readBaseUrl(
        options.baseUrl ?? readEnvironment("COUNTERSIGN_BASE_URL") ?? "http://localhost:3000",
      ),
      // Called as a plain function: some platforms refuse it as a method.
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      parse: options.parse ?? JSON.parse,
      stringify: options.stringify ?? JSON.stringify,
      timeoutMs: readCount("timeoutMs", options.timeoutMs ?? 30_000),
      retriesMax: readCount("retriesMax", options.retriesMax ?? 4),
      contact: { isMade: false },
    };
    this.requests = new Requests(this.#options);
  }

  /** Asks and waits. Resolves to the decided request, whatever the decision: execute it only if it is `APPROVED`. */
  async requestApproval<Payload = unknown, Metadata = unknown, AgentState = unknown>(
    input: CreateRequest<Payload, Metadata, AgentState>,
    options: CreateOptions & WaitOptions = {},
  ): Promise<DecidedRequest<Payload, Metadata, AgentState>> {
    refuseFlawedWait(options);
    const { id } = await this.requests.create(input, options);
    return this.requests.waitForDecision<Payload, Metadata, AgentState>(id, options);
  }

  /**
   * Wraps a function so that a person must approve each call of it:
   * `const refund = countersign.requireApproval(pay, ({ orderId }) => ({ summary: …, notify: … }))`.
   * It runs with the approved payload, which the approver may have edited.
   */
  requireApproval<Payload, Result>(
    action: Action<Payload, Result>,
    describe: Describe<Payload>,
    options: GateOptions<Payload> = {},
  ): Gated<Payload, Result> {
    const { parse, stringify } = this.#options;
    return gate({ requests: this.requests, parse, stringify }, { action, describe, ...options });
  }
}

function readKey(key: string | undefined): string {
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new TypeError(
    key === undefined || key === ""
      ? "There is no API key: give apiKey, or set COUNTERSIGN_API_KEY. The dashboard makes keys, under API keys."
      : "The API key holds a space or another character that no key has. Was it copied whole?",
  );
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}` === "" &&
    !/[?#]/.test(text);
  // Not repeated in the message: it may be a key in the wrong place, or hold a password.
  if (!isPlain) {
    throw new TypeError(
      "baseUrl must be such as https://approvals.example.com, without user name, password, ? or #",
    );
  }
  return text.replace(/\/+$/, "");
}

function readCount(name: string, value: number): number {
  if (typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new TypeError(`${name} must be a number from 0`);
}

/** Undefined if there is no environment, or it may not be read. */
function readEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}
