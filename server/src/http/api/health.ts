// Says whether the process lives, and whether it can do its work.

import { isUnavailable, type Queryable } from "../../database/database.ts";
import { listMissingMigrations } from "../../database/migrations.ts";
import type { Answer } from "../frame/call.ts";
import { problem, unavailable } from "../frame/problems.ts";

export function healthz(): Answer {
  return { status: 200, body: JSON.stringify({ status: "ok" }) };
}

export async function readyz(db: Queryable): Promise<Answer> {
  try {
    const missing = await listMissingMigrations(db);
    if (missing.length === 0) return { status: 200, body: JSON.stringify({ status: "ready" }) };
    return problem("unavailable", `The database still lacks ${missing.length} migration(s).`);
  } catch (error) {
    if (isUnavailable(error)) return unavailable();
    throw error;
  }
}
