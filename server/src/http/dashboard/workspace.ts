// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function show(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function changeSettings(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["POST /workspaces/:workspaceId/settings"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function activity(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/activity"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}
