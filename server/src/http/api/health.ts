// Says whether the process lives, and whether it can do its work.

import type { Answer } from "../frame/call.ts";
import { problem } from "../frame/problems.ts";
import type { Route } from "../frame/route.ts";

export type HealthCalls = {
  isDraining: () => boolean;
  /** Null when the database can do the service's work, else why not. */
  findUnreadiness: () => Promise<string | null>;
};

export function healthRoutes(calls: HealthCalls): Route[] {
  return [
    { method: "GET", path: "/healthz", access: "anyone", handle: () => healthz() },
    { method: "GET", path: "/readyz", access: "anyone", handle: () => readyz(calls) },
  ];
}

/** Asks nobody: a process is not restarted because its database is away. */
function healthz(): Answer {
  return { status: 200, body: JSON.stringify({ status: "ok" }) };
}

async function readyz({ isDraining, findUnreadiness }: HealthCalls): Promise<Answer> {
  if (isDraining()) return problem("unavailable", "This process is about to stop.");
  const reason = await findUnreadiness();
  if (reason !== null) return problem("unavailable", reason);
  return { status: 200, body: JSON.stringify({ status: "ready" }) };
}
