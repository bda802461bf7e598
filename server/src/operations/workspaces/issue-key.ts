// Issues and revokes API keys. The key itself leaves this file once and is never stored.

import { randomBytes } from "node:crypto";
import type { Database, Transaction } from "../../database/database.ts";
import {
  apiKeyRandomBytes,
  digestOfApiKey,
  formatApiKey,
  lastFourOfApiKey,
} from "../../domain/access/api-key.ts";
import { keysPerWorkspaceMax } from "../../domain/limits.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { type Actor, type Doer, operator } from "../../domain/workspace/activity.ts";
import { flawOfName } from "../../domain/workspace/name.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { inTransactionBy, inTurnBy } from "../transaction-by.ts";

export type IssuedKey = apiKeys.ApiKey & { key: string };

export async function issueKey(
  db: Database,
  input: { workspaceId: string; name: string },
  by: Doer = operator,
): Promise<IssuedKey | ChangeRefusal> {
  const flaw = flawOfName(input.name);
  if (flaw !== null) return refuseField("name", flaw);
  return inTurnBy(db, input.workspaceId, by, async (tx) => {
    const count = await apiKeys.countInUse(tx, input.workspaceId);
    return count < keysPerWorkspaceMax ? insertKey(tx, input, by.actor) : tooManyKeys();
  });
}

export async function insertKey(
  tx: Transaction,
  { workspaceId, name, key = newKey() }: { workspaceId: string; name: string; key?: string },
  actor: Actor = null,
): Promise<IssuedKey> {
  const digest = digestOfApiKey(key);
  const lastFour = lastFourOfApiKey(key);
  const issued = await apiKeys.insert(tx, { workspaceId, name, digest, lastFour });
  const entry = { workspaceId, actor, subject: name, detail: { lastFour } };
  await activity.insert(tx, { ...entry, action: "key.issued" });
  return { ...issued, key };
}

export function newKey(): string {
  return formatApiKey(randomBytes(apiKeyRandomBytes));
}

/** A revoked key stays as it is. */
export async function revokeKey(
  db: Database,
  id: string,
  by: Doer = operator,
): Promise<apiKeys.ApiKey | ChangeRefusal> {
  return inTransactionBy(db, by, async (tx) => {
    const key = await apiKeys.lock(tx, { workspaceId: by.workspaceId, id });
    if (key === null) return unknownKey(id, by);
    if (key.revokedAt !== null) return key;
    const { workspaceId, name: subject, lastFour } = key;
    const entry = { workspaceId, actor: by.actor, subject, detail: { lastFour } };
    await activity.insert(tx, { ...entry, action: "key.revoked" });
    return apiKeys.revoke(tx, key);
  });
}

function tooManyKeys(): ChangeRefusal {
  return refuse(
    "conflict",
    `a workspace may have at most ${keysPerWorkspaceMax} keys in use; revoke one first`,
  );
}

function unknownKey(id: string, { workspaceId }: Doer): ChangeRefusal {
  return refuse(
    "not_found",
    workspaceId === null
      ? `there is no key ${id}; \`countersign key list\` shows all`
      : "there is no such key in this workspace",
  );
}
