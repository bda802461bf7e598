// A decision that a person signed with a passkey (WebAuthn): that the signed statement is about this very decision, that
// the authenticator made sure who it was, and that the signature is by a key that the verifier knows.

import { concat, fromBase64Url, isEqual, textOf, utf8 } from "./bytes.ts";
import type { Assertion, ReceiptClaims, SignedVote } from "./claims.ts";
import { isSignedByCose } from "./cose.ts";
import type { ExactObject } from "./exact-json.ts";
import { sha256 } from "./hashing.ts";
import {
  isTime,
  nullableDigestAt,
  nullableTextAt,
  readObject,
  ShapeError,
  textAt,
  textsAt,
  wholeAt,
} from "./members.ts";
import { ReceiptError, type ReceiptFlaw } from "./receipt-flaw.ts";

/** A passkey whose public key the verifier got some other way than from the receipt. */
export type PinnedCredential = {
  readonly id: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** Whose it is. Given, it counts only for this address. */
  readonly email?: string;
};

const prefix = "countersign decision v1\0";
const statementNames = [
  ..."request workspace verdict revision payload effective shown audience expires checkpoint".split(
    " ",
  ),
];
const [userPresent, userVerified] = [0x01, 0x04];
const flagsAt = 32;
const authenticatorDataBytesMin = 37;

/** Refuses unless each vote was signed by a person of its own, each with a passkey of their own. */
export async function refuseUnsignedVotes(
  claims: ReceiptClaims,
  credentials: readonly PinnedCredential[],
): Promise<void> {
  const used = new Set<string>();
  const voted = new Set<string>();
  for (const vote of claims.by) {
    const { assertion, cred } = vote;
    const person = vote.email.toLowerCase();
    if (assertion === undefined || cred === undefined) {
      throw new ReceiptError("assertion_missing", `${vote.email} didn't sign with a passkey`);
    }
    const credential = pinnedFor(vote, cred, credentials);
    refuseOtherStatement(claims, assertion);
    await refuseOtherCeremony(claims, assertion);
    if (used.has(cred)) refuse("one passkey signed two votes");
    used.add(cred);
    if (voted.has(person)) refuse(`${vote.email} can't have signed two votes`);
    voted.add(person);
    if (!(await isSigned(assertion, credential))) {
      refuse(`the signature is not by ${vote.email}'s passkey`);
    }
  }
  refuseOtherShown(claims);
}

/** What can be said of assertions without knowing a key: that none of them is about something else. */
export async function refuseStrayAssertions(claims: ReceiptClaims): Promise<void> {
  for (const { assertion } of claims.by) {
    if (assertion === undefined) continue;
    refuseOtherStatement(claims, assertion);
    await refuseOtherCeremony(claims, assertion);
  }
  refuseOtherShown(claims);
}

function pinnedFor(
  { email }: SignedVote,
  cred: string,
  credentials: readonly PinnedCredential[],
): PinnedCredential {
  const isTheirs = (pinned: PinnedCredential) =>
    pinned.id === cred &&
    (pinned.email === undefined || pinned.email.toLowerCase() === email.toLowerCase());
  const found = credentials.find(isTheirs);
  if (found !== undefined) return found;
  throw new ReceiptError("credential_unknown", `${email}'s passkey ${cred} is not one you know`);
}

function refuseOtherStatement(claims: ReceiptClaims, { statement }: Assertion): void {
  const said = readStatement(statement);
  const isOf = (request: string, workspace: string) =>
    request === claims.sub && workspace === claims.ws;
  if (!isOf(textAt(said, "request"), textAt(said, "workspace"))) {
    other("request", `what was signed is about ${textAt(said, "request")}`);
  }
  const verdict = textAt(said, "verdict");
  if (verdict !== (claims.decision === "approved" ? "approve" : "reject")) {
    other("verdict", `what was signed is: ${verdict}`);
  }
  const isPayload = nullableDigestAt(said, "payload") === claims.payload.digest;
  const effective = nullableDigestAt(said, "effective");
  if (!isPayload || effective !== (claims.effective?.digest ?? null)) {
    other("payload", "what was signed is about another payload");
  }
  const audience = textsAt(said, "audience");
  if (
    audience.length !== claims.aud.length ||
    audience.some((each, at) => each !== claims.aud[at])
  ) {
    other("audience", `what was signed is for ${audience.join(", ")}`);
  }
  // Otherwise whoever keeps a signature could bring it out years later, as a decision of today.
  const expires = textAt(said, "expires");
  if (!(claims.iat * 1_000 <= Date.parse(expires))) {
    refuse(`what was signed could be decided until ${expires}`);
  }
}

/** The receipt names what the last voter was shown. */
function refuseOtherShown(claims: ReceiptClaims): void {
  const last = claims.by.at(-1)?.assertion;
  if (last === undefined) return;
  const shown = nullableDigestAt(readStatement(last.statement), "shown");
  if (shown !== (claims.shown?.digest ?? null)) refuse("what was signed was shown otherwise");
}

/** Each member once, each of its type, and none that this verifier doesn't know. */
function readStatement(text: string): ExactObject {
  const statement = readObject(text, "the signed statement");
  const isKnown = (name: string) => statementNames.includes(name);
  if (statement.size !== statementNames.length || ![...statement.keys()].every(isKnown)) {
    throw new ShapeError("the signed statement has other members than a decision has");
  }
  wholeAt(statement, "revision");
  nullableDigestAt(statement, "shown");
  if (!isTime(textAt(statement, "expires"))) throw new ShapeError("expires must be a time");
  nullableTextAt(statement, "checkpoint");
  return statement;
}

/** The ceremony as WebAuthn has it verified: type, challenge, origin, site, presence and verification. */
async function refuseOtherCeremony(claims: ReceiptClaims, assertion: Assertion): Promise<void> {
  const client = readObject(textOf(assertion.clientDataJSON), "clientDataJSON");
  const challenge = await sha256(utf8(`${prefix}${assertion.statement}`));
  const site = new URL(claims.iss);
  if (client.get("type") !== "webauthn.get") refuse("this is no assertion");
  const answered = fromBase64Url(textAt(client, "challenge"));
  if (answered === null || !isEqual(answered, challenge)) {
    refuse("the statement is not the one that was signed");
  }
  if (client.get("origin") !== site.origin) refuse("it was signed on another site");
  if (client.get("crossOrigin") === true) refuse("it was signed inside another site");
  const data = assertion.authenticatorData;
  if (data.length < authenticatorDataBytesMin) refuse("authenticatorData is too short");
  if (!isEqual(data.subarray(0, flagsAt), await sha256(utf8(site.hostname)))) {
    refuse("the passkey is of another site");
  }
  const flags = data[flagsAt] as number;
  if ((flags & userPresent) === 0) refuse("nobody was there when it was signed");
  if ((flags & userVerified) === 0) {
    throw new ReceiptError(
      "assertion_not_verified",
      "the authenticator didn't make sure who was there",
    );
  }
}

async function isSigned(assertion: Assertion, { publicKey }: PinnedCredential): Promise<boolean> {
  const key = fromBase64Url(publicKey);
  if (key === null) return false;
  const { authenticatorData, clientDataJSON, signature } = assertion;
  const signed = concat(authenticatorData, await sha256(clientDataJSON));
  return isSignedByCose(key, signed, signature);
}

function refuse(message: string): never {
  throw new ReceiptError("assertion_invalid", message);
}

function other(what: "request" | "verdict" | "payload" | "audience", message: string): never {
  throw new ReceiptError(`assertion_other_${what}` satisfies ReceiptFlaw, message);
}
