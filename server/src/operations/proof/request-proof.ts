// Everything that proves what the log holds about one request: its entries, the proof of its decision in a checkpoint,
// and that checkpoint's own place in the installation's log, which witnesses have seen.

import type { Database, Queryable } from "../../database/database.ts";
import { isBeside, isOriginOf } from "../../domain/proof/log-origin.ts";
import { type EntryOpening, formatLogProof } from "../../domain/proof/log-proof.ts";
import { parseCheckpoint } from "../../domain/proof/note.ts";
import { logNamesIn } from "../../domain/proof/receipt-token.ts";
import { inclusionRanges, nodesOf, proofOf } from "../../domain/proof/tree.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import * as logEntries from "../../storage/proof/log-entries.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import * as receipts from "../../storage/proof/receipts.ts";

export type ProofBundle = {
  origin: string;
  /** The signed note, with cosignatures. */
  checkpoint: string;
  entries: (EntryOpening & { index: number })[];
  /** The decision in that checkpoint, as a tlog-proof; null until there is one. */
  proof: string | null;
  /** The checkpoint in the installation's log; null until it is there. */
  installation: (EntryOpening & { proof: string }) | null;
  /** Of which there can be one only: of more, the database's owner wrote the later ones. The proof is of the first. */
  decisions: number;
};

export type ProofParts = { db: Database; origin: { readonly publicUrl: string } };

/** Null until a checkpoint covers anything of the request. */
export async function readRequestProof(
  { db, origin }: ProofParts,
  { workspaceId, approvalId }: receipts.Where,
): Promise<ProofBundle | null> {
  const trees = await logTrees.listOf(db, workspaceId);
  const treeIds = trees.map(({ id }) => id);
  const found = await logEntries.listOfApproval(db, { treeIds, approvalId });
  const decisions = found.map(headOf).filter(({ kind }) => decisionKinds.has(kind));
  // Whoever writes a later one into the log does not replace the first.
  const decided = decisions[0]?.id;
  const isWanted = (entry: logEntries.OpenedEntry) =>
    decided === undefined || headOf(entry).id === decided;
  // An entry that no checkpoint covered before a restore is in two of them.
  const proven = found.findLast(isWanted);
  const tree = trees.find(({ id }) => id === proven?.treeId);
  if (proven === undefined || tree === undefined) return null;
  const inTree = found.filter(({ treeId }) => treeId === tree.id);
  const decision = decided === undefined ? null : proven;
  const receipt = await receipts.findKept(db, { workspaceId, approvalId });
  // One that is signed from now on names this address and this log.
  const names =
    receipt === null ? { issuer: origin.publicUrl, origin: tree.origin } : logNamesIn(receipt);
  const bundle = await readBundle(db, tree, { found: inTree, decision, names });
  return bundle && { ...bundle, decisions: new Set(decisions.map(({ id }) => id)).size };
}

const decisionKinds = new Set(["request.approved", "request.rejected"]);

/** What anybody can read of an entry. */
function headOf({ entry }: logEntries.OpenedEntry): { kind: string; id: string } {
  return JSON.parse(entry);
}

type LogNames = ReturnType<typeof logNamesIn>;

type OfRequest = {
  found: readonly logEntries.OpenedEntry[];
  decision: logEntries.OpenedEntry | null;
  names: LogNames;
};

async function readBundle(
  db: Database,
  tree: logTrees.LogTree,
  { found, decision, names }: OfRequest,
): Promise<Omit<ProofBundle, "decisions"> | null> {
  const index = decision?.index ?? found[0]?.index ?? 0;
  const witnessed = await findInstalled(db, { treeId: tree.id, index, names });
  const kept = witnessed?.checkpoint ?? (await logCheckpoints.findNewest(db, tree.id));
  if (kept === null || kept.size <= index) return null;
  const checkpoint = await logCheckpoints.readCosigned(db, kept);
  const covered = found.filter((each) => each.index < kept.size);
  return {
    origin: tree.origin,
    checkpoint,
    entries: covered.map((each) => ({ index: each.index, ...toOpening(each) })),
    proof: decision === null ? null : await proveEntry(db, kept, decision, witnessed?.installed),
    installation: witnessed?.installed ?? null,
  };
}

