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
import { type Actor, type Doer, fromTo, operator } from "../../domain/workspace/activity.ts";
import { flawOfName } from "../../domain/workspace/name.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { refuseDefaultApprover } from "../people/default-approvers.ts";
import { inTransactionBy, inTurnBy } from "../transaction-by.ts";

export type IssuedKey = apiKeys.ApiKey & { key: string };

export type KeyInput = { workspaceId: string; name: string; defaultApprover?: string | null };

export async function issueKey(
  db: Database,
  input: KeyInput,
  by: Doer = operator,
): Promise<IssuedKey | ChangeRefusal> {
  const flaw = flawOfName(input.name);
  if (flaw !== null) return refuseField("name", flaw);
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
  { workspaceId, name, defaultApprover = null, key = newKey() }: KeyInput & { key?: string },
  actor: Actor = null,
): Promise<IssuedKey> {
  const digest = digestOfApiKey(key);
  const lastFour = lastFourOfApiKey(key);
  const issued = await apiKeys.insert(tx, { workspaceId, name, digest, lastFour, defaultApprover });
  const detail = { lastFour, ...(defaultApprover === null ? {} : { defaultApprover }) };
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

/** A key with a default approver of its own asks them; null goes back to the workspace's. */
export async function changeKey(
  db: Database,
  { id, defaultApprover }: { id: string; defaultApprover: string | null },
  by: Doer = operator,
): Promise<apiKeys.ApiKey | ChangeRefusal> {
  const found = await apiKeys.find(db, { workspaceId: by.workspaceId, id });
  if (found === null) return unknownKey(id, by);
  return inTurnBy(db, found.workspaceId, by, async (tx) => {
    const key = await apiKeys.lock(tx, found);
    if (key === null) throw new Error(`key ${id} vanished`);
    if (key.revokedAt !== null) return refuse("conflict", "this key was revoked");
    const refused = await refuseDefaultApprover(tx, key.workspaceId, defaultApprover);
    if (refused !== null || key.defaultApprover === defaultApprover) return refused ?? key;
    return setDefaultApprover(tx, key, defaultApprover, by.actor);
  });
}

/** Writes it with its entry in the activity. */
export async function setDefaultApprover(
  tx: Transaction,
  key: apiKeys.ApiKey,
  approver: string | null,
  actor: Actor = null,
): Promise<apiKeys.ApiKey> {
  const { workspaceId, name: subject, lastFour } = key;
  const [was, is] = [key.defaultApprover, approver].map((each) => each ?? "as workspace");
  const detail = { lastFour, defaultApprover: fromTo(was ?? "", is ?? "") };
  await activity.insert(tx, { workspaceId, actor, subject, action: "key.changed", detail });
  return apiKeys.setDefaultApprover(tx, key, approver);
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
