// Talks to a company's identity provider by OpenID Connect and says how it went. The provider is looked up when the
// first person signs in, and again after it could not be reached, so that it may be away when the service starts.

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

/** Some providers put everything into the signed token, others tell the address, or more of it, only when asked. */
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
      // The signature of a token that came straight from the provider may be left unchecked; here it never is.
      execute: [
        enableNonRepudiationChecks,
        // Only an issuer on this machine may be set up without TLS.
        ...(url.protocol === "http:" ? [allowInsecureRequests] : []),
      ],
    },
  );
  const body = configuration.serverMetadata();
  // For some addresses of Microsoft the library would go on, and then take the word of everybody's directory.
  if (new URL(body.issuer).href !== url.href) {
    const error = new ClientError("the provider calls itself another issuer", { cause: { body } });
    throw Object.assign(error, { code: "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED" });
  }
  return configuration;
}

/** In the body where the provider takes it there: in a header, providers disagree about how it is escaped. */
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

/** Made at the first call, by one of those who call at once, and kept. After a failure the next call tries again. */
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
/** What is said instead of a document of OpenID Connect. */
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
  // What fetch throws when a connection fails, or breaks off.
  if (error instanceof TypeError) return oidcFailed("unreachable");
  return oidcFailed("not_valid");
}

/** The error's code as OAuth has it, and nothing else that somebody may have written there. */
function word(code: string): string | null {
  return /^[a-z_]{1,40}$/.test(code) ? code : null;
}
