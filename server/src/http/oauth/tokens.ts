// What MCP clients call themselves: register (RFC 7591), and get tokens for a code or a refresh token (RFC 6749). Anybody
// may call, so a network may register and fail only so often. Registering stores nothing. A good code or token is never
// refused for what others in its network do: an office is one network.

import { hash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { networkOf } from "../../domain/access/network-address.ts";
import {
  isOAuthRefusal,
  issueClientId,
  type OAuthRefusal,
  parseClient,
  readClientId,
  refuseOAuth,
} from "../../domain/access/oauth.ts";
import { isRepeated, onlyOne, resourceOf } from "../../domain/access/oauth-question.ts";
import { textOf } from "../../domain/approval/json-body.ts";
import { oauthFailuresPerMinuteMax, oauthRegistrationsPerMinuteMax } from "../../domain/limits.ts";
import {
  type GivenTokens,
  refreshTokens,
  useCode,
} from "../../operations/workspaces/connect-client.ts";
import type { Answer, Call } from "../frame/call.ts";
import { RateLimiter } from "../frame/rate-limiter.ts";

export type OAuthCalls = {
  db: Database;
  keyring: Keyring;
  origin: { readonly publicUrl: string };
  clock: () => number;
};

type Handle = (call: Call) => Promise<Answer>;

export function oauthHandlers(calls: OAuthCalls): { register: Handle; token: Handle } {
  const registrations = perMinute(oauthRegistrationsPerMinuteMax);
  const failures = perMinute(oauthFailuresPerMinuteMax);
  const take = (limiter: RateLimiter, { address }: Call): Answer | null => {
    const network = hash("sha256", networkOf(address ?? ""), "buffer");
    const { allowed, retryAfterMs } = limiter.take(network, calls.clock());
    return allowed ? null : tooMany(retryAfterMs);
  };
  return {
    register: async (call) => take(registrations, call) ?? register(calls, call),
    token: async (call) => {
      const tokens = await tokensFor(calls, new URLSearchParams(textOf(call.body) ?? ""));
      if (!isOAuthRefusal(tokens)) return granted(tokens);
      return take(failures, call) ?? refused(tokens);
    },
  };
}

function perMinute(max: number): RateLimiter {
  return new RateLimiter({ perSecond: max / 60, burst: max });
}

function register({ keyring, origin }: OAuthCalls, { body }: Call): Answer {
  const client = parseClient(parseJson(body), origin.publicUrl);
  if (isOAuthRefusal(client)) return refused(client);
  const registered = {
    client_id: issueClientId(keyring, client),
    client_name: client.name,
    redirect_uris: client.redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  return { status: 201, body: JSON.stringify(registered) };
}

/** What is no JSON says nothing, and is refused for that. */
function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(body) ?? "");
  } catch {
    return null;
  }
}

async function tokensFor(
  { db, keyring, origin }: OAuthCalls,
  form: URLSearchParams,
): Promise<GivenTokens | OAuthRefusal> {
  if (isRepeated(form)) return refuseOAuth("invalid_request", "Send each parameter once.");
  const value = (name: string) => onlyOne(form, name) ?? "";
  const clientId = value("client_id");
  if (readClientId(keyring, clientId) === null) {
    return refuseOAuth("invalid_client", "This client is not registered here. Register it again.");
  }
  const resource = onlyOne(form, "resource") ?? resourceOf(origin.publicUrl);
  if (resource !== resourceOf(origin.publicUrl)) {
    return refuseOAuth(
      "invalid_target",
      `The one resource here is ${resourceOf(origin.publicUrl)}.`,
    );
  }
  switch (value("grant_type")) {
    case "authorization_code": {
      const use = { code: value("code"), redirectUri: value("redirect_uri") };
      return useCode(db, { ...use, clientId, verifier: value("code_verifier") });
    }
    case "refresh_token":
      return refreshTokens(db, keyring, { refreshToken: value("refresh_token"), clientId });
    default:
      return refuseOAuth(
        "unsupported_grant_type",
        "grant_type is authorization_code or refresh_token.",
      );
  }
}

function granted({ access, refresh, expiresInSeconds }: GivenTokens): Answer {
  const told = {
    access_token: access,
    token_type: "Bearer",
    expires_in: expiresInSeconds,
    refresh_token: refresh,
  };
  return { status: 200, headers: { pragma: "no-cache" }, body: JSON.stringify(told) };
}

function refused({ error, description }: OAuthRefusal): Answer {
  if (error === "temporarily_unavailable") return later(description, 60_000);
  const status = error === "invalid_client" ? 401 : 400;
  return { status, body: JSON.stringify({ error, error_description: description }) };
}

function tooMany(retryAfterMs: number): Answer {
  const description = "Too many calls from this network. Wait for the seconds in Retry-After.";
  return later(description, retryAfterMs);
}

function later(description: string, retryAfterMs: number): Answer {
  const headers = { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
  const told = { error: "temporarily_unavailable", error_description: description };
  return { status: 429, headers, body: JSON.stringify(told) };
}
