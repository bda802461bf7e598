// A signed decision as the page sends it: the statement, and what the passkey made of it. Nothing in it is trusted before
// it is verified.

import { credentialIdCharactersMax, passkeyPartCharactersMax } from "../limits.ts";
import type { SignedAnswer } from "../shown/decision-statement.ts";

/** Real ones are a tenth of it. */
const statementCharactersMax = 16_384;
const base64url = /^[\w-]+$/;

/** Null when it isn't as our page sends it. */
export function signedAnswerOf(value: unknown): SignedAnswer | null {
  if (typeof value !== "object" || value === null) return null;
  const { credentialId, statement, authenticatorData, clientDataJSON, signature } = value as {
    [name: string]: unknown;
  };
  if (typeof statement !== "string" || statement.length > statementCharactersMax) return null;
  if (!isPart(credentialId) || credentialId.length > credentialIdCharactersMax) return null;
  if (!isPart(authenticatorData) || !isPart(clientDataJSON) || !isPart(signature)) return null;
  return { credentialId, statement, authenticatorData, clientDataJSON, signature };
}

function isPart(value: unknown): value is string {
  return (
    typeof value === "string" && value.length <= passkeyPartCharactersMax && base64url.test(value)
  );
}
