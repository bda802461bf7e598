// People who sign their decisions: a passkey of their own, added in a session, and the statement as their page writes it.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import type { SignedAnswer } from "../src/domain/shown/decision-statement.ts";
import {
  challengeText,
  decisionStatement,
  executedText,
  type Statement,
} from "../src/domain/shown/decision-statement.ts";
import { makeSignInLink } from "../src/operations/people/sign-in.ts";
import type { Review } from "../src/wire/review-contract.ts";
import { callDashboard, cookieOf, fromOurPage } from "./test-dashboard.ts";
import { type Authenticator, type Bent, makeAuthenticator } from "./test-passkey.ts";
import { type Choice, decisionBody, digestOfReview } from "./test-review.ts";
import { type TestNode, testPublicUrl } from "./test-service.ts";

const { origin, hostname } = new URL(testPublicUrl);

export type Signer = { email: string; cookie: string; authenticator: Authenticator };

let signers = 0;

/** Somebody whom a workspace knows already. */
export async function enrol(node: TestNode, email: string, name = "Laptop"): Promise<Signer> {
  // Each from another address, so that nobody uses up the tries of others.
  signers += 1;
  const headers = { ...fromOurPage, "x-forwarded-for": `203.0.113.${signers % 250}` };
  const token = await makeSignInLink(node.db, node.keyring, email);
  const told = await callDashboard(node, "POST /sign-in/link", { headers, body: { token } });
  const cookie = cookieOf(told);
  const authenticator = makeAuthenticator(origin);
  const begun = await callDashboard(node, "POST /me/passkeys/begin", { cookie, headers });
  const { challengeId, options } = begun.json;
  const response = authenticator.create(options);
  const body = { challengeId, name, response };
  const added = await callDashboard(node, "POST /me/passkeys/finish", { cookie, headers, body });
  assert.equal(added.status, 200, JSON.stringify(added.json));
  return { email, cookie, authenticator };
}

/** As the page makes it of what it shows. */
export function statementOf(review: Review, { verdict, edit }: Choice): Statement {
  const { signing } = review;
  assert.ok(signing !== undefined, "this review offers no signing");
  return {
    request: review.id,
    workspace: signing.workspace,
    verdict,
    revision: review.change?.revision ?? review.voting?.revision ?? 1,
    payload: digestOf(review.payload),
    effective: verdict === "reject" ? null : digestOf(executedText(review, edit ?? null)),
    shown: Buffer.from(digestOfReview(review), "hex").toString("base64url"),
    audience: signing.audience,
    expires: review.expiresAt,
    checkpoint: signing.checkpoint,
  };
}

/** What the passkey makes of a statement. */
export function sign(
  authenticator: Authenticator,
  statement: Statement | string,
  bent: Bent = {},
): SignedAnswer {
  const text = typeof statement === "string" ? statement : decisionStatement(statement);
  const challenge = hash("sha256", challengeText(text), "base64url");
  const { id, response } = authenticator.get({ challenge, rpId: hostname }, bent);
  const { authenticatorData, clientDataJSON, signature } = response;
  return { credentialId: id, statement: text, authenticatorData, clientDataJSON, signature };
}

/** The body of a decision about what the page shows, with this signature. */
export function signedBody(review: Review, choice: Choice, signed: unknown): string {
  const body = decisionBody(review, choice);
  return `{"signed":${JSON.stringify(signed)},${body.slice(1)}`;
}

export function digestOf(text: string | null): string | null {
  return text === null ? null : hash("sha256", text, "base64url");
}
