// The reference verifier of webhooks: checks that the service sent it, just now, and unchanged. Uses only Web Crypto,
// so that it runs wherever there is `fetch`.

import type { CheckpointEvent, WebhookEvent } from "./contract.ts";
import { type WebhookFlaw, WebhookVerificationError } from "./errors.ts";

/** The body as it arrived: its bytes, or the text of exactly these bytes. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** The value of `X-Service-Signature`, or all headers: then `X-Service-Event` is compared with the body, too. */
export type SignatureHeader =
  | string
  | null
  | undefined
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** The most seconds between the time of sending and now, in either direction. */
  toleranceSeconds?: number;
  /** Unix time in seconds. */
  now?: number;
  /** Instead of `JSON.parse`, which rounds large numbers. */
  parse?: (text: string) => unknown;
  /** `true`: also take the body of `log.checkpoint`, which is about no request. Only endpoints that name it get it. */
  checkpoints?: false;
};

type WithCheckpoints = Omit<VerifyOptions, "checkpoints"> & { checkpoints: true };

const signatureName = "x-service-signature";
const eventName = "x-service-event";

/**
 * The event, or a `WebhookVerificationError`. Pass the raw body: `await request.text()`, `express.raw()`'s `req.body`.
 * During a rotation, pass both secrets.
 */
export async function constructEvent<Payload = unknown, Metadata = unknown, AgentState = unknown>(
  rawBody: RawBody,
  header: SignatureHeader,
  secret: string | readonly string[],
  options?: VerifyOptions,
): Promise<WebhookEvent<Payload, Metadata, AgentState>>;
export async function constructEvent<Payload = unknown, Metadata = unknown, AgentState = unknown>(
  rawBody: RawBody,
  header: SignatureHeader,
  secret: string | readonly string[],
  options: WithCheckpoints,
): Promise<WebhookEvent<Payload, Metadata, AgentState> | CheckpointEvent>;
export async function constructEvent(
  rawBody: RawBody,
  header: SignatureHeader,
  secret: string | readonly string[],
  options: VerifyOptions | WithCheckpoints = {},
): Promise<WebhookEvent | CheckpointEvent> {
  const { toleranceSeconds = 300, now = Date.now() / 1_000, parse = JSON.parse } = options;
  const body = bytesOf(rawBody);
  const signature = readSignature(headerOf(header, signatureName));
  refuseWrongTime(signature.timestamp, now, toleranceSeconds);
  if (!(await isSigned(body, signature, secretsOf(secret)))) {
    throw flaw(
      "signature_mismatch",
      "no signature matches. Either the secret is not this endpoint's, or the body is not the raw one: bytes that were parsed and written again as JSON are other bytes. Give the body as it arrived.",
    );
  }
  const event = readEvent(body, headerOf(header, eventName), parse);
  if (event.event === "log.checkpoint" && !options.checkpoints) {
    throw flaw("body_malformed", "the body is a log.checkpoint: give checkpoints: true");
  }
  return event;
}

export const webhooks = { constructEvent } as const;

type Signature = { timestamp: string; candidates: string[] };

/** `t=<unix time>,v1=<hex>`, with one `v1` for each live secret. */
function readSignature(text: string | null): Signature {
  if (text === null || text === "") {
    throw flaw("signature_missing", "there is no X-Service-Signature header");
  }
  const pairs = text.split(",").map((part) => {
    const at = part.indexOf("=");
    return [part.slice(0, at).trim(), part.slice(at + 1).trim()] as const;
  });
  const times = pairs.filter(([name]) => name === "t").map(([, value]) => value);
  const candidates = pairs.filter(([name]) => name === "v1").map(([, value]) => value);
  const [timestamp = ""] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(timestamp) || candidates.length === 0) {
    throw flaw(
      "signature_malformed",
      "the X-Service-Signature header is not of the form t=<unix time>,v1=<hex>",
    );
  }
  return { timestamp, candidates };
}

