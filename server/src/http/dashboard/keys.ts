// API keys on the dashboard: list, issue, change, revoke. A key itself is answered once, when it is issued.

import { z } from "zod";
import { revokedKeysListed } from "../../domain/limits.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { changeKey, issueKey, revokeKey } from "../../operations/workspaces/issue-key.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as connections from "../../storage/workspaces/connections.ts";
import type { ApiKey, IssuedKey } from "../../wire/dashboard-keys.ts";
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

const newKey = z.object({ name: z.string(), defaultApprover: z.string().nullable().default(null) });

export async function issue(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<IssuedKey | DashboardRefusal> {
  const form = readForm(visit.call, newKey);
  if (isRefusal(form)) return form;
  const { workspaceId } = visit;
  const issued = await issueKey(db, { ...form, workspaceId }, doerOf(visit));
  return isRefusal(issued) ? tellRefusal(issued) : { ...toApiKey(issued), key: issued.key };
}

const changedKey = z.object({ defaultApprover: z.string().nullable() });

export async function change(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<ApiKey | DashboardRefusal> {
  const form = readForm(visit.call, changedKey);
  if (isRefusal(form)) return form;
  const id = idIn(visit.call, "keyId");
  const changed = await changeKey(db, { ...form, id }, doerOf(visit));
  return isRefusal(changed) ? tellRefusal(changed) : toApiKey(changed);
}

export async function revoke(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<ApiKey | DashboardRefusal> {
  const revoked = await revokeKey(db, idIn(visit.call, "keyId"), doerOf(visit));
  return isRefusal(revoked) ? tellRefusal(revoked) : toApiKey(revoked);
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
}: apiKeys.ApiKey): ApiKey {
  return {
    id,
    name,
    lastFour,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    defaultApprover,
  };
}
