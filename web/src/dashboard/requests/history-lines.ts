// The history of a request as the lines of its timeline. When many people are asked, equal consecutive entries become
// one line, which can be opened.

import type { HistoryEntry } from "../../../../server/src/wire/dashboard-contract.ts";

export type HistoryLine =
  | { kind: "entry"; entry: HistoryEntry }
  | { kind: "several"; entries: [HistoryEntry, ...HistoryEntry[]] };

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
    entries.length >= severalMin
      ? [{ kind: "several", entries }]
      : entries.map((entry) => ({ kind: "entry", entry })),
  );
}
