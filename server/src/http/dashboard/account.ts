// The signed-in person: their workspaces, their sessions, and their invitations.

import type { Queryable } from "../../database/database.ts";
import { isRefusal, refuse } from "../../domain/refusal.ts";
import {
  acceptInvitation as accept,
  declineInvitation as decline,
  leaveWorkspace as leave,
} from "../../operations/people/manage-members.ts";
import { endOtherSessions, endSession } from "../../operations/people/sign-in.ts";
import * as storedPasskeys from "../../storage/people/passkeys.ts";
import * as people from "../../storage/people/people.ts";
import * as storedSessions from "../../storage/people/sessions.ts";
import type { Done, Me } from "../../wire/dashboard-contract.ts";
import type { Session } from "../../wire/dashboard-sign-in.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  idIn,
  type Person,
  type Visit,
} from "./visit.ts";

export async function describeMe(db: Queryable, person: Person): Promise<Me> {
  const [memberships, passkeys] = await Promise.all([
    people.listMemberships(db, person.email),
    storedPasskeys.list(db, person.id),
  ]);
  return {
    email: person.email,
    sessionId: person.sessionId,
    workspaces: memberships
      .filter(({ hasJoined }) => hasJoined)
      .map(({ workspaceId: id, workspaceName: name, role }) => ({ id, name, role })),
    invitations: memberships
      .filter(({ hasJoined }) => !hasJoined)
      .map(({ workspaceId, workspaceName, role, invitedBy }) => ({
        workspaceId,
        workspaceName,
        role,
        invitedBy,
      })),
    hasPasskey: passkeys.length > 0,
  };
}

export function me({ db }: DashboardCalls, { person }: Visit): Promise<Me> {
  return describeMe(db, person);
}

export async function sessions(
  { db }: DashboardCalls,
  { person }: Visit,
): Promise<{ sessions: Session[] }> {
  const found = await storedSessions.list(db, person.id);
  return {
    sessions: found.map(({ id, method, userAgent, address, createdAt, lastSeenAt, expiresAt }) => ({
      id,
      isThis: id === person.sessionId,
      method,
      userAgent,
      address,
      createdAt: createdAt.toISOString(),
      lastSeenAt: lastSeenAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
    })),
  };
}

export async function revokeSession(
  { db }: DashboardCalls,
  { call, person }: Visit,
): Promise<Done | DashboardRefusal> {
  const sessionId = idIn(call, "sessionId");
  const wasThere = await endSession(db, { personId: person.id, sessionId });
  return wasThere ? { done: true } : refuse("not_found", "This session has ended already.");
}

export async function revokeOtherSessions(
  { db }: DashboardCalls,
  { person }: Visit,
): Promise<{ revoked: number }> {
  return {
    revoked: await endOtherSessions(db, { personId: person.id, sessionId: person.sessionId }),
  };
}

export async function acceptInvitation(
  { db }: DashboardCalls,
  { call, person }: Visit,
): Promise<Me | DashboardRefusal> {
  const invitation = { email: person.email, workspaceId: idIn(call, "workspaceId") };
  const refused = await accept(db, invitation);
  return isRefusal(refused) ? refused : describeMe(db, person);
}

export async function declineInvitation(
  { db }: DashboardCalls,
  { call, person }: Visit,
): Promise<Me | DashboardRefusal> {
  const invitation = { email: person.email, workspaceId: idIn(call, "workspaceId") };
  const refused = await decline(db, invitation);
  return isRefusal(refused) ? refused : describeMe(db, person);
}

export async function leaveWorkspace(
  { db }: DashboardCalls,
  { call, person }: Visit,
): Promise<Me | DashboardRefusal> {
  const left = await leave(db, { email: person.email, workspaceId: idIn(call, "workspaceId") });
  return isRefusal(left) ? tellRefusal(left) : describeMe(db, person);
}
