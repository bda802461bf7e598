// A list of requests as a file. It is streamed: a page is read when the browser has taken the one before, in the turn of
// its workspace, so that an export delays nobody.

import { z } from "zod";
import { DatabaseBusy } from "../../../database/faults.ts";
import { asHolder } from "../../../database/holder.ts";
import type { Approval } from "../../../domain/approval/approval.ts";
import { exportedFiles, exportFormats } from "../../../domain/approval/export-rows.ts";
import { isRefusal, refuse } from "../../../domain/refusal.ts";
import { refusePartial } from "../../../operations/approvals/whole-list.ts";
import { noteExport } from "../../../operations/workspaces/note-export.ts";
import { readPages } from "../../../storage/approvals/approval-export.ts";
import { readNow } from "../../../storage/approvals/approval-lists.ts";
import type { Done } from "../../../wire/dashboard-contract.ts";
import type { FileDownload } from "../../../wire/dashboard-filters.ts";
import type { Answer, Reader } from "../../frame/call.ts";
import { inTurn } from "../../frame/turns.ts";
import { readQuery } from "../list-query.ts";
import { filterOf, requestQuery } from "../request-filter.ts";
import { type DashboardCalls, type DashboardRefusal, doerOf, type MemberVisit } from "../visit.ts";

const exportQuery = requestQuery.extend({
  format: z.enum(exportFormats, { error: `must be one of ${exportFormats.join(", ")}` }),
});

export async function requests(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<FileDownload | DashboardRefusal> {
  const { db } = calls;
  const { workspaceId, call } = visit;
  const wanted = await readWanted(calls, visit);
  if (isRefusal(wanted)) return wanted;
  const { format, filter } = wanted;
  const file = exportedFiles[format];
  const name = `requests-${(await readNow(db)).toISOString().slice(0, 10)}.${format}`;
  const { type } = file;
  if (call.isHead) return { file: new Blob([]).stream(), name, type };
  const pages = inTurns(calls, visit, readPages(db, workspaceId, filter));
  // The first page is read before the answer begins, so that a fault is still told as one.
  const first = await pages.next();
  await noteExport(db, doerOf(visit), { of: "requests", format, filter: chosenIn(call.query) });
  const toText = (page: Approval[]) => page.map(file.line).join("");
  return { file: toStream(file.start, { first, pages }, toText), name, type };
}

/** The page asks before it lets the browser save the file, because it can show a refusal and keep what it shows. */
export async function check(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<Done | DashboardRefusal> {
  const wanted = await readWanted(calls, visit);
  return isRefusal(wanted) ? wanted : { done: true };
}

/**
 * A browser that opens the file's address would show a refusal as JSON. It goes back to the list with the same filter
 * instead, and the page asks why.
 */
export function backToList(
  { origin }: DashboardCalls,
  { params: { workspaceId = "" }, query, header }: Reader,
  answer: Answer,
): Answer {
  const accepted = header("accept");
  if (answer.status < 400 || typeof accepted !== "string" || !accepted.includes("text/html")) {
    return answer;
  }
  const kept = new URLSearchParams({ ...chosenIn(query), export: query.get("format") ?? "" });
  const list = `${origin.publicUrl}/app/w/${encodeURIComponent(workspaceId)}/requests`;
  return { status: 303, headers: { location: `${list}?${kept}` }, body: null };
}

async function readWanted({ db }: DashboardCalls, visit: MemberVisit) {
  const query = readQuery(visit, exportQuery);
  if (isRefusal(query)) return query;
  const filter = filterOf(query, null);
  if (isRefusal(filter)) return filter;
  if (isFromAnotherSite(visit)) return fromAnotherSite();
  const partial = await refusePartial(db, visit.workspaceId, filter);
  return partial ?? { format: query.format, filter };
}

/** Only a link on our own page, or an address that somebody opens, begins an export: it is noted under their name. */
export function isFromAnotherSite({ call }: MemberVisit): boolean {
  const site = call.header("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
}

export function fromAnotherSite(): DashboardRefusal {
  return refuse(
    "cross_origin",
    "Exports begin on the dashboard's own page. Open it and press Export.",
  );
}

/** The filter as it was chosen. */
function chosenIn(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].filter(([key]) => key in requestQuery.shape));
}

/** Each page in the turn of its workspace. */
export async function* inTurns<Page>(
  { heavyReads }: DashboardCalls,
  { workspaceId, call: { signal } }: MemberVisit,
  pages: AsyncGenerator<Page>,
): AsyncGenerator<Page> {
  const turn = { holder: `dashboard ${workspaceId}`, signal };
  for (;;) {
    const next = await asHolder(workspaceId, () => inTurn(heavyReads, turn, () => pages.next()));
    if (next === null) throw new DatabaseBusy("an export got no turn in time, or its reader left");
    if (next.done === true) return;
    yield next.value;
  }
}

/** A fault ends the stream early, and the browser says that the download failed. */
export function toStream<Page>(
  start: string,
  { first, pages }: { first: IteratorResult<Page>; pages: AsyncGenerator<Page> },
  toText: (page: Page) => string,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let beginning: IteratorResult<Page> | null = first;
  return new ReadableStream(
    {
      start: (controller) => {
        if (start !== "") controller.enqueue(encoder.encode(start));
      },
      pull: async (controller) => {
        const page = beginning ?? (await pages.next());
        beginning = null;
        if (page.done === true) controller.close();
        else controller.enqueue(encoder.encode(toText(page.value)));
      },
      cancel: async () => {
        await pages.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
