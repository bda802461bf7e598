// Asks the browser for the reader's passkey, to sign one decision. Nothing is sent here, and nothing throws.

import type { SignedAnswer } from "../../../../server/src/domain/shown/decision-statement.ts";
import type { Review, ReviewSigning } from "../../../../server/src/wire/review-contract.ts";
import { signingWords } from "../../look/signing-words.ts";
import type { Decision } from "../service/calls.ts";
import { challengeOf, fromBase64url, statementOf, toBase64url } from "./statement.ts";

/** As long as somebody may take to find their phone. */
const patienceMs = 5 * 60_000;

/** `problem` is null when the reader went back meanwhile. */
export type Unsigned = { problem: string | null };

/** Browsers offer passkeys on encrypted pages and on this machine only. */
export function hasPasskeys(): boolean {
  return isSecureContext && "credentials" in navigator && "PublicKeyCredential" in window;
}

/** Whether the reader can sign here. */
export function canSign(signing: ReviewSigning | undefined): signing is ReviewSigning {
  return signing !== undefined && signing.credentials.length > 0 && hasPasskeys();
}

export async function sign(
  review: Review,
  signing: ReviewSigning,
  decision: Pick<Decision, "verdict" | "edit">,
  signal: AbortSignal,
): Promise<SignedAnswer | Unsigned> {
  try {
    const statement = await statementOf(review, signing, decision);
    const credential = await navigator.credentials.get({
      publicKey: {
        challenge: await challengeOf(statement),
        rpId: signing.rpId,
        allowCredentials: signing.credentials.map(({ id, transports }) => ({
          type: "public-key",
          id: fromBase64url(id),
          transports: transports as AuthenticatorTransport[],
        })),
        userVerification: "required",
        timeout: patienceMs,
      },
      signal,
    });
    if (!(credential instanceof PublicKeyCredential)) return { problem: signingWords.failed };
    return { statement, ...partsOf(credential) };
  } catch (fault) {
    if (signal.aborted) return { problem: null };
    // The standard's name for "the reader said no, or didn't answer".
    const isCancelled = fault instanceof Error && fault.name === "NotAllowedError";
    return { problem: isCancelled ? signingWords.cancelled : signingWords.failed };
  }
}

function partsOf({ rawId, response }: PublicKeyCredential): Omit<SignedAnswer, "statement"> {
  const { authenticatorData, clientDataJSON, signature } =
    response as AuthenticatorAssertionResponse;
  return {
    credentialId: toBase64url(rawId),
    authenticatorData: toBase64url(authenticatorData),
    clientDataJSON: toBase64url(clientDataJSON),
    signature: toBase64url(signature),
  };
}
