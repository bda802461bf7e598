// Signing in: mails a code, takes it or a one-time link, and begins a session. Members may, and everybody who was ever
// asked to decide. Nobody learns whether an address is known without proving that the mailbox is theirs.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { findSecretKey, type Keyring } from "../../domain/access/keyring.ts";
import {
  deriveSignInCode,
  deriveSignInToken,
  digestOfToken,
  sessionTokenBytes,
  signInNonceBytes,
} from "../../domain/access/sign-in.ts";
import { userAgentCharactersMax } from "../../domain/limits.ts";
import { isSameSpelling } from "../../domain/workspace/email-address.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as people from "../../storage/people/people.ts";
import * as sessions from "../../storage/people/sessions.ts";
import * as signInSecrets from "../../storage/people/sign-in-secrets.ts";

export type Browser = {
  userAgent: string | null;
  address: string | null;
  /** The browser's session until now; null when it has none. */
  tokenDigest: Buffer | null;
};
export type StartedSession = { token: string; sessionId: string };

/** Says whether a mail is on its way: strangers get none, and nobody gets more than people need to sign in. */
export async function mailSignInCode(
  db: Database,
  keyring: Keyring,
  typed: string,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    // Never to the address as typed: another spelling may be another mailbox.
    const known = await people.findKnown(tx, typed);
    if (known === null) return false;
    const { workspaceId, email } = known;
    const nonce = randomBytes(signInNonceBytes);
    const { id: secretKeyId } = keyring.current;
    const expiresAt = await signInSecrets.insertCode(tx, { email, secretKeyId, nonce });
    if (expiresAt === null) return false;
    await newDeliveries.insertPersonMail(tx, {
      workspaceId,
      to: email,
      kind: "person.signing_in",
      detail: { secretKeyId, nonce: nonce.toString("base64"), expiresAt: expiresAt.toISOString() },
    });
    await newDeliveries.announceDue(tx);
    return true;
  });
}

export async function signInByCode(
  db: Database,
  keyring: Keyring,
  { email, code, browser }: { email: string; code: string; browser: Browser },
): Promise<StartedSession | null> {
  return inTransaction(db, async (tx) => {
    const taken = await signInSecrets.takeTry(tx, email);
    const key = taken === null ? null : findSecretKey(keyring, taken.secretKeyId);
    if (taken === null || key === null) return null;
    const right = Buffer.from(deriveSignInCode(key, taken.nonce));
    const typed = Buffer.from(code);
    const isRight = typed.length === right.length && timingSafeEqual(typed, right);
    if (!isRight || !(await signInSecrets.use(tx, taken.id))) return null;
    return insertSession(tx, { email: taken.email, method: "code", ...browser });
  });
}

/** The token of a link that signs a member in once. */
export async function makeSignInLink(
  db: Database,
  keyring: Keyring,
  email: string,
): Promise<string> {
  return inTransaction(db, (tx) => insertSignInLink(tx, keyring, email));
}

export async function insertSignInLink(
  tx: Transaction,
  keyring: Keyring,
  email: string,
): Promise<string> {
  const nonce = randomBytes(signInNonceBytes);
  const token = deriveSignInToken(keyring.current, nonce);
  const { id: secretKeyId } = keyring.current;
  const digest = digestOfToken(token);
  await signInSecrets.insertLink(tx, { email, secretKeyId, nonce, digest });
  return token;
}

export async function signInByLink(
  db: Database,
  { token, browser }: { token: string; browser: Browser },
): Promise<StartedSession | null> {
  return inTransaction(db, async (tx) => {
    const email = await signInSecrets.useLink(tx, digestOfToken(token));
    return email === null ? null : insertSession(tx, { email, method: "link", ...browser });
  });
}

export type SessionStart = { email: string; method: sessions.SignInMethod } & Browser;

/** For people who proved their identity elsewhere. Null when they are in no workspace and were never asked. */
export async function startSession(
  db: Database,
  start: SessionStart,
): Promise<StartedSession | null> {
  return inTransaction(db, (tx) => insertSession(tx, start));
}

/** Replaces the browser's earlier session, which nobody would ever end. */
async function insertSession(
  tx: Transaction,
  { email, method, userAgent, address, tokenDigest }: SessionStart,
): Promise<StartedSession | null> {
  const known = await people.findKnown(tx, email);
  if (known === null) return null;
  // A code proves the mailbox it was sent to, which may no longer be the one that gets codes.
  if (method === "code" && !isSameSpelling(known.email, email)) return null;
  // Only the operator or the company's directory sets the spelling of an unknown person; an invitation doesn't.
  const person = await people.upsert(tx, email);
  if (tokenDigest !== null) await sessions.removeReplaced(tx, tokenDigest);
  const token = randomBytes(sessionTokenBytes).toString("base64url");
  const { id: sessionId } = await sessions.insert(tx, {
    personId: person.id,
    tokenDigest: digestOfToken(token),
    method,
    userAgent: userAgent?.slice(0, userAgentCharactersMax) ?? null,
    address,
  });
  return { token, sessionId };
}

/** Written now and then, so that the owner sees when a session was last used. */
export async function noteVisit(
  db: Database,
  { sessionId, isStale }: sessions.Visitor,
): Promise<void> {
  if (isStale) await inTransaction(db, (tx) => sessions.touch(tx, sessionId));
}

export async function endSession(
  db: Database,
  session: { personId: string; sessionId: string },
): Promise<boolean> {
  return inTransaction(db, (tx) => sessions.remove(tx, session));
}

export async function endOtherSessions(
  db: Database,
  session: { personId: string; sessionId: string },
): Promise<number> {
  return inTransaction(db, (tx) => sessions.removeOthers(tx, session));
}
