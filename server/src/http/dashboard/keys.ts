// API keys on the dashboard: list, issue, change, revoke. A key itself is answered once, when it is issued.

import { z } from "zod";
import { revokedKeysListed } from "../../domain/access/key-limits.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { noSuchRequest } from "../../operations/approvals/cancel-by-member.ts";
import { changeKey, issueKey, unknownKey } from "../../operations/workspaces/issue-key.ts";
import { revokeWithPending } from "../../operations/workspaces/revoke-key.ts";
import { countPendingOfKey } from "../../storage/approvals/pending.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as connections from "../../storage/workspaces/connections.ts";
import type { ApiKey, AskingKey, IssuedKey } from "../../wire/dashboard-keys.ts";
import type { KeyRevocation } from "../../wire/dashboard-removals.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
  readForm,
} from "./visit.ts";

export async function list(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<{ keys: ApiKey[]; isMore: boolean }> {
  const keys = await apiKeys.listWithRevoked(db, workspaceId, revokedKeysListed + 1);
  const isMore = keys.filter(({ revokedAt }) => revokedAt !== null).length > revokedKeysListed;
  const connected = await connections.findByKey(db, workspaceId, keys);
  const shown = (isMore ? keys.slice(0, -1) : keys).map((key) => ({
    ...toApiKey(key),
    ...toConnection(connected.get(key.id)),
  }));
  return { keys: shown, isMore };
}

const newKey = z.object({
  name: z.string(),
  defaultApprover: z.string().nullable().default(null),
  owner: z.string().nullable().default(null),
});

export async function issue(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<IssuedKey | DashboardRefusal> {
  const form = readForm(visit.call, newKey);
  if (isRefusal(form)) return form;
  const { owner: ownerEmail, ...rest } = form;
  const input = { ...rest, ownerEmail, workspaceId: visit.workspaceId };
  const issued = await issueKey(db, input, doerOf(visit));
  return isRefusal(issued) ? tellRefusal(issued) : { ...toApiKey(issued), key: issued.key };
}

const changedKey = z.object({
  defaultApprover: z.string().nullable().optional(),
  owner: z.string().nullable().optional(),
});

export async function change(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<ApiKey | DashboardRefusal> {
  const form = readForm(visit.call, changedKey);
  if (isRefusal(form)) return form;
  const { defaultApprover, owner } = form;
  const changes = {
    ...(defaultApprover === undefined ? {} : { defaultApprover }),
    ...(owner === undefined ? {} : { ownerEmail: owner }),
  };
  const id = idIn(visit.call, "keyId");
  const changed = await changeKey(db, { id, ...changes }, doerOf(visit));
  return isRefusal(changed) ? tellRefusal(changed) : toApiKey(changed);
}

/** How many requests of the key still wait. */
export async function foresee(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<KeyRevocation | DashboardRefusal> {
  const { workspaceId } = visit;
  const id = idIn(visit.call, "keyId");
  const key = await apiKeys.find(db, { workspaceId, id });
  if (key === null) return tellRefusal(unknownKey(id, doerOf(visit)));
  return { pending: await countPendingOfKey(db, { workspaceId, keyId: id }) };
}

const revocation = z.object({ cancelPending: z.boolean().default(false) });

export async function revoke(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Promise<(ApiKey & { cancelled: number }) | DashboardRefusal> {
  const form = readForm(visit.call, revocation);
  if (isRefusal(form)) return form;
  const id = idIn(visit.call, "keyId");
  const revoked = await revokeWithPending(db, { id, ...form }, doerOf(visit));
  if (isRefusal(revoked)) return tellRefusal(revoked);
  if (revoked.cancelled > 0) onDue();
  return { ...toApiKey(revoked.key), cancelled: revoked.cancelled };
}

/** The key that created a request. */
export async function ofRequest(
  { db }: DashboardCalls,
  { call, workspaceId }: MemberVisit,
): Promise<{ apiKey: AskingKey | null } | DashboardRefusal> {
  const found = await apiKeys.findAsking(db, { workspaceId, approvalId: idIn(call, "requestId") });
  if (found === undefined) return noSuchRequest();
  return { apiKey: found === null ? null : toAskingKey(found) };
}

function toAskingKey(key: apiKeys.AskingKey): AskingKey {
  const { id, name, lastFour, revokedAt, ownerEmail: owner, connectedBy } = key;
  const known = { id, name, lastFour, isRevoked: revokedAt !== null, owner };
  return connectedBy === null ? known : { ...known, connectedBy };
}

/** Only keys that a client was connected with have this. */
function toConnection(found: connections.Connection | undefined): Pick<ApiKey, "connection"> {
  if (found === undefined) return {};
  const { email, redirectHost, redirectUri } = found;
  return { connection: { email, redirectHost, redirectUri } };
}

function toApiKey({
  id,
  name,
  lastFour,
  createdAt,
  lastUsedAt,
  revokedAt,
  defaultApprover,
  ownerEmail,
}: apiKeys.ApiKey): ApiKey {
  return {
    id,
    name,
    lastFour,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    defaultApprover,
    owner: ownerEmail,
  };
}
