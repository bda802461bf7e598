// Verifies a receipt: that the issuer signed it, for you, now, about these very bytes. Uses only Web Crypto, and asks
// nobody but, where an address is given, for the issuer's public keys.

import { type PinnedCredential, refuseStrayAssertions, refuseUnsignedVotes } from "./assertion.ts";
import { textOf, toBase64Url, utf8 } from "./bytes.ts";
import { type Digested, type ReceiptClaims, readClaims, timeOf } from "./claims.ts";
import { isSignedByEd25519 } from "./ed25519.ts";
import { isSameValue, parseExact } from "./exact-json.ts";
import { sha256 } from "./hashing.ts";
import { readJws } from "./jws.ts";
import { findKey, type KeySet, loadKeySet } from "./key-set.ts";
import { asProofFlaw, type LogProofs, refuseOtherProof } from "./log-proof.ts";
import { ShapeError } from "./members.ts";
import { ReceiptError, type ReceiptFlaw } from "./receipt-flaw.ts";

export type Payload = string | Uint8Array;

/** What was checked: the operator's signature, a witnessed log, or the signature of each person who approved. */
export type ReceiptLevel = "operator-signed" | "witnessed" | "person-signed";

export type VerifyReceiptOptions = {
  /** `PUBLIC_URL` of the service, exactly. */
  issuer: string;
  /** You: one of the request's `audience`, or the workspace's id if it was created without. */
  audience: string;
  /** The issuer's keys, or their address; without, they are fetched from the issuer and kept for an hour. */
  jwks?: KeySet | string | URL;
  /** Unix time in seconds. */
  now?: number;
  /** The bytes that you are about to run, or null for no payload. Without, compare `claims.effective` yourself. */
  payload?: Payload | null;
  /** Passkeys that you know: every vote must then be signed by one of them. */
  credentials?: readonly PinnedCredential[];
  /** What `log-proof` answers, or everything about the request's place in the log: it must say the same as the receipt. */
  proof?: string | LogProofs;
  /** Verifier keys (C2SP signed-note) of witnesses that you know: each must have cosigned the log that `proof` is of. */
  witnesses?: readonly string[];
  /** A rejection is a valid receipt, too. Without this it is refused, so that nothing runs on the strength of one. */
  allowRejected?: boolean;
};

export type VerifiedReceipt = {
  ok: true;
  /** The strongest that was checked. */
  level: ReceiptLevel;
  /** Whether the decision was found in the log, and all witnesses have cosigned that. */
  isLogged: boolean;
  isWitnessed: boolean;
  claims: ReceiptClaims;
};
export type RefusedReceipt = { ok: false; reason: ReceiptFlaw; message: string };

const type = "countersign-receipt+jwt";
/** A clock that is behind by less refuses no fresh receipt. The end is exact. */
const behindSecondsMax = 60;

/**
 * What a receipt proves, or why it proves nothing. Throws only where it can't tell: without the issuer's keys.
 *
 *     const said = await receipts.verify(receipt, { issuer, audience, payload: bytes });
 *     if (!said.ok) throw new Error(said.message);
 */
export async function verifyReceipt(
  receipt: string,
  options: VerifyReceiptOptions,
): Promise<VerifiedReceipt | RefusedReceipt> {
  refuseVagueOptions(options);
  try {
    const { claims, keys } = await readSigned(receipt, options);
    refuseOtherUse(claims, options);
    await refuseOtherPayload(claims, options.payload);
    const isPersonSigned = await checkVotes(claims, options);
    const isWitnessed = await checkLog(claims, keys, options);
    const level = isPersonSigned ? "person-signed" : isWitnessed ? "witnessed" : "operator-signed";
    return { ok: true, level, isLogged: options.proof !== undefined, isWitnessed, claims };
  } catch (error) {
    if (error instanceof ReceiptError) {
      return { ok: false, reason: error.code, message: error.message };
    }
    if (error instanceof ShapeError) {
      return { ok: false, reason: "malformed", message: error.message };
    }
    throw error;
  }
}

/**
 * Throws a `ReceiptError` unless the receipt approves exactly these bytes. Never compares parsed numbers.
 *
 *     await receipts.assertApproved(receipt, bytes, { issuer, audience });
 */
export async function assertApproved(
  receipt: string,
  payload: Payload | null,
  options: Omit<VerifyReceiptOptions, "payload" | "allowRejected">,
): Promise<VerifiedReceipt> {
  const said = await verifyReceipt(receipt, { ...options, payload, allowRejected: false });
  if (said.ok) return said;
  throw new ReceiptError(said.reason, said.message);
}

/** Options that check more. A variable that turns out to be undefined asks for a check, too. */
const checking = ["payload", "jwks", "credentials", "proof", "witnesses"] as const;

