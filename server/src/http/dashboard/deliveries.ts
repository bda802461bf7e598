// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function list(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/deliveries"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function show(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["GET /workspaces/:workspaceId/deliveries/:deliveryId"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function resend(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/deliveries/:deliveryId/resend"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}
