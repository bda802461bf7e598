// Adds and removes the passkeys of a person, who hears of both by mail, and signs in with one. A question is used up by
// any answer to it, right or wrong. Nothing here asks anybody but the database: of what authenticators say about themselves nothing is looked up.

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
import type { PasskeyMailKind } from "../../domain/approval/event.ts";
import {
  passkeyNameCharactersMax,
  passkeysPerPersonMax,
  signInChallengeMinutes,
} from "../../domain/limits.ts";
import { type ChangeRefusal, type Refusal, refuse, refuseField } from "../../domain/refusal.ts";
import { flawOfText, isBlank } from "../../domain/workspace/plain-text.ts";
import * as deliveries from "../../storage/deliveries/deliveries.ts";
import * as personMails from "../../storage/deliveries/person-mails.ts";
import * as passkeys from "../../storage/people/passkeys.ts";
import * as people from "../../storage/people/people.ts";
import * as challenges from "../../storage/people/sign-in-challenges.ts";

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
    await mailOwner(tx, { owner, kind: "person.passkey_added", passkeyName: name });
    return added;
  });
}

export async function removePasskey(
  db: Database,
  { id, owner }: { id: string; owner: PasskeyOwner },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const passkeyName = await passkeys.remove(tx, { id, personId: owner.id });
    if (passkeyName === null) return false;
    await mailOwner(tx, { owner, kind: "person.passkey_removed", passkeyName });
    return true;
  });
}

type PasskeyNews = { owner: PasskeyOwner; kind: PasskeyMailKind; passkeyName: string };

/** In the transaction of the change: whoever added it in another's name cannot do so unheard. */
async function mailOwner(
  tx: Transaction,
  { owner, kind, passkeyName }: PasskeyNews,
): Promise<void> {
  // Mails travel in a workspace's queue. Who is a member nowhere cannot sign in, with or without a passkey.
  const membership = await people.findFirstMembership(tx, owner.email);
  if (membership === null) return;
  const { workspaceId, email: to } = membership;
  await personMails.insert(tx, { workspaceId, to, kind, detail: { passkeyName } });
  await deliveries.announceDue(tx);
}

/** Asks for any passkey of this site: whoever answers is known by their answer. */
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

/** The address of whoever has proved to hold one of their passkeys. Null tells nobody what was wrong. */
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

type WebAuthn = Awaited<ReturnType<typeof loadWebAuthn>>;

/** At the first call, and before any transaction: loading the library takes time and memory, which only its users pay. */
async function loadWebAuthn() {
  const [library, { COSEALG, decodeAttestationObject, isoBase64URL }] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  return {
    ...library,
    decodeAttestationObject,
    isoBase64URL,
    /** What every authenticator has one of. By itself the library would prefer one that Node has as an experiment. */
    supportedAlgorithmIDs: [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256],
  };
}

type NewCredential = { response: RegistrationResponseJSON; asked: Asked; publicUrl: string };

/** Null when it is not what was asked for. The library says so by throwing, and its words are for nobody here. */
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
    // The library compares neither: an id that browsers would not send is one that the index may not take.
    return registrationInfo?.credential.id === response.id ? registrationInfo.credential : null;
  } catch {
    return null;
  }
}

/**
 * None was asked for, and browsers then send none, or at most a signature by the new key itself. For other kinds the
 * library would ask for lists of revoked certificates, at addresses that a certificate names.
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

/** The authenticator's counter, or null when it has not proved anything. */
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

/** A passkey belongs to a host, and is used on one origin of it. */
function siteOf(publicUrl: string): { expectedRPID: string; expectedOrigin: string } {
  const { hostname, origin } = new URL(publicUrl);
  return { expectedRPID: hostname, expectedOrigin: origin };
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
