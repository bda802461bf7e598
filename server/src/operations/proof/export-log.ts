// Exports the log of a workspace as a file that can be verified without the service. The file ends at the newest
// checkpoint of its beginning: requests that changed since then are left to the next export, so that rows and facts
// never differ by chance.

import { setTimeout as pause } from "node:timers/promises";
import { type Database, inSnapshot, type Queryable } from "../../database/database.ts";
import { type Approval, editOf } from "../../domain/approval/approval.ts";
import { eventOfStatus } from "../../domain/approval/event.ts";
import type { ExportFormat } from "../../domain/approval/export-rows.ts";
import {
  type ExportedRequest,
  exportLines,
  factCsvLine,
  factsCsvStart,
} from "../../domain/proof/log-export.ts";
import { exportLooksEveryMs, exportWaitsForDeletionsMs } from "../../domain/proof/log-limits.ts";
import { tileWidth } from "../../domain/proof/tree.ts";
import { exportedEntriesPage, exportedTilesPage } from "../../domain/proof/witness-limits.ts";
import { readPages } from "../../storage/approvals/approval-export.ts";
import { everything, readNow } from "../../storage/approvals/approval-lists.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import * as logEntries from "../../storage/proof/log-entries.ts";
import * as logExports from "../../storage/proof/log-exports.ts";
import { installation } from "../../storage/proof/log-pending.ts";
import * as signingKeys from "../../storage/proof/signing-keys.ts";
import { readInstalled } from "./request-proof.ts";

type Wanted = { workspaceId: string; format: ExportFormat };

/** In pieces of text. Each is read when the one before was taken. Throws if requests are deleted between them. */
export async function* exportLog(
  db: Database,
  wanted: Wanted,
  waitMs = exportWaitsForDeletionsMs,
): AsyncGenerator<string> {
  const until = performance.now() + waitMs;
  while ((await isDeletionAhead(db, wanted)) && performance.now() < until) {
    await pause(exportLooksEveryMs);
  }
  yield* readLog(db, wanted);
}

/** Of one moment: nothing that is deleted meanwhile is missing in it. It keeps a connection until all is written. */
export async function exportLogAtOnce(
  db: Database,
  wanted: Wanted,
  write: (texts: AsyncIterable<string>) => Promise<unknown>,
  waitMs = exportWaitsForDeletionsMs,
): Promise<void> {
  const until = performance.now() + waitMs;
  for (;;) {
    const isWritten = await inSnapshot(db, async (snapshot) => {
      if ((await isDeletionAhead(snapshot, wanted)) && performance.now() < until) return false;
      await write(readLog(snapshot, wanted));
      return true;
    });
    if (isWritten) return;
    await pause(exportLooksEveryMs);
  }
}

/**
 * What retention has just deleted can't be told from what somebody hides, until the log has signed the deletion. A file
 * that is written before names these requests, and its verifier can't tell.
 */
async function isDeletionAhead(db: Queryable, { workspaceId }: Wanted): Promise<boolean> {
  const trees = await logExports.listTrees(db, workspaceId);
  const page = { trees, after: null, limit: 1 };
  return (await logExports.listDeletionsAhead(db, workspaceId, page)).length > 0;
}

async function* readDeletionsAhead(
  db: Queryable,
  workspaceId: string,
  trees: readonly logExports.ExportedTree[],
): AsyncGenerator<string[]> {
  const limit = exportedEntriesPage;
  for (let after: string | null = null; ; ) {
    const page = await logExports.listDeletionsAhead(db, workspaceId, { trees, after, limit });
    yield page;
    if (page.length < limit) return;
    after = page.at(-1) ?? null;
  }
}

async function* readLog(db: Queryable, { workspaceId, format }: Wanted): AsyncGenerator<string> {
  // Before the workspace's own: every checkpoint that they name is then in the file.
  const heads = await readInstallationHeads(db);
  const trees = await logExports.listTrees(db, workspaceId);
  yield* format === "csv"
    ? exportFacts(db, trees)
    : exportEverything(db, { workspaceId, trees, heads });
}

/** The installation's own logs, with what anybody may read of them, and the newest checkpoints: they say how long each is. */
export async function* exportInstallationLog(db: Queryable): AsyncGenerator<string> {
  for (const head of await readInstallationHeads(db)) {
    const note = await logCheckpoints.readCosigned(db, head);
    yield exportLines.checkpoint({ origin: head.origin, note });
  }
  for (const { id: treeId, origin, size } of await logExports.listTrees(db, installation)) {
    for (let from = 0; from < size; from += exportedEntriesPage) {
      const to = Math.min(from + exportedEntriesPage, size);
      const texts = await logEntries.listTexts(db, { treeId, from, to });
      yield texts.map((text, at) => exportLines.publicEntry(origin, from + at, text)).join("");
    }
  }
}

