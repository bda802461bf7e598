// The question of a client that wants to be connected, as it stands in the address of the page that a person sees.

import type { Keyring } from "./keyring.ts";
import {
  challengePattern,
  type OAuthClient,
  type OAuthRefusal,
  readClientId,
  refuseOAuth,
} from "./oauth.ts";
import { isOwnAddress, isRegisteredRedirect, redirectWith } from "./redirect-uri.ts";

export type OAuthQuestion = {
  clientId: string;
  client: OAuthClient;
  redirectUri: string;
  challenge: string;
  state: string | null;
};

/**
 * A question can be bad in two ways. If client or address is in doubt, nobody is sent anywhere. Every other mistake is
 * told to the client, at its own address.
 */
export type ReadQuestion =
  | { kind: "question"; question: OAuthQuestion }
  | { kind: "told"; redirectUri: string; redirectTo: string }
  | { kind: "doubtful"; message: string };

type Issuer = { publicUrl: string; keyring: Keyring };

const stateCharactersMax = 2_000;

export function readQuestion({ publicUrl, keyring }: Issuer, query: URLSearchParams): ReadQuestion {
  const clientId = onlyOne(query, "client_id");
  const client = clientId === null ? null : readClientId(keyring, clientId);
  if (clientId === null || client === null) {
    return doubtful("This service doesn’t know the program that sent you here.");
  }
  const redirectUri = onlyOne(query, "redirect_uri");
  if (redirectUri === null || !isRegisteredRedirect(client.redirectUris, redirectUri)) {
    return doubtful(
      "The program that sent you here wants the answer at an address that isn’t its own.",
    );
  }
  // Asked anew: a port may have been chosen since, and PUBLIC_URL may have changed.
  if (isOwnAddress(redirectUri, publicUrl)) {
    return doubtful("The program that sent you here wants the answer at our own address.");
  }
  const state = onlyOne(query, "state");
  const flaw = flawOf(query, publicUrl);
  if (flaw !== null) {
    const answer = { error: flaw.error, error_description: flaw.description };
    return {
      kind: "told",
      redirectUri,
      redirectTo: redirectWith(redirectUri, { ...answer, state, iss: publicUrl }),
    };
  }
  const challenge = onlyOne(query, "code_challenge") ?? "";
  return { kind: "question", question: { clientId, client, redirectUri, challenge, state } };
}

/** In RFC 6749 a parameter comes once. */
export function onlyOne(query: URLSearchParams, name: string): string | null {
  const values = query.getAll(name);
  return values.length === 1 ? (values[0] ?? null) : null;
}

export function isRepeated(query: URLSearchParams): boolean {
  const names = [...query.keys()];
  return new Set(names).size < names.length;
}

/** The one thing that a token is for. */
export function resourceOf(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

function flawOf(query: URLSearchParams, publicUrl: string): OAuthRefusal | null {
  if (isRepeated(query)) return refuseOAuth("invalid_request", "Send each parameter once.");
  if ((query.get("state") ?? "").length > stateCharactersMax) {
    return refuseOAuth("invalid_request", `state has at most ${stateCharactersMax} characters.`);
  }
  if (query.get("response_type") !== "code") {
    return refuseOAuth("unsupported_response_type", "response_type is code.");
  }
  const isS256 = query.get("code_challenge_method") === "S256";
  if (!isS256 || !challengePattern.test(query.get("code_challenge") ?? "")) {
    return refuseOAuth(
      "invalid_request",
      "Send a code_challenge, by the code_challenge_method S256.",
    );
  }
  const resource = query.get("resource") ?? resourceOf(publicUrl);
  if (resource !== resourceOf(publicUrl)) {
    return refuseOAuth("invalid_target", `The one resource here is ${resourceOf(publicUrl)}.`);
  }
  return null;
}

function doubtful(message: string): ReadQuestion {
  return { kind: "doubtful", message: `${message} Nothing was connected.` };
}
