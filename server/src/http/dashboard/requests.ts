// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function list(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/requests"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function show(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["GET /workspaces/:workspaceId/requests/:requestId"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function withdraw(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/requests/:requestId/withdraw"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function mailAgain(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/requests/:requestId/mail-again"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}
