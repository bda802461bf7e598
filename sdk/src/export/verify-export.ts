// Verifies an exported log without the service: every entry, every tile, every checkpoint, the order of logs after a
// restore, today's requests and receipts against the log, and what witnesses and you have seen of it.

import { isKeySet, type KeySet } from "../proof/key-set.ts";
import { installationOf, isOfOrigin, siteOf } from "../proof/log-proof.ts";
import { formatNote, largestOf } from "../proof/note.ts";
import { CheckedTree } from "./checked-tree.ts";
import { type ClosedEntry, readEntries, refuseClosed } from "./entries.ts";
import { type ReadTrees, refuseOtherEras, refuseOtherNames, refuseUnfinished } from "./eras.ts";
import {
  doubtOfRevoked,
  type EntryLine,
  ExportFile,
  isEntryLine,
  type KeptCheckpoint,
  type Parsed,
  type RequestLine,
} from "./file.ts";
import { type Finding, Findings } from "./findings.ts";
import { checkInstallation } from "./installation.ts";
import { CheckedRequests } from "./requests.ts";
import {
  type ExportSource,
  type ExportTools,
  type InstallationLog,
  webCryptoTools,
} from "./tools.ts";

export type VerifyExportOptions = {
  /** Signed checkpoints that you kept: from a mail, a webhook, an older export or a witness. */
  checkpoints?: readonly string[];
  /** Verifier keys of witnesses: each must have cosigned an installation's log that has a checkpoint of the newest log. */
  witnesses?: readonly string[];
  /** The installation's logs, whole: no checkpoint of the workspace may be there that isn't of the exported log. */
  installationLog?: InstallationLog;
  /** The keys that the issuer publishes: the export's own must be among them. */
  jwks?: KeySet;
  /** As of when to verify, in milliseconds. Now, by default. */
  now?: number;
  tools?: ExportTools;
};

export type ExportReport = {
  /** Nothing is wrong, and nothing is in doubt. */
  isValid: boolean;
  findings: Finding[];
  /** Findings that were left off, because there are too many of their kind. */
  findingsLeft: number;
  notes: string[];
  /** Why nothing can be told, even without findings. */
  doubts: string[];
  counts: Record<"entries" | "opened" | "checkpoints" | "requests" | "receipts" | "trees", number>;
  /** What from outside of the file was compared. Without any, nothing can be told: anybody signs with keys of their own. */
  anchors: string[];
  /** How many of the checkpoints that were given are of an exported log. The others were compared with nothing. */
  compared: number;
  /** Whose log it is, or claims to be. */
  workspace: string | null;
  /** When it was written, as it says itself. */
  at: string | null;
  /** Of the checkpoints that you gave, those that revoked keys signed: they prove nothing. */
  revoked: string[];
  /** The newest checkpoint, signed: keep it for the next time. */
  head: string | null;
};

const noAnchor =
  "nothing from outside of the file was compared, and anybody can write such a file with keys of their own. Give the issuer's keys (--jwks), a checkpoint that you kept (--checkpoint), a witness's key (--witness) or the installation's log (--log)";
const entryStart = '{"type":"entry"';

