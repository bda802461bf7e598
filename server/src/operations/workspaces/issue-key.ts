// Issues and revokes API keys. The key itself leaves this file once and is never stored.

import { randomBytes } from "node:crypto";
import type { Database, Transaction } from "../../database/database.ts";
import {
  apiKeyRandomBytes,
  digestOfApiKey,
  formatApiKey,
  lastFourOfApiKey,
} from "../../domain/access/api-key.ts";
import { keysPerWorkspaceMax } from "../../domain/access/key-limits.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { type Actor, type Doer, differences, operator } from "../../domain/workspace/activity.ts";
import { flawOfEmailAddress } from "../../domain/workspace/email-address.ts";
import { flawOfName } from "../../domain/workspace/name.ts";
import * as votingChecks from "../../storage/votings/voting-checks.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { refuseDefaultApprover } from "../people/default-approvers.ts";
import { inTransactionBy, inTurnBy } from "../transaction-by.ts";

export type IssuedKey = apiKeys.ApiKey & { key: string };

export type KeyInput = {
  workspaceId: string;
  name: string;
  defaultApprover?: string | null;
  ownerEmail?: string | null;
};

export async function issueKey(
  db: Database,
  input: KeyInput,
  by: Doer = operator,
): Promise<IssuedKey | ChangeRefusal> {
  const flaw = flawOfName(input.name);
  if (flaw !== null) return refuseField("name", flaw);
  const ownerRefused = refuseOwner(input.ownerEmail);
  if (ownerRefused !== null) return ownerRefused;
  return inTurnBy(db, input.workspaceId, by, async (tx) => {
    const count = await apiKeys.countInUse(tx, input.workspaceId);
    if (count >= keysPerWorkspaceMax) return tooManyKeys();
    const { workspaceId, defaultApprover = null } = input;
    const refused = await refuseDefaultApprover(tx, workspaceId, defaultApprover);
    return refused ?? insertKey(tx, input, by.actor);
  });
}

export async function insertKey(
  tx: Transaction,
  input: KeyInput & { key?: string },
  actor: Actor = null,
): Promise<IssuedKey> {
  const { workspaceId, name, defaultApprover = null, ownerEmail = null, key = newKey() } = input;
  const digest = digestOfApiKey(key);
  const lastFour = lastFourOfApiKey(key);
  const settings = { defaultApprover, ownerEmail };
  const issued = await apiKeys.insert(tx, { workspaceId, name, digest, lastFour, ...settings });
  const detail = {
    lastFour,
    ...(defaultApprover === null ? {} : { defaultApprover }),
    ...(ownerEmail === null ? {} : { owner: ownerEmail }),
  };
  const entry = { workspaceId, actor, subject: name, detail };
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

export type KeyChanges = {
  /** Asked in place of the workspace's default; null goes back to that. */
  defaultApprover?: string | null;
  /** Never approves what is created with the key; null is nobody. */
  ownerEmail?: string | null;
};

export async function changeKey(
  db: Database,
  { id, ...changes }: { id: string } & KeyChanges,
  by: Doer = operator,
): Promise<apiKeys.ApiKey | ChangeRefusal> {
  const ownerRefused = refuseOwner(changes.ownerEmail);
  if (ownerRefused !== null) return ownerRefused;
  const found = await apiKeys.find(db, { workspaceId: by.workspaceId, id });
  if (found === null) return unknownKey(id, by);
  return inTurnBy(db, found.workspaceId, by, async (tx) => {
    const key = await apiKeys.lock(tx, found);
    if (key === null) throw new Error(`key ${id} vanished`);
    if (key.revokedAt !== null) return refuse("conflict", "this key was revoked");
    const { defaultApprover = key.defaultApprover } = changes;
    const isSame = defaultApprover === key.defaultApprover;
    const refused = isSame
      ? null
      : await refuseDefaultApprover(tx, key.workspaceId, defaultApprover);
    return refused ?? applyKeyChanges(tx, key, changes, by.actor);
  });
}

/** Writes changes that were checked, with an entry in the activity if they differ. */
export async function applyKeyChanges(
  tx: Transaction,
  key: apiKeys.ApiKey,
  changes: KeyChanges,
  actor: Actor = null,
): Promise<apiKeys.ApiKey> {
  const { workspaceId, name: subject, lastFour } = key;
  const changed = { ...key, ...changes };
  const detail = differences(tellKey(key), tellKey(changed));
  if (Object.keys(detail).length === 0) return key;
  const entry = { workspaceId, actor, subject, detail: { lastFour, ...detail } };
  await activity.insert(tx, { ...entry, action: "key.changed" });
  // Without its new owner, a request may have too few people.
  if ("owner" in detail) await votingChecks.queueOfKey(tx, { workspaceId, keyId: key.id });
  return apiKeys.update(tx, changed);
}

/** Each setting as the activity shows it. */
function tellKey({ defaultApprover, ownerEmail }: apiKeys.ApiKey): Record<string, string> {
  return { defaultApprover: defaultApprover ?? "as workspace", owner: ownerEmail ?? "nobody" };
}

function refuseOwner(ownerEmail: string | null | undefined): ChangeRefusal | null {
  const flaw = ownerEmail == null ? null : flawOfEmailAddress(ownerEmail);
  return flaw === null ? null : refuseField("owner", flaw);
}

function tooManyKeys(): ChangeRefusal {
  return refuse(
    "conflict",
    `a workspace may have at most ${keysPerWorkspaceMax} keys in use; revoke one first`,
  );
}

export function unknownKey(id: string, { workspaceId }: Doer): ChangeRefusal {
  return refuse(
    "not_found",
    workspaceId === null
      ? `there is no key ${id}; \`countersign key list\` shows all`
      : "there is no such key in this workspace",
  );
}
