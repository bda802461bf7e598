// API keys on the dashboard: listed, issued and revoked. A key itself is answered once, when it is issued.

import { z } from "zod";
import type { ApiKey, IssuedKey } from "../../../../sdk/src/dashboard-contract.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { issueKey, revokeKey } from "../../operations/issue-key.ts";
import * as apiKeys from "../../storage/api-keys.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  idIn,
  type MemberVisit,
  readForm,
} from "./visit.ts";

export async function list(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<{ keys: ApiKey[] }> {
  const keys = await apiKeys.list(db, workspaceId);
  return { keys: keys.map(toApiKey) };
}

const newKey = z.object({ name: z.string() });

export async function issue(
  { db }: DashboardCalls,
  { call, workspaceId, person }: MemberVisit,
): Promise<IssuedKey | DashboardRefusal> {
  const form = readForm(call, newKey);
  if (isRefusal(form)) return form;
  const issued = await issueKey(db, { workspaceId, name: form.name }, person.email);
  return isRefusal(issued) ? tellRefusal(issued) : { ...toApiKey(issued), key: issued.key };
}

export async function revoke(
  { db }: DashboardCalls,
  { call, workspaceId, person }: MemberVisit,
): Promise<ApiKey | DashboardRefusal> {
  const by = { actor: person.email, workspaceId };
  const revoked = await revokeKey(db, idIn(call, "keyId"), by);
  return isRefusal(revoked) ? tellRefusal(revoked) : toApiKey(revoked);
}

function toApiKey({
  id,
  name,
  lastFour,
  createdAt,
  lastUsedAt,
  revokedAt,
}: apiKeys.ApiKey): ApiKey {
  return {
    id,
    name,
    lastFour,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