/**
 * The newest checkpoint of this tree that is in a signed checkpoint of the installation's log, if it covers the entry.
 * One that is newer may cover it, and not be there yet.
 */
async function findInstalled(
  db: Database,
  { treeId, index, names }: { treeId: number; index: number; names: LogNames },
) {
  const heads = await logCheckpoints.listOfInstallation(db);
  for (const head of inOrder(heads, names)) {
    const found = await findInstalledIn(db, head, { treeId, index });
    if (found !== null) return found;
  }
  return null;
}

function isOfIssuer({ origin }: { origin: string }, { issuer }: LogNames): boolean {
  return isOriginOf(origin, issuer, { workspaceId: null });
}

/**
 * Only those that the receipt's verifier takes: a log at the issuer's address, or at that of the log which the receipt
 * names. With another one it would refuse the whole proof, however many witnesses have seen it.
 *
 * The ones that prove most first: a revoked key proves nothing, and more witnesses prove more, even if what they have
 * seen is older or of a log that was closed since. Of those that prove the same the one beside the log that the receipt
 * names comes first. What an older head covers, a newer one of the same log covers, too.
 */
function inOrder(
  heads: readonly logCheckpoints.WitnessedCheckpoint[],
  names: LogNames,
): logCheckpoints.WitnessedCheckpoint[] {
  const isNamed = ({ origin }: { origin: string }) =>
    names.origin !== null && isBeside(names.origin, origin);
  const fitting = heads.filter((head) => isNamed(head) || isOfIssuer(head, names));
  const sorted = fitting.toSorted(
    (one, other) =>
      Number(one.isKeyRevoked) - Number(other.isKeyRevoked) ||
      other.cosigners - one.cosigners ||
      Number(isNamed(other)) - Number(isNamed(one)) ||
      other.treeId - one.treeId ||
      other.size - one.size,
  );
  const rankOf = ({ isKeyRevoked, cosigners, treeId }: (typeof sorted)[number]) =>
    `${isKeyRevoked} ${cosigners} ${treeId}`;
  return [...Map.groupBy(sorted, rankOf).values()].flatMap((alike) => alike.slice(0, 1));
}

async function findInstalledIn(
  db: Queryable,
  head: logCheckpoints.KeptCheckpoint,
  { treeId, index }: { treeId: number; index: number },
) {
  const place = { treeId: head.treeId, subject: String(treeId), before: head.size };
  const entry = await logEntries.findNewestAbout(db, place);
  const checkpoint = entry === null ? null : await findNamed(db, treeId, entry);
  if (entry === null || checkpoint === null || checkpoint.size <= index) return null;
  const installed = { ...toOpening(entry), proof: await proveEntry(db, head, entry) };
  return { index: entry.index, checkpoint, installed };
}

/** The newest checkpoint of a log in this state of the installation's, with its proof; null if it isn't there. */
export async function readInstalled(
  db: Queryable,
  head: logCheckpoints.KeptCheckpoint,
  treeId: number,
): Promise<(EntryOpening & { index: number; proof: string }) | null> {
  const found = await findInstalledIn(db, head, { treeId, index: 0 });
  return found === null ? null : { index: found.index, ...found.installed };
}

async function findNamed(db: Queryable, treeId: number, { opening }: logEntries.OpenedEntry) {
  const { body = "" } = JSON.parse(opening?.fact ?? "{}") as { body?: string };
  const named = parseCheckpoint(body);
  return named === null ? null : logCheckpoints.find(db, { treeId, size: named.size });
}

async function proveEntry(
  db: Queryable,
  kept: logCheckpoints.KeptCheckpoint,
  entry: logEntries.OpenedEntry,
  installed?: { proof: string },
): Promise<string> {
  const ranges = inclusionRanges(entry.index, kept.size);
  const hashOf = await logEntries.readNodes(db, kept.treeId, nodesOf(ranges));
  return formatLogProof({
    opening: toOpening(entry),
    index: entry.index,
    hashes: proofOf(ranges, hashOf),
    checkpoint: await logCheckpoints.readCosigned(db, kept),
    ...(installed === undefined ? {} : { installation: installed.proof }),
  });
}

function toOpening({ entry, opening }: logEntries.OpenedEntry): EntryOpening {
  return {
    entry,
    fact: opening?.fact ?? "",
    salt: opening?.salt.toString("base64url") ?? "",
  };
}
