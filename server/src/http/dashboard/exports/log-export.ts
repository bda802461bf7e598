// The workspace's log as a file, streamed like a list of requests.

import { z } from "zod";
import { exportedFiles, exportFormats } from "../../../domain/approval/export-rows.ts";
import { isRefusal } from "../../../domain/refusal.ts";
import { exportLog } from "../../../operations/proof/export-log.ts";
import { noteExport } from "../../../operations/workspaces/note-export.ts";
import { readNow } from "../../../storage/approvals/approval-lists.ts";
import type { FileDownload } from "../../../wire/dashboard-filters.ts";
import { readQuery } from "../list-query.ts";
import { type DashboardCalls, type DashboardRefusal, doerOf, type MemberVisit } from "../visit.ts";
import { fromAnotherSite, inTurns, isFromAnotherSite, toStream } from "./request-export.ts";

const logQuery = z.object({
  format: z.enum(exportFormats, { error: `must be one of ${exportFormats.join(", ")}` }),
});

export async function exportWorkspaceLog(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<FileDownload | DashboardRefusal> {
  const { db } = calls;
  const { workspaceId, call } = visit;
  const query = readQuery(visit, logQuery);
  if (isRefusal(query)) return query;
  if (isFromAnotherSite(visit)) return fromAnotherSite();
  const { format } = query;
  const name = `log-${(await readNow(db)).toISOString().slice(0, 10)}.${format}`;
  const { type } = exportedFiles[format];
  if (call.isHead) return { file: new Blob([]).stream(), name, type };
  const texts = inTurns(calls, visit, exportLog(db, { workspaceId, format }));
  // The first piece is read before the answer begins, so that a fault is still told as one.
  const first = await texts.next();
  await noteExport(db, doerOf(visit), { of: "log", format, filter: {} });
  return { file: toStream("", { first, pages: texts }, (text) => text), name, type };
}
