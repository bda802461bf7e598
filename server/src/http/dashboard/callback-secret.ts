// The secret that signs callbacks, for owners and admins. Looking at it is noted, and so is a rotation.

import { type ChangeRefusal, isRefusal } from "../../domain/refusal.ts";
import {
  rotateCallbackSecret,
  type ShownSecret,
  showCallbackSecret,
} from "../../operations/deliveries/callback-secret.ts";
import type { CallbackSecret } from "../../wire/dashboard-callbacks.ts";
import { tellRefusal } from "./change-refusal.ts";
import { type DashboardCalls, type DashboardRefusal, doerOf, type MemberVisit } from "./visit.ts";

export async function show(
  { db, keyring }: DashboardCalls,
  visit: MemberVisit,
): Promise<CallbackSecret | DashboardRefusal> {
  const shown = await showCallbackSecret(db, keyring, visit.workspaceId, doerOf(visit));
  return tell(shown);
}

export async function rotate(
  { db, keyring }: DashboardCalls,
  visit: MemberVisit,
): Promise<CallbackSecret | DashboardRefusal> {
  const rotated = await rotateCallbackSecret(db, keyring, visit.workspaceId, doerOf(visit));
  return tell(rotated);
}

function tell(shown: ShownSecret | ChangeRefusal): CallbackSecret | DashboardRefusal {
  if (isRefusal(shown)) return tellRefusal(shown);
  const { secret, oldSecretEndsAt } = shown;
  return oldSecretEndsAt === undefined
    ? { secret }
    : { secret, oldSecretEndsAt: oldSecretEndsAt.toISOString() };
}
