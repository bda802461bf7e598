// The history of a request as the lines of its timeline. When many people are asked, equal consecutive entries become
// one line, which can be opened.

import type { HistoryEntry } from "../../../../server/src/wire/dashboard-history.ts";

export type HistoryLine =
  | { kind: "entry"; entry: HistoryEntry }
  | { kind: "several"; entries: [HistoryEntry, ...HistoryEntry[]] };

/** Votes and stages are never folded: each is news. */
const folded: ReadonlySet<HistoryEntry["kind"]> = new Set([
  "mailed",
  "reminded",
  "mail_failed",
  "change_told",
  "outcome_told",
  "opened",
  "delivered",
  "delivery_failed",
  "message_sent",
  "message_failed",
]);

/** Two entries are as short as the line that would replace them. */
const severalMin = 3;

export function linesOf(history: readonly HistoryEntry[]): HistoryLine[] {
  const runs: [HistoryEntry, ...HistoryEntry[]][] = [];
  for (const entry of history) {
    const run = runs.at(-1);
    if (run !== undefined && run[0].kind === entry.kind) run.push(entry);
    else runs.push([entry]);
  }
  return runs.flatMap((entries): HistoryLine[] =>
    entries.length >= severalMin && folded.has(entries[0].kind)
      ? [{ kind: "several", entries }]
      : entries.map((entry) => ({ kind: "entry", entry })),
  );
}

type Mark = "plain" | "approved" | "rejected" | "failed" | "next";

/** The shape and colour beside a line. */
export function markOf(entry: HistoryEntry): Mark {
  switch (entry.kind) {
    case "voted":
      if (entry.outdatedBy !== null) return "plain";
      return entry.verdict === "approve" ? "approved" : "rejected";
    case "escalates":
      return "next";
    case "approved":
      return "approved";
    case "rejected":
      return "rejected";
    case "stuck":
    case "unreachable":
    case "mail_failed":
    case "delivery_failed":
    case "message_failed":
      return "failed";
    default:
      return "plain";
  }
}