/** An option that was forgotten must not switch a check off. */
function refuseVagueOptions(options: VerifyReceiptOptions): void {
  const { issuer, audience, payload } = options;
  for (const [name, value] of Object.entries({ issuer, audience })) {
    if (typeof value !== "string" || value === "") throw new TypeError(`${name} must be given`);
  }
  const vague = checking.find((name) => name in options && options[name] === undefined);
  if (vague !== undefined) {
    throw new TypeError(`${vague} is undefined: leave it out to check without it`);
  }
  const isGiven = payload !== undefined && payload !== null;
  if (isGiven && typeof payload !== "string" && !(payload instanceof Uint8Array)) {
    throw new TypeError(
      "payload must be the JSON text or its bytes: a parsed value has lost what was approved",
    );
  }
}

async function readSigned(
  receipt: string,
  { jwks, issuer }: VerifyReceiptOptions,
): Promise<{ claims: ReceiptClaims; keys: KeySet }> {
  if (typeof receipt !== "string") throw new TypeError("the receipt must be its text");
  const { kid, claims: bytes, signed, signature } = readJws(receipt, type);
  const keys = await loadKeySet(jwks ?? `${issuer}/.well-known/jwks.json`, kid);
  const key = await findKey(keys, kid);
  if (!(await isSignedByEd25519(key.publicKey, signed, signature))) {
    throw new ReceiptError(
      "signature_invalid",
      "the signature is not the issuer's: it was changed",
    );
  }
  const claims = readClaims(bytes);
  if (key.retiredAt !== null && claims.iat > key.retiredAt) {
    throw new ReceiptError("key_retired", "it was signed with a key that was retired before");
  }
  return { claims, keys };
}

function refuseOtherUse(claims: ReceiptClaims, options: VerifyReceiptOptions): void {
  const { issuer, audience, now = Date.now() / 1_000, allowRejected = false } = options;
  if (claims.iss !== issuer) {
    throw new ReceiptError("wrong_issuer", `it is by ${claims.iss}, not by ${issuer}`);
  }
  if (!claims.aud.includes(audience)) {
    throw new ReceiptError("wrong_audience", `it is for ${claims.aud.join(", ")}, not ${audience}`);
  }
  if (!(claims.nbf <= now + behindSecondsMax)) {
    throw new ReceiptError(
      "not_yet_valid",
      "it is from the future: is this machine's clock right?",
    );
  }
  if (!(now < claims.exp)) {
    throw new ReceiptError("expired", `it was valid until ${timeOf(claims.exp)}`);
  }
  if (claims.decision === "rejected" && !allowRejected) {
    throw new ReceiptError("rejected", `${claims.sub} was rejected`);
  }
}

async function refuseOtherPayload(
  { effective, text }: ReceiptClaims,
  payload: Payload | null | undefined,
): Promise<void> {
  if (text !== undefined && !(await isDigestOf(effective, text))) {
    throw new ReceiptError("embedded_differs", "the text inside is not the one that was approved");
  }
  if (payload === undefined || effective === null) return;
  if (payload === null ? effective.digest === null : await isDigestOf(effective, payload)) return;
  if (payload !== null && text !== undefined && isSameText(payload, text)) {
    throw new ReceiptError(
      "payload_same_value",
      "these bytes say the same as what was approved, but they are other bytes: run the approved ones",
    );
  }
  throw new ReceiptError("payload_differs", "these are not the bytes that were approved");
}

async function isDigestOf(digested: Digested | null, payload: Payload): Promise<boolean> {
  const bytes = typeof payload === "string" ? utf8(payload) : payload;
  if (digested === null || digested.digest === null) return false;
  return digested.bytes === bytes.length && toBase64Url(await sha256(bytes)) === digested.digest;
}

function isSameText(payload: Payload, text: string): boolean {
  const given = typeof payload === "string" ? payload : textOf(payload);
  const [one, other] = [given === null ? undefined : parseExact(given), parseExact(text)];
  return one !== undefined && other !== undefined && isSameValue(one, other);
}

/** Whether each vote was signed by its person. */
async function checkVotes(
  claims: ReceiptClaims,
  { credentials }: VerifyReceiptOptions,
): Promise<boolean> {
  if (credentials === undefined) await refuseStrayAssertions(claims);
  else await refuseUnsignedVotes(claims, credentials);
  return credentials !== undefined;
}

/** Whether witnesses have cosigned the log that has the decision. */
async function checkLog(
  claims: ReceiptClaims,
  keys: KeySet,
  { proof, witnesses = [] }: VerifyReceiptOptions,
): Promise<boolean> {
  if (proof === undefined) {
    if (witnesses.length === 0) return false;
    throw new ReceiptError("proof_invalid", "witnesses say nothing without a proof of the log");
  }
  try {
    return await refuseOtherProof(proof, { claims, keys, witnesses });
  } catch (error) {
    throw asProofFlaw(error);
  }
}
