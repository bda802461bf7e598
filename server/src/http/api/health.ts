// Says whether the process lives, and whether it can do its work.

import { isUnavailable, type Queryable } from "../../database/database.ts";
import { isReadOnly, listMissingMigrations } from "../../database/migrations.ts";
import type { Answer } from "../frame/call.ts";
import { problem, unavailable } from "../frame/problems.ts";

export function healthz(): Answer {
  return { status: 200, body: JSON.stringify({ status: "ok" }) };
}

export async function readyz(db: Queryable, isDraining: () => boolean): Promise<Answer> {
  if (isDraining()) return problem("unavailable", "This process is about to stop.");
  try {
    if (await isReadOnly(db)) {
      return problem("unavailable", "The database takes no writes: it is a standby, or read-only.");
    }
    const missing = await listMissingMigrations(db);
    if (missing.length === 0) return { status: 200, body: JSON.stringify({ status: "ready" }) };
    return problem("unavailable", `The database still lacks ${missing.length} migration(s).`);
  } catch (error) {
    if (isUnavailable(error)) return unavailable();
    throw error;
  }
}
