// Connects an MCP client that a person allows: a code for the client, tokens for the code, and new tokens for old ones.
// Codes and tokens leave this file once; only their digests are stored.

import { randomBytes } from "node:crypto";
import type { Database, Transaction } from "../../database/database.ts";
import { digestOfApiKey, lastFourOfApiKey } from "../../domain/access/api-key.ts";
import { isChallengeMet, type OAuthRefusal, refuseOAuth } from "../../domain/access/oauth.ts";
import type { OAuthQuestion } from "../../domain/access/oauth-question.ts";
import { redirectHostOf } from "../../domain/access/redirect-uri.ts";
import { digestOfToken } from "../../domain/access/sign-in.ts";
import { keysPerWorkspaceMax } from "../../domain/limits.ts";
import { type ChangeRefusal, isRefusal, refuse } from "../../domain/refusal.ts";
import type { MemberDoer } from "../../domain/workspace/activity.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as connections from "../../storage/workspaces/connections.ts";
import { endConnection } from "../people/memberships.ts";
import { inTurnBy } from "../transaction-by.ts";
import { newKey } from "./issue-key.ts";

export type Tokens = { access: string; refresh: string };

/** The code is all that the client gets from the person's browser. */
export async function allowClient(
  db: Database,
  { clientId, client, redirectUri, challenge }: OAuthQuestion,
  by: MemberDoer,
): Promise<{ code: string } | ChangeRefusal> {
  const code = newSecret("");
  return inTurnBy(db, by.workspaceId, by, async (tx) => {
    if ((await apiKeys.countInUse(tx, by.workspaceId)) >= keysPerWorkspaceMax) return tooManyKeys();
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

export type CodeUse = { code: string; clientId: string; redirectUri: string; verifier: string };

/** Once for each code. A second use means that it was stolen, so the connection ends (RFC 6749, 4.1.2). */
export async function useCode(db: Database, use: CodeUse): Promise<Tokens | OAuthRefusal> {
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
    if ((await apiKeys.countInUse(tx, workspaceId)) >= keysPerWorkspaceMax) return badCode();
    return connect(tx, code);
  });
  return isRefusal(used) ? badCode() : used;
}

function isMeant(code: connections.Code, { clientId, redirectUri, verifier }: CodeUse): boolean {
  const isOfClient = code.clientDigest.equals(digestOfToken(clientId));
  return isOfClient && code.redirectUri === redirectUri && isChallengeMet(code.challenge, verifier);
}

/** The client acts as a key of its own. Nobody has that key: it is made, and forgotten. */
async function connect(tx: Transaction, code: connections.Code): Promise<Tokens> {
  const { workspaceId, email, clientName: name, clientDigest, redirectUri } = code;
  const key = newKey();
  const { id: apiKeyId } = await apiKeys.insert(tx, {
    workspaceId,
    name,
    digest: digestOfApiKey(key),
    lastFour: lastFourOfApiKey(key),
    defaultApprover: null,
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
  return newTokens(tx, { workspaceId, apiKeyId });
}

/** Each refresh token works once. One that comes again later was stolen, from the client or by it: the connection ends. */
export async function refreshTokens(
  db: Database,
  { refreshToken, clientId }: { refreshToken: string; clientId: string },
): Promise<Tokens | OAuthRefusal> {
  const digest = digestOfToken(refreshToken);
  const found = await connections.findRefresh(db, digest);
  if (found === null || !found.clientDigest.equals(digestOfToken(clientId))) return badRefresh();
  const by = { actor: found.email, workspaceId: found.workspaceId };
  const refreshed = await inTurnBy(db, found.workspaceId, by, async (tx) => {
    const token = await connections.findRefresh(tx, digest);
    if (token === null) return badRefresh();
    if (token.isReused) {
      const reason = "a refresh token was used twice";
      await endConnection(tx, token, { actor: token.email, reason });
      return badRefresh();
    }
    await connections.setUsed(tx, token, digest);
    return newTokens(tx, token);
  });
  return isRefusal(refreshed) ? badRefresh() : refreshed;
}

async function newTokens(
  tx: Transaction,
  of: { workspaceId: string; apiKeyId: string },
): Promise<Tokens> {
  const tokens = { access: newSecret("cso_"), refresh: newSecret("csr_") };
  const { access, refresh } = tokens;
  const digests = { access: digestOfToken(access), refresh: digestOfToken(refresh) };
  await connections.insertTokens(tx, of, digests);
  return tokens;
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

function tooManyKeys(): ChangeRefusal {
  return refuse(
    "conflict",
    `a workspace may have at most ${keysPerWorkspaceMax} keys and connected clients; revoke one first`,
  );
}
