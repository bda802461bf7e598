// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function list(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/members"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function invite(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["POST /workspaces/:workspaceId/members"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function changeRole(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["POST /workspaces/:workspaceId/members/:memberId/role"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function remove(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/members/:memberId/remove"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}
