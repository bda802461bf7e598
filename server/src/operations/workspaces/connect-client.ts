// Connects an MCP client that a person allows: a code for the client, tokens for the code, and new tokens for old ones.
// Codes and tokens leave this file once; only their digests are stored.

import { randomBytes } from "node:crypto";
import type { Database, Transaction } from "../../database/database.ts";
import { digestOfApiKey, lastFourOfApiKey } from "../../domain/access/api-key.ts";
import { keysPerWorkspaceMax } from "../../domain/access/key-limits.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import {
  isChallengeMet,
  type OAuthRefusal,
  refuseOAuth,
  type Tokens,
  tokensAfter,
} from "../../domain/access/oauth.ts";
import type { OAuthQuestion } from "../../domain/access/oauth-question.ts";
import { redirectHostOf } from "../../domain/access/redirect-uri.ts";
import { digestOfToken } from "../../domain/access/sign-in.ts";
import {
  connectionsPerPersonMax,
  oauthAccessMinutes,
  oauthRefreshDays,
  oauthRefreshesPerMinuteMax,
  oauthReuseSeconds,
} from "../../domain/limits.ts";
import { type ChangeRefusal, isRefusal, refuse } from "../../domain/refusal.ts";
import type { MemberDoer } from "../../domain/workspace/activity.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as connections from "../../storage/workspaces/connections.ts";
import { endConnection } from "../people/memberships.ts";
import { inTurnBy } from "../transaction-by.ts";
import { newKey } from "./issue-key.ts";

export type GivenTokens = Tokens & { expiresInSeconds: number };

/** The code is all that the client gets from the person's browser. */
export async function allowClient(
  db: Database,
  { clientId, client, redirectUri, challenge }: OAuthQuestion,
  by: MemberDoer,
): Promise<{ code: string } | ChangeRefusal> {
  const code = newSecret("");
  return inTurnBy(db, by.workspaceId, by, async (tx) => {
    const refused = await refuseMore(tx, { workspaceId: by.workspaceId, email: by.actor });
    if (refused !== null) return refused;
    await connections.insertCode(tx, {
      workspaceId: by.workspaceId,
      digest: digestOfToken(code),
      email: by.actor,
      clientDigest: digestOfToken(clientId),
      clientName: client.name,
      redirectUri,
      challenge,
    });
    return { code };
  });
}

