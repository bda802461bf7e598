// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, Visit } from "./visit.ts";

export async function me(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["GET /me"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function sessions(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["GET /me/sessions"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function revokeSession(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /me/sessions/:sessionId/revoke"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function revokeOtherSessions(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /me/sessions/revoke-others"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function acceptInvitation(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /me/invitations/:workspaceId/accept"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function declineInvitation(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /me/invitations/:workspaceId/decline"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}
