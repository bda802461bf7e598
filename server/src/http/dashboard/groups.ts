// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "./visit.ts";

export async function list(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["GET /workspaces/:workspaceId/groups"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function create(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<DashboardApi["POST /workspaces/:workspaceId/groups"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function rename(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["POST /workspaces/:workspaceId/groups/:groupId"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function addMember(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  DashboardApi["POST /workspaces/:workspaceId/groups/:groupId/members"]["answer"] | DashboardRefusal
> {
  throw new Error("not written yet");
}

export async function removeMember(
  _calls: DashboardCalls,
  _visit: MemberVisit,
): Promise<
  | DashboardApi["POST /workspaces/:workspaceId/groups/:groupId/members/remove"]["answer"]
  | DashboardRefusal
> {
  throw new Error("not written yet");
}