/** What nobody has used for so long that it must be connected anew makes room first. */
async function refuseMore(
  tx: Transaction,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<ChangeRefusal | null> {
  const reason = `not used for ${oauthRefreshDays} days`;
  for (const idle of await connections.listIdle(tx, workspaceId)) {
    await endConnection(tx, idle, { actor: null, by: "countersign", reason });
  }
  if ((await apiKeys.countInUse(tx, workspaceId)) >= keysPerWorkspaceMax) return tooManyKeys();
  const own = await connections.listInUseOf(tx, { workspaceId, email });
  return own.length >= connectionsPerPersonMax ? tooManyOfPerson() : null;
}

export type CodeUse = { code: string; clientId: string; redirectUri: string; verifier: string };

/** Once for each code. A second use means that it was stolen, so the connection ends (RFC 6749, 4.1.2). */
export async function useCode(db: Database, use: CodeUse): Promise<GivenTokens | OAuthRefusal> {
  const digest = digestOfToken(use.code);
  const found = await connections.findCode(db, digest);
  if (found === null || !isMeant(found, use)) return badCode();
  const by = { actor: found.email, workspaceId: found.workspaceId };
  const used = await inTurnBy(db, found.workspaceId, by, async (tx) => {
    const code = await connections.lockCode(tx, digest);
    if (code === null) return badCode();
    const { workspaceId, apiKeyId } = code;
    if (apiKeyId !== null) {
      const reason = "its code was used twice";
      await endConnection(tx, { workspaceId, apiKeyId }, { actor: code.email, reason });
      return badCode();
    }
    return (await refuseMore(tx, code)) === null ? connect(tx, code) : badCode();
  });
  return isRefusal(used) ? badCode() : used;
}

function isMeant(code: connections.Code, { clientId, redirectUri, verifier }: CodeUse): boolean {
  const isOfClient = code.clientDigest.equals(digestOfToken(clientId));
  return isOfClient && code.redirectUri === redirectUri && isChallengeMet(code.challenge, verifier);
}

/** The client acts as a key of its own. Nobody has that key: it is made, and forgotten. */
async function connect(tx: Transaction, code: connections.Code): Promise<GivenTokens> {
  const { workspaceId, email, clientName: name, clientDigest, redirectUri } = code;
  const key = newKey();
  const { id: apiKeyId } = await apiKeys.insert(tx, {
    workspaceId,
    name,
    digest: digestOfApiKey(key),
    lastFour: lastFourOfApiKey(key),
    defaultApprover: null,
    ownerEmail: null,
  });
  const detail = { redirectUri };
  await activity.insert(tx, {
    workspaceId,
    actor: email,
    action: "key.issued",
    subject: name,
    detail,
  });
  const redirect = { redirectUri, redirectHost: redirectHostOf(redirectUri) };
  const connection = { workspaceId, apiKeyId, email, clientName: name, ...redirect };
  await connections.insert(tx, { ...connection, clientDigest });
  await connections.setCodeUsed(tx, code, apiKeyId);
  const tokens = { access: newSecret("cso_"), refresh: newSecret("csr_") };
  return give(tx, { workspaceId, apiKeyId }, tokens);
}

type RefreshUse = { refreshToken: string; clientId: string };

/**
 * Each refresh token has one answer, which is given again for as long as it may have got lost. One that comes later, or
 * after its answer was used, was stolen, from the client or by it: the connection ends.
 */
export async function refreshTokens(
  db: Database,
  keyring: Keyring,
  { refreshToken, clientId }: RefreshUse,
): Promise<GivenTokens | OAuthRefusal> {
  const digest = digestOfToken(refreshToken);
  const found = await connections.findRefresh(db, digest);
  if (found === null || !found.clientDigest.equals(digestOfToken(clientId))) return badRefresh();
  const by = { actor: found.email, workspaceId: found.workspaceId };
  const refreshed = await inTurnBy(db, found.workspaceId, by, async (tx) => {
    const token = await connections.findRefresh(tx, digest);
    if (token === null) return badRefresh();
    if (token.usedSecondsAgo !== null) return answerAgain(tx, keyring, { ...token, refreshToken });
    const recent = await connections.countRefreshed(tx, token);
    if (recent >= oauthRefreshesPerMinuteMax) return tooOften();
    await connections.setUsed(tx, token, digest);
    return give(tx, token, tokensAfter(keyring.current, refreshToken));
  });
  return isRefusal(refreshed) ? badRefresh() : refreshed;
}

async function answerAgain(
  tx: Transaction,
  keyring: Keyring,
  token: connections.RefreshToken & { refreshToken: string },
): Promise<GivenTokens | OAuthRefusal> {
  const ageSeconds = Math.ceil(token.usedSecondsAgo ?? 0);
  const answer = await findAnswer(tx, keyring, token.refreshToken);
  const isInTime = ageSeconds <= oauthReuseSeconds;
  if (isInTime && answer !== null && !answer.isUsed) {
    return { ...answer.tokens, expiresInSeconds: oauthAccessMinutes * 60 - ageSeconds };
  }
  // A key that was taken away since then can't repeat its answers. That proves no theft.
  if (isInTime && answer === null) return badRefresh();
  const reason = "a refresh token was used twice";
  await endConnection(tx, token, { actor: token.email, reason });
  return badRefresh();
}

/** The answer that a refresh token got, made with one of the keys, perhaps one that is no longer the first. */
async function findAnswer(
  tx: Transaction,
  keyring: Keyring,
  refreshToken: string,
): Promise<{ tokens: Tokens; isUsed: boolean } | null> {
  for (const key of keyring.all) {
    const tokens = tokensAfter(key, refreshToken);
    const next = await connections.findRefresh(tx, digestOfToken(tokens.refresh));
    if (next !== null) return { tokens, isUsed: next.usedSecondsAgo !== null };
  }
  return null;
}

async function give(
  tx: Transaction,
  to: { workspaceId: string; apiKeyId: string },
  tokens: Tokens,
): Promise<GivenTokens> {
  const digests = {
    access: digestOfToken(tokens.access),
    refresh: digestOfToken(tokens.refresh),
  };
  await connections.insertTokens(tx, to, digests);
  return { ...tokens, expiresInSeconds: oauthAccessMinutes * 60 };
}

const secretBytes = 32;

function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(secretBytes).toString("base64url")}`;
}

function badCode(): OAuthRefusal {
  return refuseOAuth(
    "invalid_grant",
    "This code is unknown, used, expired or not for this client.",
  );
}

function badRefresh(): OAuthRefusal {
  return refuseOAuth(
    "invalid_grant",
    "This refresh token is unknown, used, expired or not for this client. Connect again.",
  );
}

function tooOften(): OAuthRefusal {
  return refuseOAuth(
    "temporarily_unavailable",
    `A connection is refreshed at most ${oauthRefreshesPerMinuteMax} times a minute. Use the token until it expires.`,
  );
}

function tooManyKeys(): ChangeRefusal {
  return refuse(
    "conflict",
    `a workspace may have at most ${keysPerWorkspaceMax} keys and connected clients; revoke one first`,
  );
}

function tooManyOfPerson(): ChangeRefusal {
  return refuse(
    "conflict",
    `a person may connect at most ${connectionsPerPersonMax} apps to a workspace; revoke one of yours first, under API keys`,
  );
}
