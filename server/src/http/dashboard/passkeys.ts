// Placeholder: being written.

import type { DashboardApi } from "../../../../sdk/src/dashboard-contract.ts";
import type { Call } from "../call.ts";
import type { DashboardCalls, DashboardRefusal, Visit, WithHeaders } from "./visit.ts";

export async function beginSignIn(
  _calls: DashboardCalls,
  _call: Call,
): Promise<WithHeaders<DashboardApi["POST /sign-in/passkey/begin"]["answer"]> | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function finishSignIn(
  _calls: DashboardCalls,
  _call: Call,
): Promise<WithHeaders<DashboardApi["POST /sign-in/passkey/finish"]["answer"]> | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function list(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["GET /me/passkeys"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function begin(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /me/passkeys/begin"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function finish(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /me/passkeys/finish"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}

export async function remove(
  _calls: DashboardCalls,
  _visit: Visit,
): Promise<DashboardApi["POST /me/passkeys/:passkeyId/remove"]["answer"] | DashboardRefusal> {
  throw new Error("not written yet");
}
