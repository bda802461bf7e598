// Issues and revokes API keys. The key itself leaves this file once and is stored nowhere.

import { randomBytes } from "node:crypto";
import {
  apiKeyRandomBytes,
  digestOfApiKey,
  formatApiKey,
  lastFourOfApiKey,
} from "../domain/api-key.ts";
import { flawOfName } from "../domain/name.ts";
import { type Refusal, refuse } from "../domain/refusal.ts";
import * as apiKeys from "../storage/api-keys.ts";
import { type Database, inTransaction, type Transaction } from "../storage/database.ts";
import * as workspaces from "../storage/workspaces.ts";
import { unknownWorkspace } from "./manage-workspace.ts";

export type IssuedKey = apiKeys.ApiKey & { key: string };

export async function issueKey(
  db: Database,
  input: { workspaceId: string; name: string },
): Promise<IssuedKey | Refusal> {
  const flaw = flawOfName(input.name);
  if (flaw !== null) return refuse("validation_error", `name: ${flaw}`);
  return inTransaction(db, async (tx) => {
    const workspace = await workspaces.find(tx, input.workspaceId);
    return workspace === null ? unknownWorkspace(input.workspaceId) : insertKey(tx, input);
  });
}

export async function insertKey(
  tx: Transaction,
  input: { workspaceId: string; name: string },
): Promise<IssuedKey> {
  const key = formatApiKey(randomBytes(apiKeyRandomBytes));
  const digest = digestOfApiKey(key);
  const issued = await apiKeys.insert(tx, { ...input, digest, lastFour: lastFourOfApiKey(key) });
  return { ...issued, key };
}

export async function revokeKey(db: Database, id: string): Promise<apiKeys.ApiKey | Refusal> {
  return inTransaction(db, async (tx) => {
    const revoked = await apiKeys.revoke(tx, id);
    return (
      revoked ?? refuse("not_found", `there is no key ${id}; \`countersign key list\` shows all`)
    );
  });
}
