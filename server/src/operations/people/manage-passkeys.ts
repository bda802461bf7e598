// Adds and removes a person's passkeys, mails them about both, and signs in with one. Any answer to a challenge, right
// or wrong, uses it up. Only the database is asked: nothing that authenticators say about themselves is looked up.

import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from "@simplewebauthn/server";
import {
  type Database,
  inOneStatement,
  inTransaction,
  type Transaction,
} from "../../database/database.ts";
import {
  passkeyNameCharactersMax,
  passkeysPerPersonMax,
  signInChallengeMinutes,
} from "../../domain/limits.ts";
import { type ChangeRefusal, type Refusal, refuse, refuseField } from "../../domain/refusal.ts";
import { flawOfText, isBlank } from "../../domain/workspace/plain-text.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as passkeys from "../../storage/people/passkeys.ts";
import * as people from "../../storage/people/people.ts";
import * as challenges from "../../storage/people/sign-in-challenges.ts";
import { loadWebAuthn, siteOf, type WebAuthn } from "./webauthn.ts";

export type PasskeyOwner = { id: string; email: string };

export type Question<Options> = { challengeId: string; options: Options };

type Asked = { challenge: string };

const timeout = signInChallengeMinutes * 60_000;

export async function beginPasskey(
  db: Database,
  { owner, publicUrl }: { owner: PasskeyOwner; publicUrl: string },
): Promise<Question<PublicKeyCredentialCreationOptionsJSON> | Refusal<"conflict">> {
  const known = await passkeys.list(db, owner.id);
  if (known.length >= passkeysPerPersonMax) return tooMany();
  const webAuthn = await loadWebAuthn();
  const options = await webAuthn.generateRegistrationOptions({
    rpName: "Countersign",
    rpID: siteOf(publicUrl).expectedRPID,
    userID: userIdOf(owner.id),
    userName: owner.email,
    userDisplayName: owner.email,
    timeout,
    supportedAlgorithmIDs: webAuthn.supportedAlgorithmIDs,
    attestationType: "none",
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    excludeCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
  });
  const detail: Asked = { challenge: options.challenge };
  const question = { kind: "passkey_new", personId: owner.id, detail } as const;
  const challengeId = await challenges.insert(inOneStatement(db), question);
  return { challengeId, options };
}

export type PasskeyInput = {
  owner: PasskeyOwner;
  publicUrl: string;
  challengeId: string;
  response: RegistrationResponseJSON;
  name: string;
};

export async function addPasskey(
  db: Database,
  { owner, publicUrl, challengeId, response, name }: PasskeyInput,
): Promise<passkeys.Passkey | ChangeRefusal> {
  const flaw = flawOfPasskeyName(name);
  if (flaw !== null) return refuseField("name", flaw);
  const webAuthn = await loadWebAuthn();
  return inTransaction(db, async (tx) => {
    const question = { id: challengeId, kind: "passkey_new", personId: owner.id } as const;
    const asked = await challenges.take<Asked>(tx, question);
    const credential =
      asked === null ? null : await credentialOf(webAuthn, { response, asked, publicUrl });
    if (credential === null) {
      return refuse(
        "conflict",
        "This passkey was not added, because the question that it answers is too old, was answered before, or was asked by another site. Add it once more.",
      );
    }
    if ((await passkeys.lockAndCount(tx, owner.id)) >= passkeysPerPersonMax) return tooMany();
    const added = await passkeys.insert(tx, {
      personId: owner.id,
      name,
      credentialId: credential.id,
      publicKey: credential.publicKey,
      counter: credential.counter,
      transports: response.response.transports ?? [],
    });
    if (added === null) {
      return refuse("conflict", "This passkey was added before. Sign in with it.");
    }
    const publicKey = Buffer.from(credential.publicKey);
    await tellOf(tx, { owner, change: "added", passkey: { ...added, publicKey } });
    return added;
  });
}

export async function removePasskey(
  db: Database,
  { id, owner }: { id: string; owner: PasskeyOwner },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const passkey = await passkeys.remove(tx, { id, personId: owner.id });
    if (passkey === null) return false;
    await tellOf(tx, { owner, change: "removed", passkey });
    return true;
  });
}

type PasskeyNews = {
  owner: PasskeyOwner;
  change: "added" | "removed";
  passkey: passkeys.PublicPasskey;
};

/**
 * In the transaction of the change, so that nobody can add a passkey in another's name without their notice. What it signs
 * counts in every workspace that knows its holder: their owners hear of a new one, and a trigger keeps its public key in their logs.
 */
