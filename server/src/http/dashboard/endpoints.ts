// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function list(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/endpoints"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function add(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["POST /workspaces/:workspaceId/endpoints"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function show(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["GET /workspaces/:workspaceId/endpoints/:endpointId"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function change(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["POST /workspaces/:workspaceId/endpoints/:endpointId"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function enable(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/endpoints/:endpointId/enable"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function disable(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/endpoints/:endpointId/disable"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function rotate(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/endpoints/:endpointId/rotate"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function test(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/endpoints/:endpointId/test"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function resendFailed(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/endpoints/:endpointId/resend-failed"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}
