// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function list(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/keys"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function issue(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["POST /workspaces/:workspaceId/keys"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function revoke(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["POST /workspaces/:workspaceId/keys/:keyId/revoke"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}