export async function verifyExport(
  source: ExportSource,
  options: VerifyExportOptions = {},
): Promise<ExportReport> {
  const { checkpoints = [], witnesses = [], jwks, tools = webCryptoTools } = options;
  const { installationLog, now = Date.now() } = options;
  if (jwks !== undefined && !isKeySet(jwks)) {
    throw new TypeError("jwks must be the answer of /.well-known/jwks.json");
  }
  const findings = new Findings();
  const file = new ExportFile(findings, new Set(jwks?.revoked?.map(({ kid }) => kid)));
  const parts = { file, findings, tools };
  const requests = new CheckedRequests(parts);
  await readAround(source, { ...parts, requests });
  const added = checkpoints.map((note) => file.addCheckpoint(note, "outside"));
  const outside = added.filter((each) => each !== null);
  await file.findRevoked(outside, tools);
  const log = await readLog(source, { ...parts, requests });
  for (const tree of log.trees.values()) await tree.check(tools);
  refuseOtherNames(parts);
  refuseOtherEras(log, parts);
  const { deleted } = log;
  const { saidDeleted, header } = file;
  refuseClosed(log.closed, { deleted, saidDeleted, writtenAt: header?.at ?? "" }, findings);
  requests.check({ deleted, saidDeleted, before: requestsBefore(log, file) });
  refuseStrangers(outside, parts, installationLog !== undefined);
  refuseDate(now, parts);
  const seen = await checkInstallation({ witnesses, log: installationLog, now }, parts);
  if (
    seen.length > 0 &&
    outside.every(({ revokedKey }) => revokedKey !== null) &&
    installationLog === undefined
  ) {
    findings.notes.push(
      "a witness saw this log, and can't tell alone whether it is the only one: the installation's whole log tells, or a checkpoint that somebody kept",
    );
  }
  refuseOtherKeys(jwks, parts);
  refuseUnfinished(log, parts);
  const newest = [...log.trees.values()].at(-1);
  const anchors = [
    ...(jwks === undefined ? [] : ["the issuer's published keys"]),
    ...anchorOf(outside, log),
    ...seen,
  ];
  if (anchors.length === 0) findings.doubts.push(noAnchor);
  return {
    isValid: findings.list.length === 0 && findings.doubts.length === 0,
    findings: findings.list,
    findingsLeft: findings.left,
    notes: findings.notes,
    doubts: findings.doubts,
    counts: {
      entries: log.entries,
      opened: log.entries - log.closed.length,
      checkpoints: [...file.checkpoints.values()].reduce((sum, list) => sum + list.length, 0),
      requests: requests.rows,
      receipts: requests.receipts,
      trees: file.trees.length,
    },
    anchors,
    compared: outside.filter(({ origin }) => log.trees.has(origin)).length,
    workspace: file.header?.workspace ?? null,
    at: file.header?.at ?? null,
    revoked: checkpoints.filter((_, at) => (added[at]?.revokedKey ?? null) !== null),
    head: newest === undefined ? null : headOf(file, newest.origin),
  };
}

type Parts = { file: ExportFile; findings: Findings; tools: ExportTools };

function parseLines(lines: readonly string[], findings: Findings): Parsed[] {
  const parsed: Parsed[] = [];
  for (const line of lines) {
    try {
      parsed.push(asObject(JSON.parse(line), line));
    } catch {
      findings.add("line_malformed", `a line is no plain JSON object: ${line.slice(0, 60)}…`);
    }
  }
  return parsed;
}

/** Written again it must be the same text: with a name that comes twice, others would read something else. */
function asObject(value: unknown, text: string): Parsed {
  if (typeof value === "object" && value !== null && JSON.stringify(value) === text.trimEnd())
    return value as Parsed;
  throw new TypeError("no plain object");
}

async function readAround(
  source: ExportSource,
  { file, findings, requests }: Parts & { requests: CheckedRequests },
): Promise<void> {
  // Receipts wait until all keys are known.
  const waiting: RequestLine[] = [];
  for await (const lines of source({ start: entryStart, isWanted: false })) {
    const around = lines.filter((line) => !line.startsWith(entryStart));
    for (const line of parseLines(around, findings)) {
      const request = await file.readLine(line);
      if (request !== null) waiting.push(request);
    }
    await requests.addRows(waiting.splice(0));
  }
  await requests.finishRows();
}

type ReadLog = ReadTrees & {
  entries: number;
  /** When the log says that they were deleted. */
  deleted: Map<string, string>;
  closed: ClosedEntry[];
};

async function readLog(
  source: ExportSource,
  { file, findings, tools, requests }: Parts & { requests: CheckedRequests },
): Promise<ReadLog> {
  const trees = new Map(
    file.trees.map(({ origin }) => [origin, new CheckedTree(origin, { file, findings, tools })]),
  );
  const log: ReadLog = { trees, entries: 0, opened: [], deleted: new Map(), closed: [] };
  for await (const lines of source({ start: entryStart, isWanted: true })) {
    const entries = lines.filter((line) => line.startsWith(entryStart));
    const parsed = parseLines(entries, findings).flatMap((line) => {
      if (isEntryLine(line)) return [line];
      findings.add("line_malformed", `a line of type entry lacks a part: ${line.index}`);
      return [];
    });
    for (const run of runsOf(parsed)) {
      const { origin } = run[0] as EntryLine;
      const tree = trees.get(origin);
      if (tree === undefined) {
        findings.add("era_differs", `the export doesn't name the log ${origin}`, { origin });
        continue;
      }
      refuseDisorder(run, tree, findings);
      const read = await readEntries(run, { findings, tools, until: latestAt(file) });
      await tree.append(read.leaves);
      await requests.addFacts(read.facts, origin);
      log.entries += run.length;
      log.opened.push(...read.opened.map((each) => ({ origin, ...each })));
      log.closed.push(...read.closed.map((each) => ({ origin, ...each })));
      for (const { id, at } of read.deleted) if (!log.deleted.has(id)) log.deleted.set(id, at);
    }
  }
  return log;
}

