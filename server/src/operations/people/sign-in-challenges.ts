// Remembers a sign-in at a company's identity provider, from the redirect until the browser returns: once, within
// minutes by the database's clock, and only in the browser that left.

import { randomBytes } from "node:crypto";
import { type Database, inOneStatement } from "../../database/database.ts";
import { digestOfToken } from "../../domain/access/sign-in.ts";
import * as challenges from "../../storage/people/sign-in-challenges.ts";

const secretBytes = 32;

type OidcDetail = { nonce: string; codeVerifier: string; browserDigest: string };

export type BegunOidc = { state: string; nonce: string; codeVerifier: string };

/** `browserToken` is the secret in the browser's cookie: only that browser can finish what it began. */
export async function beginOidcFlow(db: Database, browserToken: string): Promise<BegunOidc> {
  const nonce = randomBytes(secretBytes).toString("base64url");
  const codeVerifier = randomBytes(secretBytes).toString("base64url");
  const browserDigest = digestTextOf(browserToken);
  const state = await challenges.insert<OidcDetail>(inOneStatement(db), {
    kind: "oidc",
    personId: null,
    detail: { nonce, codeVerifier, browserDigest },
  });
  return { state, nonce, codeVerifier };
}

/** Null when this browser waits for no such answer, or had it already. Other browsers leave it unanswered. */
export async function takeOidcFlow(
  db: Database,
  { state, browserToken }: { state: string; browserToken: string },
): Promise<BegunOidc | null> {
  const taken = await challenges.take<OidcDetail>(inOneStatement(db), {
    id: state,
    kind: "oidc",
    personId: null,
    detail: { browserDigest: digestTextOf(browserToken) },
  });
  return taken === null ? null : { state, nonce: taken.nonce, codeVerifier: taken.codeVerifier };
}

function digestTextOf(browserToken: string): string {
  return digestOfToken(browserToken).toString("base64url");
}