type InstallationHead = logCheckpoints.KeptCheckpoint & { origin: string };

/** Of each of the installation's logs the newest state, and the newest that each witness has seen; oldest first. */
async function readInstallationHeads(db: Queryable): Promise<InstallationHead[]> {
  const heads: InstallationHead[] = [];
  for (const { id, origin } of await logExports.listTrees(db, installation)) {
    const cosigned = await logCheckpoints.listNewestCosigned(db, id);
    const newest = await logCheckpoints.findNewest(db, id);
    heads.push(...cosigned.map((head) => ({ ...head, origin })));
    if (newest !== null && newest.size !== cosigned.at(-1)?.size) heads.push({ ...newest, origin });
  }
  return heads;
}

async function* exportFacts(
  db: Queryable,
  trees: readonly logExports.ExportedTree[],
): AsyncGenerator<string> {
  yield factsCsvStart;
  for (const tree of trees) yield* readEntries(db, tree, factCsvLine);
}

async function* exportEverything(
  db: Queryable,
  {
    workspaceId,
    trees,
    heads,
  }: {
    workspaceId: string;
    trees: readonly logExports.ExportedTree[];
    heads: readonly InstallationHead[];
  },
): AsyncGenerator<string> {
  const newest = trees.at(-1);
  const { origin = null, size = 0 } = newest ?? {};
  // If the log doesn't grow or isn't signed, there is no better file to wait for.
  let ahead = 0;
  for await (const page of readDeletionsAhead(db, workspaceId, trees)) ahead += page.length;
  yield exportLines.start({ workspace: workspaceId, origin, size, at: await readNow(db) });
  yield (await signingKeys.list(db)).map(exportLines.key).join("");
  for (const [at, tree] of trees.entries()) {
    const previous = trees[at - 1]?.origin ?? null;
    yield exportLines.tree({ origin: tree.origin, size: tree.size, previous });
  }
  for (const tree of trees) yield* readCheckpoints(db, tree);
  for (const tree of trees) yield* readTiles(db, tree);
  for (const tree of trees) yield* readEntries(db, tree, exportLines.entry);
  const counts = { requests: 0, later: 0 };
  yield* readRequests(db, { workspaceId, trees, counts });
  yield await readProofs(db, trees, heads);
  yield* readInstalledLines(db, trees, heads);
  for await (const page of readDeletionsAhead(db, workspaceId, trees)) {
    ahead -= page.length;
    yield page.map(exportLines.deleted).join("");
  }
  if (ahead !== 0)
    throw new Error("requests were deleted while the log was exported: export again");
  const entries = trees.reduce((sum, tree) => sum + tree.size, 0);
  yield exportLines.end({ entries, ...counts });
}

async function* readCheckpoints(
  db: Queryable,
  { id: treeId, origin, size: upTo }: logExports.ExportedTree,
): AsyncGenerator<string> {
  let after = -1;
  for (;;) {
    const limit = exportedEntriesPage;
    const page = await logExports.listCheckpoints(db, { treeId, after, upTo, limit });
    if (page.length > 0) {
      yield page.map(({ note }) => exportLines.checkpoint({ origin, note })).join("");
    }
    if (page.length < limit) return;
    after = page.at(-1)?.size ?? upTo;
  }
}

/** The hashes of each level, tile by tile; the last of a level may not be full. */
async function* readTiles(
  db: Queryable,
  { id: treeId, origin, size }: logExports.ExportedTree,
): AsyncGenerator<string> {
  const step = exportedTilesPage * tileWidth;
  for (let level = 0, count = size; count > 0; level += 1, count = Math.floor(count / tileWidth)) {
    for (let from = 0; from < count; from += step) {
      const range = { from, to: Math.min(from + step, count) };
      const hashes = await logEntries.listTileHashes(db, { treeId, level, ...range });
      const lines: string[] = [];
      for (let at = 0; at < hashes.length; at += tileWidth) {
        const index = (from + at) / tileWidth;
        const inTile = hashes.slice(at, at + tileWidth);
        lines.push(exportLines.tile({ origin, level, index, hashes: inTile }));
      }
      yield lines.join("");
    }
  }
}

async function* readEntries(
  db: Queryable,
  { id: treeId, origin, size }: logExports.ExportedTree,
  toLine: (origin: string, entry: logEntries.OpenedEntry) => string,
): AsyncGenerator<string> {
  for (let from = 0; from < size; from += exportedEntriesPage) {
    const to = Math.min(from + exportedEntriesPage, size);
    const page = await logEntries.listRange(db, { treeId, from, to });
    yield page.map((entry) => toLine(origin, entry)).join("");
  }
}