/** Clocks may differ a little. */
const clocksMs = 60_000;

/** Dated ahead, an export would pass off a deletion of today as retention's of next month. */
function refuseDate(now: number, { file: { header }, findings }: Parts): void {
  if (header === null || Date.parse(header.at) <= now + clocksMs) return;
  const message = `the export says that it was written at ${header.at}, and now it is ${new Date(now).toISOString()}`;
  findings.add("date_wrong", message);
}

/** Nothing in an export can have happened after it was written. */
function latestAt({ header }: ExportFile): string {
  const written = Date.parse(header?.at ?? "");
  return Number.isNaN(written) ? "" : new Date(written + clocksMs).toISOString();
}

/** Entries of one log that stand together. */
function runsOf(entries: readonly EntryLine[]): EntryLine[][] {
  const runs: EntryLine[][] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run?.[0]?.origin === entry.origin) run.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

function refuseDisorder(run: readonly EntryLine[], tree: CheckedTree, findings: Findings): void {
  let expected = tree.size;
  for (const { origin, index } of run) {
    if (index > expected) {
      const message =
        index === expected + 1
          ? `entry ${expected} is missing`
          : `entries ${expected} to ${index - 1} are missing`;
      findings.add("entry_missing", message, { origin, index: expected });
    } else if (index < expected) {
      findings.add("entry_out_of_order", `entry ${index} comes after ${expected - 1}`, {
        origin,
        index,
      });
    }
    expected = index + 1;
  }
}

/** As the first log says, wherever in the file it stands. */
function requestsBefore({ opened }: ReadLog, { trees: [first] }: ExportFile): number {
  const opening = opened.find(({ origin, index }) => index === 0 && origin === first?.origin);
  return opening?.fact.requestsBefore ?? 0;
}

/** Checkpoints of the installation's log say nothing without it: the export has no more of it than a few proofs. */
function refuseStrangers(
  outside: readonly KeptCheckpoint[],
  { file: { header, trees }, findings }: Parts,
  hasLog: boolean,
): void {
  const sites = trees.map(({ origin }) => siteOf(origin, header?.workspace ?? ""));
  for (const each of outside) {
    const { origin } = each;
    if (trees.some((tree) => tree.origin === origin)) continue;
    if (hasLog && installationOf(origin) !== null) continue;
    if (sites.some((site) => site !== null && isOfOrigin(origin, site))) {
      findings.notes.push(
        `the checkpoint of ${origin} was not compared: it is the installation's, whose log wasn't given (--log)`,
      );
    } else if (each.revokedKey !== null) findings.doubts.push(doubtOfRevoked(each, 1));
    else findings.add("split_view", `the export has no log ${origin}`, { origin });
  }
}

/** What lies beyond the newest that somebody kept is the operator's word alone. */
function anchorOf(outside: readonly KeptCheckpoint[], { trees }: ReadLog): string[] {
  const known = outside.filter(
    ({ origin, revokedKey }) => trees.has(origin) && revokedKey === null,
  );
  const newest = [...trees.values()].at(-1);
  const reached = largestOf(known.filter(({ origin }) => origin === newest?.origin));
  const reach = `${reached} of ${newest?.size ?? 0} entries`;
  return known.length === 0 ? [] : [`${known.length} checkpoints that you kept (${reach})`];
}

function refuseOtherKeys(jwks: KeySet | undefined, { file, findings }: Parts): void {
  if (jwks === undefined) return;
  const published = new Set([...jwks.keys, ...(jwks.revoked ?? [])].map(({ kid }) => kid));
  for (const { kid } of file.keys) {
    if (!published.has(kid))
      findings.add("key_invalid", `the issuer doesn't publish the key ${kid}`);
  }
}

function headOf(file: ExportFile, origin: string): string | null {
  const kept = (file.checkpoints.get(origin) ?? []).filter(({ from }) => from === "export");
  const newest = kept.toSorted((one, other) => one.size - other.size).at(-1);
  return newest === undefined ? null : formatNote(newest.note);
}
