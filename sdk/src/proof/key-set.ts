// The keys that a service signs with, as it publishes them (RFC 7517): current and retired ones, and the names of those
// that were revoked. A key counts only under its own thumbprint (RFC 7638).

import { CountersignError } from "../errors.ts";
import { type Bytes, fromBase64Url, toBase64Url, utf8 } from "./bytes.ts";
import { sha256 } from "./hashing.ts";
import { ReceiptError } from "./receipt-flaw.ts";

/** The answer of `/.well-known/jwks.json`. */
export type KeySet = {
  readonly keys: readonly PublishedKey[];
  readonly revoked?: readonly { readonly kid: string }[];
};

export type PublishedKey = {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly kid?: string;
  /** Unix time in seconds. Receipts from later aren't believed. */
  readonly retiredAt?: number;
};

export type SigningKey = { kid: string; publicKey: Bytes; retiredAt: number | null };

/** The key of this name, or a `ReceiptError`. */
export async function findKey(set: KeySet, kid: string): Promise<SigningKey> {
  if (set.revoked?.some((revoked) => revoked.kid === kid)) {
    throw new ReceiptError("key_revoked", `the key ${kid} was revoked: ask for a new receipt`);
  }
  for (const key of set.keys) {
    const publicKey = key.kid === kid ? publicKeyOf(key) : null;
    if (publicKey === null || (await thumbprintOf(publicKey)) !== kid) continue;
    return { kid, publicKey, retiredAt: key.retiredAt ?? null };
  }
  throw new ReceiptError("key_unknown", `the issuer has no key ${kid}`);
}

/** RFC 7638, of an Ed25519 key (RFC 8037). */
export async function thumbprintOf(publicKey: Uint8Array): Promise<string> {
  const x = toBase64Url(publicKey);
  return toBase64Url(await sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)));
}

export function publicKeyOf({ kty, crv, x }: PublishedKey): Bytes | null {
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") return null;
  const bytes = fromBase64Url(x);
  return bytes?.length === 32 ? bytes : null;
}

export function isKeySet(value: unknown): value is KeySet {
  const { keys, revoked = [] } = (value ?? {}) as Partial<KeySet>;
  const isList = (list: unknown): list is object[] =>
    Array.isArray(list) && list.every((each) => typeof each === "object" && each !== null);
  return isList(keys) && isList(revoked);
}

type Fetched = {
  at: number;
  set: Promise<KeySet>;
  /** Asked again, for a key that wasn't there. */
  again: { at: number; set: Promise<KeySet> } | null;
};

const fetched = new Map<string, Fetched>();
const keptMs = 60 * 60 * 1_000;
/** An unknown key may be a new one: asked again at once, but not for each forged receipt. */
const againMs = 10 * 1_000;
/** An issuer that is away isn't asked for each receipt, either. */
const failedMs = 2 * 1_000;
const patienceMs = 10 * 1_000;

/** A set that is given, or the one at an address, which is kept for an hour. */
export async function loadKeySet(
  given: KeySet | string | URL,
  kid: string,
  now = Date.now(),
): Promise<KeySet> {
  if (typeof given !== "string" && !(given instanceof URL)) {
    if (isKeySet(given)) return given;
    throw new TypeError("jwks must be the answer of /.well-known/jwks.json, or its address");
  }
  const url = String(given);
  const known = fetched.get(url);
  if (known === undefined || isOver(known.at, keptMs, now)) {
    const entry: Fetched = { at: now, set: fetchKeySet(url), again: null };
    fetched.set(url, entry);
    entry.set.catch(() => {
      entry.at = now - keptMs + failedMs;
    });
    return entry.set;
  }
  const set = await known.set;
  if ([...set.keys, ...(set.revoked ?? [])].some((key) => key.kid === kid)) return set;
  if (known.again === null || isOver(known.again.at, againMs, now)) {
    known.again = { at: now, set: fetchAgain(url, known, now) };
  }
  return known.again.set;
}

/** A clock that was set back ends it, too. */
function isOver(at: number, ms: number, now: number): boolean {
  return now < at || now - at >= ms;
}

/** Until it succeeds the keys stay as they are: a forged receipt must not take them away. */
async function fetchAgain(url: string, known: Fetched, now: number): Promise<KeySet> {
  // A browser would answer from its own cache, which may be an hour old. Some workers refuse the option.
  const isCacheKnown = "cache" in Request.prototype;
  const set = await fetchKeySet(url, isCacheKnown ? { cache: "no-store" } : {});
  // An answer that comes late is older than what another call has brought since.
  if (known.again?.at !== now) return set;
  known.at = now;
  known.set = Promise.resolve(set);
  return set;
}

async function fetchKeySet(url: string, options: RequestInit = {}): Promise<KeySet> {
  try {
    const response = await fetch(url, {
      ...{ redirect: "error", signal: AbortSignal.timeout(patienceMs) },
      ...options,
    });
    const set: unknown = response.ok ? await response.json() : null;
    if (isKeySet(set)) return set;
    throw new Error(`it answered ${response.status}, and no keys`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CountersignError(`the keys at ${url} can't be had: ${why}`, {
      code: "keys_unavailable",
      cause: error,
    });
  }
}