type RequestParts = {
  workspaceId: string;
  trees: readonly logExports.ExportedTree[];
  counts: { requests: number; later: number };
};

async function* readRequests(
  db: Queryable,
  { workspaceId, trees, counts }: RequestParts,
): AsyncGenerator<string> {
  const treeIds = trees.map(({ id }) => id);
  for await (const page of readPages(db, workspaceId, everything)) {
    const ids = page.map(({ id }) => id);
    const beside = await logExports.readBeside(db, workspaceId, { ids, treeIds });
    const lines: string[] = [];
    for (const approval of page) {
      const request = toExported(approval, beside.get(approval.id), trees);
      if (request === null) counts.later += 1;
      else lines.push(exportLines.request(request));
    }
    counts.requests += lines.length;
    if (lines.length > 0) yield lines.join("");
  }
}

const endKinds = ["request.approved", "request.rejected", "request.expired", "request.cancelled"];

/** Null if the exported part of the log does not know its state yet. */
function toExported(
  approval: Approval,
  beside: logExports.ExportedBeside | undefined,
  trees: readonly logExports.ExportedTree[],
): ExportedRequest | null {
  const { id, state, payload, createdAt } = approval;
  const facts = beside?.facts ?? [];
  const isExported = ({ treeId, index }: (typeof facts)[number]) =>
    index < (trees.find((each) => each.id === treeId)?.size ?? 0);
  const isLogged = (kind: string) => facts.some((fact) => fact.kind === kind && isExported(fact));
  const openedAt = trees[0]?.openedAt ?? null;
  const kind = eventOfStatus(state.kind);
  const isEnd = kind !== "request.created";
  // Past its end it is expired, though nobody has written that down.
  const isUnwritten = state.kind === "EXPIRED" && !facts.some((fact) => fact.kind === kind);
  const changedAt = "at" in state && !isUnwritten ? state.at : createdAt;
  const logged = isLogged(isEnd && !isUnwritten ? kind : "request.created");
  const isBeforeLog = openedAt === null || changedAt < openedAt;
  // What the log has ended never changes again, and what changed is on its way there: else the verifier must see it.
  const isOnItsWay = beside?.isWaiting === true || facts.some((fact) => !isExported(fact));
  const isLater = isOnItsWay && !endKinds.some(isLogged);
  if (!logged && !isBeforeLog && isLater) return null;
  const isApproved = state.kind === "APPROVED";
  return {
    id,
    status: isUnwritten && logged ? "PENDING" : state.kind,
    payload,
    effective: isApproved ? (editOf(state) ?? payload) : null,
    resolvedAt: "at" in state && !(isUnwritten && logged) ? state.at : null,
    by: isEnd ? (beside?.by ?? []) : [],
    receipt: beside?.receipt ?? null,
    logged,
  };
}

/** The place of the newest checkpoint of each tree in the installation's log, which witnesses have seen. */
async function readProofs(
  db: Queryable,
  trees: readonly logExports.ExportedTree[],
  heads: readonly InstallationHead[],
): Promise<string> {
  const entries = [];
  let checkpoint: string | null = null;
  for (const head of heads) {
    for (const { id } of trees) {
      const installed = await readInstalled(db, head, id);
      if (installed === null) continue;
      const { index, entry, salt, fact, proof } = installed;
      entries.push({ index, entry, salt, fact, proof });
      checkpoint = proof.slice(proof.indexOf("\n\n") + 2);
    }
  }
  return checkpoint === null ? "" : exportLines.installation({ checkpoint, entries });
}

/** Every checkpoint of the workspace in the installation's logs, opened. */
async function* readInstalledLines(
  db: Queryable,
  trees: readonly logExports.ExportedTree[],
  heads: readonly InstallationHead[],
): AsyncGenerator<string> {
  const newest = new Map(heads.map((head) => [head.treeId, head]));
  for (const { treeId, size: before, origin } of newest.values()) {
    for (const { id } of trees) {
      const limit = exportedEntriesPage;
      for (let from = 0; ; ) {
        const about = { treeId, subject: String(id), from, before, limit };
        const page = await logEntries.listAbout(db, about);
        yield page.map((entry) => installedLine(origin, entry)).join("");
        if (page.length < limit) break;
        from = (page.at(-1)?.index ?? before) + 1;
      }
    }
  }
}

function installedLine(origin: string, { index, entry, opening }: logEntries.OpenedEntry): string {
  if (opening === null) return "";
  const { salt, fact } = opening;
  return exportLines.installed(origin, { index, entry, salt: salt.toString("base64url"), fact });
}
