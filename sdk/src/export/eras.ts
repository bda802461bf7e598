// The logs of one workspace as a row: each has its name, follows the one before, and is here to its end.

import { isEqual } from "../proof/bytes.ts";
import { parseCheckpoint, parseNote } from "../proof/note.ts";
import type { CheckedTree } from "./checked-tree.ts";
import type { OpenedLogFact } from "./entries.ts";
import type { ExportFile } from "./file.ts";
import type { Findings } from "./findings.ts";

type Parts = { file: ExportFile; findings: Findings };

/** What was read of the exported logs. */
export type ReadTrees = {
  trees: Map<string, CheckedTree>;
  opened: { origin: string; index: number; fact: OpenedLogFact }[];
};

/** The logs of one workspace, each after the one before: one that is left out, or named otherwise, is another's. */
export function refuseOtherNames({ file, findings }: Parts): void {
  const { header, trees } = file;
  const refuse = (origin: string, message: string) =>
    findings.add("era_differs", message, { origin });
  trees.forEach(({ origin }, at) => {
    const name = `/log/${header?.workspace}${at === 0 ? "" : `/${at + 1}`}`;
    if (!origin.endsWith(name)) refuse(origin, `${origin} is not the log …${name}`);
  });
  const last = trees.at(-1);
  if (header?.origin !== (last?.origin ?? null) || header?.size !== (last?.size ?? 0)) {
    refuse(String(header?.origin), "the export begins with another log or size than it has");
  }
  for (const [origin, list] of file.checkpoints) {
    const isOwn = trees.some((tree) => tree.origin === origin);
    if (!isOwn && list.some(({ from }) => from === "export"))
      refuse(origin, `the export has checkpoints of ${origin}, and no such log`);
  }
}

/** Each log begins by naming the last checkpoint of the one before. */
export function refuseOtherEras(log: ReadTrees, { file, findings }: Parts): void {
  file.trees.forEach(({ origin, previous }, at) => {
    const before = file.trees[at - 1]?.origin ?? null;
    const first = log.opened.find((each) => each.origin === origin && each.index === 0);
    const refuse = (message: string) => findings.add("era_differs", message, { origin, index: 0 });
    if (previous !== before) refuse(`${origin} follows ${previous}, and not ${before}`);
    if (first === undefined) {
      if ((log.trees.get(origin)?.size ?? 0) > 0) refuse("entry 0 doesn't open the log");
      return;
    }
    if (first.fact.origin !== origin) refuse(`entry 0 opens another log, ${first.fact.origin}`);
    const note = first.fact.previous === null ? null : parseNote(first.fact.previous);
    const checkpoint = note === null ? null : parseCheckpoint(note.text);
    if (first.fact.previous === null) {
      if (before !== null && (log.trees.get(before)?.size ?? 0) > 0) {
        refuse(`entry 0 doesn't name the last checkpoint of ${before}`);
      }
    } else if (checkpoint === null || checkpoint.origin !== before) {
      refuse(`entry 0 doesn't follow ${before}`);
    } else {
      const root = log.trees.get(before)?.rootAt(checkpoint.size) ?? null;
      if (root === null && checkpoint.size <= (log.trees.get(before)?.size ?? 0)) {
        refuse(`entry 0 names a checkpoint of ${checkpoint.size} entries that isn't here`);
      } else if (root === null) {
        findings.notes.push(
          `${before}: ${checkpoint.size} entries were signed; a restore lost some of them`,
        );
      } else if (!isEqual(root, checkpoint.root)) {
        refuse(`entry 0 names a checkpoint that ${before} never had`);
      }
    }
  });
}

export function refuseUnfinished(log: ReadTrees, { file, findings }: Parts): void {
  const { header, end } = file;
  if (header === null || end === null) {
    findings.add("cut_off", "the file has no beginning or no end: it was cut off");
    return;
  }
  for (const { origin, size } of file.trees) {
    const count = log.trees.get(origin)?.size ?? 0;
    const isNamed = findings.hasAny(
      origin,
      "entry_missing",
      "entry_inserted",
      "entry_out_of_order",
    );
    if (count === size || isNamed) continue;
    const code = count < size ? "entry_missing" : "entry_inserted";
    findings.add(code, `${origin} has ${size} entries, and ${count} are here`, {
      origin,
      index: Math.min(count, size),
    });
  }
  for (const { origin, size } of file.trees) {
    const sizes = (file.checkpoints.get(origin) ?? []).filter(({ from }) => from === "export");
    if (size > 0 && !sizes.some((checkpoint) => checkpoint.size === size)) {
      findings.add("rolled_back", `no checkpoint of all ${size} entries is here`, {
        origin,
        index: size,
      });
    }
  }
}
