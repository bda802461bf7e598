// Verifies that a decision was signed by its reviewer's own passkey, for exactly this request as the rows have it. It
// decides nothing.

import { hash } from "node:crypto";
import { type Database, inOneStatement } from "../../database/database.ts";
import type { SignedDecision } from "../../domain/proof/evidence.ts";
import {
  checkpointIn,
  differenceIn,
  flawOfAssertion,
  type SignatureFlaw,
  sayFlaw,
} from "../../domain/proof/statement-flaws.ts";
import { isRefusal, type Refusal, refuse } from "../../domain/refusal.ts";
import {
  challengeText,
  executedText,
  type SignedAnswer,
  type Statement,
} from "../../domain/shown/decision-statement.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import * as passkeys from "../../storage/people/passkeys.ts";
import * as checkpoints from "../../storage/proof/statement-checkpoints.ts";
import { loadWebAuthn, siteOf } from "../people/webauthn.ts";

/** The rows that a statement is about. */
export type SignedRequest = {
  workspaceId: string;
  approvalId: string;
  reviewer: { email: string };
  payload: JsonText | null;
  change: { payload: JsonText } | null;
  voting: { revision: number } | null;
  audience: readonly string[] | null;
  expiresAt: Date;
};

/** The decision as it was sent. Its digest is known to be that of the stored content. */
export type SentDecision = {
  verdict: "approve" | "reject";
  edit: JsonText | null;
  digest: string;
  signed: SignedAnswer;
};

export type SignatureRefusal = Refusal<"signature_refused">;

export async function verifySignedDecision(
  { db, publicUrl }: { db: Database; publicUrl: string },
  request: SignedRequest,
  decision: SentDecision,
): Promise<SignedDecision | SignatureRefusal> {
  const { signed } = decision;
  const checkpoint = checkpointIn(signed.statement);
  if (checkpoint === undefined) return refuseFor("spelling");
  const difference = differenceIn(
    signed.statement,
    statementOf(request, { ...decision, checkpoint }),
  );
  if (difference !== null) return refuseFor(difference);
  if (!(await checkpoints.wasNewest(db, request.workspaceId, checkpoint))) {
    return refuseFor("checkpoint");
  }
  const passkey = await passkeys.find(db, signed.credentialId);
  if (passkey === null) return refuseFor("unknown_passkey");
  if (passkey.email.toLowerCase() !== request.reviewer.email.toLowerCase()) {
    return refuseFor("other_person");
  }
  const counter = await counterOf(signed, passkey, publicUrl);
  if (isRefusal(counter)) return counter;
  if (!(await passkeys.advanceCounter(inOneStatement(db), passkey.id, counter))) {
    return refuseFor("used_before");
  }
  return {
    credentialId: passkey.credentialId,
    statement: signed.statement,
    ...bytesOf(signed),
    signature: Buffer.from(signed.signature, "base64url"),
  };
}

/** For whom the receipt of a request is. */
export function audienceOf({
  audience,
  workspaceId,
}: Pick<SignedRequest, "audience" | "workspaceId">): readonly string[] {
  return audience ?? [workspaceId];
}

function statementOf(
  request: SignedRequest,
  { verdict, edit, digest, checkpoint }: SentDecision & { checkpoint: string | null },
): Statement {
  return {
    request: request.approvalId,
    workspace: request.workspaceId,
    verdict,
    revision: request.voting?.revision ?? 1,
    payload: digestOf(request.payload),
    effective: verdict === "approve" ? digestOf(executedText(request, edit)) : null,
    shown: Buffer.from(digest, "hex").toString("base64url"),
    audience: audienceOf(request),
    expires: request.expiresAt.toISOString(),
    checkpoint,
  };
}

function digestOf(text: string | null): string | null {
  return text === null ? null : hash("sha256", text, "base64url");
}

/** The authenticator's counter, or why it proved nothing. */
async function counterOf(
  signed: SignedAnswer,
  passkey: passkeys.PasskeyOfOwner,
  publicUrl: string,
): Promise<number | SignatureRefusal> {
  const site = siteOf(publicUrl);
  const challenge = hash("sha256", challengeText(signed.statement), "base64url");
  const flaw = flawOfAssertion(bytesOf(signed), {
    challenge,
    origin: site.expectedOrigin,
    rpIdHash: hash("sha256", site.expectedRPID, "buffer"),
  });
  if (flaw !== null) return refuseFor(flaw);
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const { credentialId: id, clientDataJSON, authenticatorData, signature } = signed;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      ...site,
      // Whether the counter has advanced is asked when it is kept, by one statement.
      credential: { id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
      requireUserVerification: true,
    });
    return verified ? authenticationInfo.newCounter : refuseFor("wrong_signature");
  } catch {
    // The library throws for every flaw, and nobody here needs its words.
    return refuseFor("wrong_signature");
  }
}

function bytesOf({ authenticatorData, clientDataJSON }: SignedAnswer) {
  return {
    authenticatorData: Buffer.from(authenticatorData, "base64url"),
    clientData: Buffer.from(clientDataJSON, "base64url"),
  };
}

function refuseFor(flaw: SignatureFlaw): SignatureRefusal {
  return refuse("signature_refused", sayFlaw(flaw));
}
