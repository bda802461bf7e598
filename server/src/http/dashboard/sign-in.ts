// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { Call } from "../call.ts";
import type { DashboardCalls, DashboardRefusal, Visit, WithHeaders } from "./visit.ts";

export async function options(
  _calls: DashboardCalls,
  _call: Call,
): Promise<WithHeaders<DashboardApi["GET /sign-in"]["answer"]> | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function mailCode(
  _calls: DashboardCalls,
  _call: Call,
): Promise<WithHeaders<DashboardApi["POST /sign-in/code"]["answer"]> | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function verifyCode(
  _calls: DashboardCalls,
  _call: Call,
): Promise<WithHeaders<DashboardApi["POST /sign-in/code/verify"]["answer"]> | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function useLink(
  _calls: DashboardCalls,
  _call: Call,
): Promise<WithHeaders<DashboardApi["POST /sign-in/link"]["answer"]> | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function signOut(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /sign-out"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}
