// Talks to a company's identity provider by OpenID Connect and reports how it went. The provider is looked up at the
// first sign-in, and again after a failure, so that it may be away when the service starts.

import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import {
  joinClaims,
  type OidcClaims,
  type OidcClient,
  type OidcFailed,
  type OidcFlow,
  type OidcSettings,
  oidcFailed,
} from "../domain/access/openid.ts";
import {
  openIdAnswerBytesMax,
  openIdClockToleranceSeconds,
  openIdTimeoutMs,
} from "../domain/limits.ts";

const scope = "openid email";

export function openOidcClient(
  settings: OidcSettings,
  { timeoutMs = openIdTimeoutMs }: { timeoutMs?: number } = {},
): OidcClient {
  const configured = keptOnceMade(() => discover(settings, timeoutMs));
  return {
    name: settings.name,
    isEmailTrusted: settings.isEmailTrusted,
    begin: (flow) => told(async () => ({ url: await addressOf(await configured(), flow) })),
    finish: (flow, query) =>
      told(async () => ({ claims: await claimsOf(await configured(), flow, query) })),
  };
}

async function addressOf(configuration: Configuration, flow: OidcFlow): Promise<string> {
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri: flow.redirectUri,
    scope,
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await calculatePKCECodeChallenge(flow.codeVerifier),
    code_challenge_method: "S256",
  });
  return url.href;
}

/** Some providers put everything into the signed token; others give the address, or parts of it, only when asked. */
async function claimsOf(
  configuration: Configuration,
  flow: OidcFlow,
  query: URLSearchParams,
): Promise<OidcClaims> {
  const tokens = await authorizationCodeGrant(
    configuration,
    new URL(`${flow.redirectUri}?${query}`),
    {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.codeVerifier,
      idTokenExpected: true,
    },
  );
  const claims = tokens.claims();
  if (claims === undefined) return { email: undefined, email_verified: undefined };
  const { sub, email, email_verified } = claims;
  const isTold = email !== undefined && email_verified !== undefined;
  if (isTold || configuration.serverMetadata().userinfo_endpoint === undefined) {
    return { email, email_verified };
  }
  const asked = await fetchUserInfo(configuration, tokens.access_token, sub);
  return joinClaims(
    { email, email_verified },
    { email: asked.email, email_verified: asked.email_verified },
  );
}

export async function discover(
  { issuer, clientId, clientSecret }: OidcSettings,
  timeoutMs: number,
): Promise<Configuration> {
  const url = new URL(issuer);
  const configuration = await discovery(
    url,
    clientId,
    { [clockTolerance]: openIdClockToleranceSeconds },
    authenticateWith(clientSecret),
    {
      timeout: timeoutMs / 1_000,
      [customFetch]: fetchBounded,
      // OpenID Connect allows to skip the signature of a token that came straight from the provider; we always check
      // it.
      execute: [
        enableNonRepudiationChecks,
        // Only an issuer on this machine may be set up without TLS.
        ...(url.protocol === "http:" ? [allowInsecureRequests] : []),
      ],
    },
  );
  const body = configuration.serverMetadata();
  // For some Microsoft addresses the library would continue, and then trust every company's directory.
  if (new URL(body.issuer).href !== url.href) {
    const error = new ClientError("the provider calls itself another issuer", { cause: { body } });
    throw Object.assign(error, { code: "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED" });
  }
  return configuration;
}

/** In the body if the provider takes it there: in a header, providers disagree about escaping. */
function authenticateWith(clientSecret: string): ClientAuth {
  const inBody = ClientSecretPost(clientSecret);
  const inHeader = ClientSecretBasic(clientSecret);
  return (server, client, body, headers) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    const authenticate = methods.includes("client_secret_post") ? inBody : inHeader;
    authenticate(server, client, body, headers);
  };
}

const fetchBounded: CustomFetch = async (url, { body, ...options }) => {
  const response = await fetch(url, { ...options, body: body ?? null });
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > openIdAnswerBytesMax) throw new TypeError("the answer is too long");
    chunks.push(chunk);
  }
  const hasBody = response.body !== null;
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, statusText, headers });
};

/** Made at the first call, shared by concurrent calls, and kept. After a failure the next call tries again. */
function keptOnceMade<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}

async function told<Value>(talk: () => Promise<Value>): Promise<Value | OidcFailed> {
  try {
    return await talk();
  } catch (error) {
    return failureOf(error);
  }
}

const silences = ["OAUTH_TIMEOUT", "OAUTH_ABORT"];
/** The answer was something else than an OpenID Connect document. */
const nonsense = [
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
];

function failureOf(error: unknown): OidcFailed {
  if (error instanceof AuthorizationResponseError) return oidcFailed("denied", word(error.error));
  if (error instanceof ResponseBodyError) return oidcFailed("refused", word(error.error));
  if (error instanceof WWWAuthenticateChallengeError) return oidcFailed("refused", error.code);
  if (error instanceof ClientError) {
    const code = error.code ?? null;
    const isAway = code !== null && [...silences, ...nonsense].includes(code);
    return oidcFailed(isAway ? "unreachable" : "not_valid", code);
  }
  // Errors that fetch throws when a connection fails or breaks off.
  if (error instanceof TypeError) return oidcFailed("unreachable");
  return oidcFailed("not_valid");
}

/** OAuth's error code, and nothing else that a stranger may have written there. */
function word(code: string): string | null {
  return /^[a-z_]{1,40}$/.test(code) ? code : null;
}