async function tellOf(tx: Transaction, { owner, change, passkey }: PasskeyNews): Promise<void> {
  // Mails travel in a workspace's queue. A person whom none knows can't sign in, passkey or not.
  const known = await people.findKnown(tx, owner.email);
  if (known === null) return;
  const { workspaceId, email } = known;
  const passkeyName = passkey.name;
  const kind = `person.passkey_${change}` as const;
  await newDeliveries.insertPersonMail(tx, {
    ...{ workspaceId, to: email, kind },
    detail: { passkeyName },
  });
  if (change === "added") {
    const workspaceIds = await people.listWorkspaces(tx, email);
    await newDeliveries.insertPasskeyNotices(tx, workspaceIds, { email, passkeyName });
  }
  await newDeliveries.announceDue(tx);
}

/** Asks for any passkey of this site: the answer says whose it is. */
export async function beginPasskeySignIn(
  db: Database,
  publicUrl: string,
): Promise<Question<PublicKeyCredentialRequestOptionsJSON>> {
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const options = await generateAuthenticationOptions({
    rpID: siteOf(publicUrl).expectedRPID,
    userVerification: "required",
    timeout,
  });
  const detail: Asked = { challenge: options.challenge };
  const question = { kind: "passkey", personId: null, detail } as const;
  const challengeId = await challenges.insert(inOneStatement(db), question);
  return { challengeId, options };
}

export type PasskeyProof = {
  publicUrl: string;
  challengeId: string;
  response: AuthenticationResponseJSON;
};

/** The address of the person who proved to hold one of their passkeys. Null tells nobody what was wrong. */
export async function proveByPasskey(
  db: Database,
  { publicUrl, challengeId, response }: PasskeyProof,
): Promise<string | null> {
  const webAuthn = await loadWebAuthn();
  return inTransaction(db, async (tx) => {
    const question = { id: challengeId, kind: "passkey", personId: null } as const;
    const asked = await challenges.take<Asked>(tx, question);
    const passkey = await passkeys.lock(tx, response.id);
    if (asked === null || passkey === null) return null;
    const counter = await counterOf(webAuthn, { response, asked, passkey, publicUrl });
    if (counter === null) return null;
    await passkeys.updateCounter(tx, passkey.id, counter);
    return passkey.email;
  });
}

type NewCredential = { response: RegistrationResponseJSON; asked: Asked; publicUrl: string };

/** Null when it isn't the answer we asked for. The library says so by throwing, and nobody here needs its words. */
async function credentialOf(
  webAuthn: WebAuthn,
  { response, asked, publicUrl }: NewCredential,
): Promise<WebAuthnCredential | null> {
  try {
    if (!isPlainAttestation(webAuthn, response)) return null;
    const { registrationInfo } = await webAuthn.verifyRegistrationResponse({
      response,
      expectedChallenge: asked.challenge,
      ...siteOf(publicUrl),
      supportedAlgorithmIDs: webAuthn.supportedAlgorithmIDs,
      requireUserVerification: true,
    });
    // The library doesn't compare the two ids, and the index may refuse one that no browser would send.
    return registrationInfo?.credential.id === response.id ? registrationInfo.credential : null;
  } catch {
    return null;
  }
}

/**
 * We ask for no attestation, so browsers send none, or at most a signature by the new key itself. For other kinds the
 * library would fetch lists of revoked certificates, from addresses that a certificate names.
 */
function isPlainAttestation(
  { decodeAttestationObject, isoBase64URL }: WebAuthn,
  { response: { attestationObject } }: RegistrationResponseJSON,
): boolean {
  const format = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get("fmt");
  return format === "none" || format === "packed";
}

type Proof = {
  response: AuthenticationResponseJSON;
  asked: Asked;
  passkey: passkeys.PasskeyOfOwner;
  publicUrl: string;
};

/** The authenticator's counter, or null when it proved nothing. */
async function counterOf(
  webAuthn: WebAuthn,
  { response, asked, passkey, publicUrl }: Proof,
): Promise<number | null> {
  const { userHandle } = response.response;
  if (userHandle !== webAuthn.isoBase64URL.fromBuffer(userIdOf(passkey.personId))) return null;
  try {
    const { verified, authenticationInfo } = await webAuthn.verifyAuthenticationResponse({
      response,
      expectedChallenge: asked.challenge,
      ...siteOf(publicUrl),
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
      requireUserVerification: true,
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}

function userIdOf(personId: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(personId);
}

function flawOfPasskeyName(name: string): string | null {
  if (isBlank(name)) return "must not be blank";
  if (/[\r\n\t]/.test(name)) return "must be one line";
  return flawOfText(name, passkeyNameCharactersMax);
}

function tooMany(): Refusal<"conflict"> {
  return refuse(
    "conflict",
    `You have ${passkeysPerPersonMax} passkeys, which is as many as there may be. Remove one that you no longer use, then add this one.`,
  );
}
