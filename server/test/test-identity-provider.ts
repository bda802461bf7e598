// A small identity provider that speaks real OpenID Connect on a real socket, checks what a provider must check, and can
// be told to say something wrong.

import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";

export type Claims = Record<string, unknown>;

/** Said of the next person who signs in. */
export type Says = {
  /** These replace the right claims in the signed token. Undefined leaves a claim out. */
  claims?: Claims;
  /** Only a caller with an access token gets these. */
  userInfo?: Claims;
  /** Signed with a key that it does not publish. */
  isForged?: boolean;
  /** Sent back with an error instead of a code. */
  error?: string;
  /** How it wants its clients to authenticate. */
  authenticatesBy?: "client_secret_basic" | "client_secret_post";
};

export type IdentityProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  says: Says;
  /** Consents, and returns the address that the browser is sent back to. */
  consent(address: string): Promise<string>;
  stop(): Promise<void>;
  /** Starts on the port where it was. */
  startAgain(): Promise<void>;
};

type Pending = { nonce: string | null; challenge: string; redirectUri: string; says: Says };

type State = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  codes: Map<string, Pending>;
  accessTokens: Map<string, Claims>;
  publishedKey: KeyPair;
  foreignKey: KeyPair;
  says: () => Says;
};

type KeyPair = { privateKey: KeyObject; publicKey: KeyObject };

const keyId = "key-1";
const subject = "subject-1";

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const state: State = {
    issuer: "",
    clientId: "countersign",
    clientSecret: "a secret with spaces, + and %",
    codes: new Map(),
    accessTokens: new Map(),
    publishedKey: generateKeyPairSync("rsa", { modulusLength: 2048 }),
    foreignKey: generateKeyPairSync("rsa", { modulusLength: 2048 }),
    says: () => provider.says,
  };
  let server = await listen(state, 0);
  const { port } = server.address() as AddressInfo;
  state.issuer = `http://127.0.0.1:${port}`;
  const provider: IdentityProvider = {
    issuer: state.issuer,
    clientId: state.clientId,
    clientSecret: state.clientSecret,
    says: {},
    consent: async (address) => {
      const { status, headers } = await fetch(address, { redirect: "manual" });
      const location = headers.get("location");
      if (status !== 302 || location === null) throw new Error(`not sent back, but ${status}`);
      return location;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
    startAgain: async () => {
      server = await listen(state, port);
    },
  };
  return provider;
}

async function listen(state: State, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    answer(state, request, response).catch((error: Error) => {
      response.writeHead(500).end(error.message);
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function answer(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", state.issuer);
  switch (pathname) {
    case "/.well-known/openid-configuration":
      return json(response, 200, describe(state));
    case "/jwks":
      return json(response, 200, { keys: [jwkOf(state.publishedKey)] });
    case "/authorize":
      response.writeHead(302, { location: authorize(state, searchParams) }).end();
      return;
    case "/token":
      return giveTokens(state, request, response);
    case "/userinfo":
      return tellUserInfo(state, request, response);
    default:
      response.writeHead(404).end();
  }
}

function describe({ issuer, says }: State): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: [says().authenticatesBy ?? "client_secret_post"],
  };
}

function authorize({ clientId, codes, says }: State, query: URLSearchParams): string {
  const redirectUri = query.get("redirect_uri") ?? "";
  const isRight =
    query.get("client_id") === clientId &&
    query.get("response_type") === "code" &&
    query.get("scope") === "openid email" &&
    query.get("code_challenge_method") === "S256";
  if (!isRight) throw new Error(`not a question that a provider answers: ${query}`);
  const back = new URL(redirectUri);
  back.searchParams.set("state", query.get("state") ?? "");
  const { error } = says();
  if (error !== undefined) {
    back.searchParams.set("error", error);
    return back.href;
  }
  const code = randomBytes(16).toString("hex");
  const challenge = query.get("code_challenge") ?? "";
  codes.set(code, { nonce: query.get("nonce"), challenge, redirectUri, says: says() });
  back.searchParams.set("code", code);
  return back.href;
}

async function giveTokens(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = new URLSearchParams(await textOf(request));
  const code = form.get("code") ?? "";
  const pending = state.codes.get(code);
  state.codes.delete(code);
  if (!isOurClient(state, request, form)) return json(response, 401, { error: "invalid_client" });
  const isProved =
    pending !== undefined &&
    hash("sha256", form.get("code_verifier") ?? "", "base64url") === pending.challenge &&
    form.get("redirect_uri") === pending.redirectUri;
  if (!isProved) return json(response, 400, { error: "invalid_grant" });
  const accessToken = randomBytes(16).toString("hex");
  state.accessTokens.set(accessToken, { sub: subject, ...pending.says.userInfo });
  json(response, 200, {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: 60,
    id_token: idTokenOf(state, pending),
  });
}

function isOurClient(
  { clientId, clientSecret, says }: State,
  { headers }: IncomingMessage,
  form: URLSearchParams,
): boolean {
  if (says().authenticatesBy !== "client_secret_basic") {
    return form.get("client_id") === clientId && form.get("client_secret") === clientSecret;
  }
  const [, encoded = ""] = (headers.authorization ?? "").split("Basic ");
  const [id, secret] = Buffer.from(encoded, "base64").toString().split(":");
  const escaped = new URLSearchParams({ secret: clientSecret }).toString().slice("secret=".length);
  return id === clientId && secret === escaped;
}

function tellUserInfo(state: State, request: IncomingMessage, response: ServerResponse): void {
  const claims = state.accessTokens.get((request.headers.authorization ?? "").slice(7));
  if (claims === undefined) response.writeHead(401).end();
  else json(response, 200, claims);
}

function idTokenOf(state: State, { nonce, says }: Pending): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: state.issuer,
    aud: state.clientId,
    sub: subject,
    iat: now,
    exp: now + 60,
    nonce,
    ...says.claims,
  };
  const signed = [{ alg: "RS256", kid: keyId }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const { privateKey } = says.isForged === true ? state.foreignKey : state.publishedKey;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}

function jwkOf({ publicKey }: KeyPair): object {
  return { ...publicKey.export({ format: "jwk" }), kid: keyId, use: "sig", alg: "RS256" };
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
