// The calls about passkeys: sign in with one, and manage one's own.

import { z } from "zod";
import {
  credentialIdCharactersMax,
  passkeyPartCharactersMax,
  passkeyTransportsMax,
} from "../../domain/limits.ts";
import { isRefusal, refuse } from "../../domain/refusal.ts";
import {
  addPasskey,
  beginPasskey,
  beginPasskeySignIn,
  proveByPasskey,
  removePasskey,
} from "../../operations/people/manage-passkeys.ts";
import { startSession } from "../../operations/people/sign-in.ts";
import * as passkeys from "../../storage/people/passkeys.ts";
import type { Done, Me } from "../../wire/dashboard-contract.ts";
import type { Passkey, PasskeyQuestion } from "../../wire/dashboard-sign-in.ts";
import type { Call } from "../frame/call.ts";
import { browserOf, signedIn } from "./sign-in.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  readForm,
  type Visit,
  type WithHeaders,
} from "./visit.ts";

const unreadable = "is not as browsers send it; load the page again";
const base64url = (charactersMax: number) =>
  z
    .string(unreadable)
    .max(charactersMax, unreadable)
    .regex(/^[\w-]+$/, unreadable);
const part = base64url(passkeyPartCharactersMax);

/** PostgreSQL takes no U+0000, so text that is no id never reaches it. */
const idForm = /^\w{1,100}$/;
const challengeId = z.string(unreadable).regex(idForm, unreadable);

const credential = {
  id: base64url(credentialIdCharactersMax),
  rawId: base64url(credentialIdCharactersMax),
  type: z.literal("public-key", unreadable),
  // We asked nothing of any extension.
  clientExtensionResults: z.unknown().transform(() => ({})),
};

const signInForm = z.object({
  challengeId,
  response: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: part,
      authenticatorData: part,
      signature: part,
      // Without a user handle nobody says whose it is, so this is no passkey of ours.
      userHandle: part.nullish().transform((handle) => handle ?? ""),
    }),
  }),
});

const additionForm = z.object({
  challengeId,
  name: z.string("must be a text").transform((text) => text.trim()),
  response: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: part,
      attestationObject: part,
      transports: z
        .array(z.string(unreadable).regex(/^[\w-]{1,40}$/, unreadable), unreadable)
        .max(passkeyTransportsMax, unreadable)
        .default([]),
    }),
  }),
});

export async function beginSignIn({
  db,
  origin,
}: DashboardCalls): Promise<WithHeaders<PasskeyQuestion>> {
  return { told: await beginPasskeySignIn(db, origin.publicUrl), headers: {} };
}

export async function finishSignIn(
  calls: DashboardCalls,
  call: Call,
): Promise<WithHeaders<Me> | DashboardRefusal> {
  const form = readForm(call, signInForm);
  if (isRefusal(form)) return form;
  const { publicUrl } = calls.origin;
  const email = await proveByPasskey(calls.db, { publicUrl, ...form });
  const session =
    email === null
      ? null
      : await startSession(calls.db, { email, method: "passkey", ...browserOf(calls, call) });
  return session === null ? notSignedIn() : signedIn(calls, session);
}

export async function list(
  { db }: DashboardCalls,
  { person }: Visit,
): Promise<{ passkeys: Passkey[] }> {
  const found = await passkeys.list(db, person.id);
  return { passkeys: found.map(representPasskey) };
}

export async function begin(
  { db, origin }: DashboardCalls,
  { person: owner }: Visit,
): Promise<PasskeyQuestion | DashboardRefusal> {
  return beginPasskey(db, { owner, publicUrl: origin.publicUrl });
}

export async function finish(
  { db, origin, onDue }: DashboardCalls,
  { call, person: owner }: Visit,
): Promise<Passkey | DashboardRefusal> {
  const form = readForm(call, additionForm);
  if (isRefusal(form)) return form;
  const added = await addPasskey(db, { owner, publicUrl: origin.publicUrl, ...form });
  if (isRefusal(added)) return added;
  onDue();
  return representPasskey(added);
}

export async function remove(
  { db, onDue }: DashboardCalls,
  { call, person: owner }: Visit,
): Promise<Done | DashboardRefusal> {
  const id = call.params.passkeyId ?? "";
  const wasThere = idForm.test(id) && (await removePasskey(db, { id, owner }));
  if (!wasThere) return refuse("not_found", "You have no such passkey any more.");
  onDue();
  return { done: true };
}

function representPasskey({ id, name, createdAt, lastUsedAt }: passkeys.Passkey): Passkey {
  return {
    id,
    name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}

/** The answer is the same for every flaw, so that nobody learns whose passkeys are known here. */
function notSignedIn(): DashboardRefusal {
  return refuse(
    "sign_in_failed",
    "This passkey does not sign you in. Try it once more; if it fails again, sign in with a code by mail, and see under your account which passkeys you have here.",
  );
}
