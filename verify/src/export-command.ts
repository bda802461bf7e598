// verify export: a whole log, from a file alone.

import { type ExportReport, verifyExport } from "../../sdk/src/export/verify-export.ts";
import { parseCheckpoint, parseNote } from "../../sdk/src/proof/note.ts";
import { CannotTell, isExport, readKeys, readText, timeAt, writeText } from "./given.ts";
import { linesOf, nodeTools } from "./node-tools.ts";
import type { Verdict } from "./verdict.ts";
import { wholeLog } from "./whole-log.ts";

export type ExportFlags = {
  checkpoint?: string[];
  witness?: string[];
  log?: string;
  jwks?: string;
  keep?: string;
  at?: string;
};

export async function exportCommand(path: string, flags: ExportFlags): Promise<Verdict> {
  if (!(await isExport(path))) throw new CannotTell(`${path} is no export of a log`);
  const notes = await Promise.all((flags.checkpoint ?? []).map(notesIn));
  const report = await verifyNow(path, {
    checkpoints: notes.flat(),
    ...(flags.witness === undefined ? {} : { witnesses: flags.witness }),
    ...(flags.log === undefined ? {} : { installationLog: wholeLog(flags.log) }),
    ...(flags.jwks === undefined ? {} : { jwks: await readKeys(flags.jwks) }),
    ...nowOf(flags),
  });
  if (flags.keep !== undefined && report.isValid && report.head !== null) {
    await writeText(flags.keep, report.head);
  }
  return verdictOf(report);
}

export function nowOf({ at }: { at?: string }): { now?: number } {
  return at === undefined ? {} : { now: timeAt(at) };
}

export async function verifyNow(
  path: string,
  options: Parameters<typeof verifyExport>[1],
): Promise<ExportReport> {
  try {
    return await verifyExport(linesOf(path), { ...options, tools: nodeTools });
  } catch (error) {
    if (error instanceof TypeError) throw new CannotTell(error.message);
    throw error;
  }
}

/** The checkpoints in a file: one signed note, or those of an export. */
export async function notesIn(path: string): Promise<string[]> {
  if (!(await isExport(path))) return [await readText(path)];
  const notes: string[] = [];
  const start = '{"type":"checkpoint"';
  for await (const lines of linesOf(path)({ start, isWanted: true })) {
    for (const line of lines.filter((each) => each.startsWith(start))) {
      notes.push((JSON.parse(line) as { note: string }).note);
    }
  }
  return notes;
}

export function verdictOf(report: ExportReport): Verdict {
  const { counts, findings, findingsLeft, notes, doubts, anchors, head, workspace } = report;
  const checked = `workspace ${workspace}, ${counts.entries} entries of ${counts.trees} logs, ${counts.checkpoints} checkpoints, ${counts.requests} requests and ${counts.receipts} receipts`;
  if (counts.checkpoints === 0 && findings.length === 0) {
    return { exitCode: 2, lines: ["Can't tell: the export holds no checkpoint."], data: report };
  }
  const compared = anchors.length === 0 ? [] : [`Compared with ${anchors.join(", ")}.`];
  const dated = `Written at ${report.at}, as the export says itself: nothing is said about later.`;
  const told = [dated, ...compared, ...notes.map((note) => `Note: ${note}.`)];
  if (findings.length > 0) {
    const lines = [
      `Not valid: ${checked}, ${findings.length + findingsLeft} findings.`,
      ...findings.map(({ code, message, origin }) =>
        [`- ${code}: ${message}`, ...(origin === undefined ? [] : [`(${origin})`])].join(" "),
      ),
      ...(findingsLeft === 0 ? [] : [`- and ${findingsLeft} more`]),
      ...doubts.map((doubt) => `- can't tell: ${doubt}`),
    ];
    return { exitCode: 1, lines: [...lines, ...told], data: report };
  }
  if (doubts.length > 0) {
    const lines = [
      ...doubts.map((doubt) => `Can't tell: ${doubt}.`),
      `Nothing in the file contradicts itself: ${checked}.`,
    ];
    return { exitCode: 2, lines: [...lines, ...told], data: report };
  }
  const lines = [`Valid: ${checked}.`, ...(head === null ? [] : [headLine(head)])];
  return { exitCode: 0, lines: [...lines, ...told], data: report };
}

/** A note has several lines, and a forged one would write a verdict of its own. So it goes to a file. */
function headLine(head: string): string {
  const { origin = "", size = 0 } = parseCheckpoint(parseNote(head)?.text ?? "") ?? {};
  return `The newest checkpoint has ${size} entries of ${origin}. Keep it for the next time: --keep FILE.`;
}
