// Asks the browser for a passkey, and says in a sentence why it failed.

import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from "@simplewebauthn/browser";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import type { Passkey } from "../../../../server/src/wire/dashboard-sign-in.ts";
import { ApiError, call } from "./api.ts";

/** Browsers offer passkeys on encrypted pages and on this machine only. */
export function hasPasskeys(): boolean {
  return isSecureContext && browserSupportsWebAuthn();
}

export async function signInWithPasskey(): Promise<Me> {
  const { challengeId, options } = await call("POST /sign-in/passkey/begin");
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON;
  const response = await startAuthentication({ optionsJSON }).catch((fault: unknown) => {
    throw toProblem(fault, {
      NotAllowedError: "No passkey was used. Try again, or sign in with a code by mail.",
    });
  });
  return call("POST /sign-in/passkey/finish", { body: { challengeId, response } });
}

export async function addPasskey(name: string): Promise<Passkey> {
  const { challengeId, options } = await call("POST /me/passkeys/begin");
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON;
  const response = await startRegistration({ optionsJSON }).catch((fault: unknown) => {
    throw toProblem(fault, {
      NotAllowedError: "No passkey was made. Try again when you are ready to confirm it.",
      InvalidStateError: "This device already has one of your passkeys. It doesn’t need another.",
    });
  });
  return call("POST /me/passkeys/finish", { body: { challengeId, response, name } });
}

/** By the standard's names of failures. */
function toProblem(fault: unknown, sentences: Record<string, string>): ApiError {
  const name = fault instanceof Error ? fault.name : "";
  const sentence = sentences[name] ?? "The browser could not use a passkey here.";
  return new ApiError("sign_in_failed", sentence, { status: 0 });
}
