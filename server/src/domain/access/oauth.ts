// The rules by which a stranger's program gets a token: who it says it is, and how it proves that it asked. A client
// registers itself with anything, so nothing that it says is believed.

import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { oauthClientBytesMax, oauthRedirectUrisMax } from "../limits.ts";
import { flawOfName } from "../workspace/name.ts";
import type { Keyring, SecretKey } from "./keyring.ts";
import { isOwnAddress, mayRedirectTo } from "./redirect-uri.ts";

/** The codes of RFC 6749, 7591 and 8707 that we use. */
export type OAuthError =
  | "invalid_request"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_redirect_uri"
  | "invalid_grant"
  | "invalid_target"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "access_denied"
  | "temporarily_unavailable";

export type OAuthRefusal = { error: OAuthError; description: string };

export function refuseOAuth(error: OAuthError, description: string): OAuthRefusal {
  return { error, description };
}

export function isOAuthRefusal(value: object): value is OAuthRefusal {
  return "error" in value && "description" in value;
}

export type OAuthClient = { name: string; redirectUris: readonly string[] };

const unnamedClient = "Unnamed client";

/** What a client says about itself when it registers. Everything but name and addresses is ignored. */
export function parseClient(metadata: unknown, publicUrl: string): OAuthClient | OAuthRefusal {
  const { client_name: given, redirect_uris: redirectUris } = Object(metadata) as {
    client_name?: unknown;
    redirect_uris?: unknown;
  };
  const name = given ?? unnamedClient;
  const flaw = typeof name === "string" ? flawOfName(name) : "must be a text";
  if (flaw !== null) return refuseOAuth("invalid_client_metadata", `client_name ${flaw}.`);
  if (!Array.isArray(redirectUris) || redirectUris.length === 0) {
    return refuseOAuth("invalid_redirect_uri", "Give redirect_uris, a list with at least one.");
  }
  if (redirectUris.length > oauthRedirectUrisMax || !redirectUris.every(mayRedirectTo)) {
    return refuseOAuth(
      "invalid_redirect_uri",
      `Give at most ${oauthRedirectUrisMax} redirect_uris, each https, or http to localhost, 127.0.0.1 or [::1], without a fragment, without a name before the host, and without code, state, iss or error in the query.`,
    );
  }
  if (redirectUris.some((uri) => isOwnAddress(uri, publicUrl))) {
    return refuseOAuth("invalid_redirect_uri", "A redirect_uri can't lead to this service itself.");
  }
  const client = { name: String(name), redirectUris };
  if (Buffer.byteLength(textOfClient(client)) <= oauthClientBytesMax) return client;
  return refuseOAuth(
    "invalid_client_metadata",
    `client_name and redirect_uris may have at most ${oauthClientBytesMax} bytes together.`,
  );
}

const clientIdPattern = /^csc_([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{43})$/;

/** The id holds what the client said, signed. So strangers can register without end and nothing grows. */
export function issueClientId(keyring: Keyring, client: OAuthClient): string {
  const body = Buffer.from(textOfClient(client)).toString("base64url");
  return `csc_${body}.${signatureOf(keyring.current, body)}`;
}

/** Null for an id that we haven't given. */
export function readClientId(keyring: Keyring, clientId: string): OAuthClient | null {
  const [, body = "", signature = ""] = clientIdPattern.exec(clientId) ?? [];
  const given = Buffer.from(signature);
  const isOurs =
    signature !== "" &&
    keyring.all.some((key) => timingSafeEqual(given, Buffer.from(signatureOf(key, body))));
  if (!isOurs) return null;
  const [name, redirectUris] = JSON.parse(Buffer.from(body, "base64url").toString());
  return { name, redirectUris };
}

function textOfClient({ name, redirectUris }: OAuthClient): string {
  return JSON.stringify([name, redirectUris]);
}

function signatureOf(key: SecretKey, body: string): string {
  return createHmac("sha256", key.keyObject)
    .update("countersign oauth client\0")
    .update(body)
    .digest("base64url");
}

/** S256 of RFC 7636, the one method. */
export const challengePattern = /^[A-Za-z0-9_-]{43}$/;
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

export function isChallengeMet(challenge: string, verifier: string): boolean {
  if (!verifierPattern.test(verifier)) return false;
  const given = Buffer.from(hash("sha256", verifier, "base64url"));
  return timingSafeEqual(given, Buffer.from(challenge));
}

export type Tokens = { access: string; refresh: string };

/**
 * The tokens that follow a refresh token. The same for each time that it is used, so that a lost answer can be given
 * again without being kept, and a thief who comes second gets nothing of their own.
 */
export function tokensAfter(key: SecretKey, refreshToken: string): Tokens {
  const derive = (kind: string) =>
    createHmac("sha256", key.keyObject)
      .update(`countersign oauth ${kind} token\0`)
      .update(refreshToken)
      .digest("base64url");
  return { access: `cso_${derive("access")}`, refresh: `csr_${derive("refresh")}` };
}

const accessTokenPattern = /^cso_[A-Za-z0-9_-]{43}$/;

export function isWellFormedAccessToken(text: string): boolean {
  return accessTokenPattern.test(text);
}
