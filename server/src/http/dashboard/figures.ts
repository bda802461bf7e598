// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function usage(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/usage"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function overview(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/overview"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}
