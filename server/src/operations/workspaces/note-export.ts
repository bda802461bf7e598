// Notes in the activity that somebody takes a list of requests, or the log, out of the service as a file.

import { type Database, inOneStatement } from "../../database/database.ts";
import type { ExportFormat } from "../../domain/approval/export-rows.ts";
import type { Actor } from "../../domain/workspace/activity.ts";
import * as activity from "../../storage/workspaces/activity.ts";

/** Before the first line is sent, so that an export that is cut off is noted, too. */
export async function noteExport(
  db: Database,
  by: { workspaceId: string; actor: Actor },
  exported: { of: "requests" | "log"; format: ExportFormat; filter: Record<string, string> },
): Promise<void> {
  await activity.insert(inOneStatement(db), {
    ...by,
    action: `${exported.of}.exported`,
    subject: exported.format === "csv" ? "CSV" : "JSON Lines",
    detail: exported.filter,
  });
}