function refuseWrongTime(timestamp: string, now: number, toleranceSeconds: number): void {
  if (!(toleranceSeconds >= 0)) throw new TypeError("toleranceSeconds must be a number from 0");
  const age = now - Number(timestamp);
  if (age > toleranceSeconds) {
    throw flaw(
      "timestamp_too_old",
      `this was signed ${Math.round(age)} s ago, more than ${toleranceSeconds} s: a replay, or a clock that is wrong`,
    );
  }
  if (!(age >= -toleranceSeconds)) {
    throw flaw(
      "timestamp_in_future",
      `this was signed ${Math.round(-age)} s in the future, more than ${toleranceSeconds} s: is this machine's clock right?`,
    );
  }
}

/** Makes one signature per secret, however many arrived: its cost grows with the body. */
async function isSigned(
  body: Uint8Array<ArrayBuffer>,
  { timestamp, candidates }: Signature,
  secrets: readonly string[],
): Promise<boolean> {
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  let isFound = false;
  for (const secret of secrets) {
    const right = await sign(secret, signed);
    for (const candidate of candidates) isFound = isSame(candidate, right) || isFound;
  }
  return isFound;
}

async function sign(secret: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secretBytes = encoder.encode(secret);
  const key = await crypto.subtle.importKey("raw", secretBytes, algorithm, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Takes the same time wherever they differ. */
function isSame(candidate: string, right: string): boolean {
  if (candidate.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < right.length; at += 1) {
    difference |= candidate.charCodeAt(at) ^ right.charCodeAt(at);
  }
  return difference === 0;
}

function readEvent(
  body: Uint8Array,
  announced: string | null,
  parse: (text: string) => unknown,
): WebhookEvent | CheckpointEvent {
  let event: Partial<WebhookEvent | CheckpointEvent> | null;
  try {
    event = parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as typeof event;
  } catch {
    event = null;
  }
  const note = event?.event === "log.checkpoint" ? event.checkpoint : "";
  if (typeof event?.event !== "string" || typeof note !== "string") {
    throw flaw("body_malformed", "the body is signed, but it is no event of Countersign");
  }
  if (announced !== null && announced !== event.event) {
    throw flaw(
      "event_mismatch",
      `the X-Service-Event header says ${announced}, and the body that was signed says ${event.event}`,
    );
  }
  return event as WebhookEvent | CheckpointEvent;
}

const encoder = new TextEncoder();

function bytesOf(rawBody: RawBody): Uint8Array<ArrayBuffer> {
  if (typeof rawBody === "string") return encoder.encode(rawBody);
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  if (ArrayBuffer.isView(rawBody)) return Uint8Array.from(rawBody as Uint8Array);
  throw flaw(
    "body_not_raw",
    "the body was parsed already. Give the raw bytes, as express.raw(), request.text() or request.arrayBuffer() have them: what is signed are the bytes, and they cannot be made again from the parsed value.",
  );
}

function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === "string" ? [secret] : secret;
  const isGiven = Array.isArray(secrets) && secrets.length > 0 && secrets.every(isSecret);
  // With an empty secret, or the text "undefined", anybody could sign.
  if (!isGiven)
    throw flaw("secret_missing", "the signing secret must be the whsec_… that was shown");
  return secrets;
}

function isSecret(secret: unknown): boolean {
  return typeof secret === "string" && /^whsec_./.test(secret);
}

function headerOf(header: SignatureHeader, name: string): string | null {
  if (header === null || header === undefined) return null;
  if (typeof header === "string") return name === signatureName ? header : null;
  if (typeof (header as Headers).get === "function") return (header as Headers).get(name);
  const values = Object.entries(header)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? []);
  return values.length === 0 ? null : values.join(",");
}

function flaw(code: WebhookFlaw, message: string): WebhookVerificationError {
  return new WebhookVerificationError(code, message);
}
