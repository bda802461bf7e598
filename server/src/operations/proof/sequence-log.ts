// Moves pending facts of logs into their trees: entries, what they stand for, hashes and the new heads are one commit.
// Nothing is signed here: a head is signed once it is committed (sign-log.ts).

import { randomBytes } from "node:crypto";
import { setImmediate as otherWork } from "node:timers/promises";
import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { isConflictOn } from "../../database/faults.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { type Seal, sealHead } from "../../domain/proof/head-seal.ts";
import {
  checkpointEntryOf,
  entryOf,
  type LoggedFact,
  saltBytes,
} from "../../domain/proof/log-entry.ts";
import { checkpointFact, logOpenedFact } from "../../domain/proof/log-facts.ts";
import { logRenamedBackAfterMs } from "../../domain/proof/log-limits.ts";
import { isOriginOf, isSameHome, logOrigin } from "../../domain/proof/log-origin.ts";
import { checkpointBody } from "../../domain/proof/note.ts";
import {
  append,
  emptyFrontier,
  emptyRoot,
  type Frontier,
  leafHash,
  rootOf,
  type TileHash,
} from "../../domain/proof/tree.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import * as logEntries from "../../storage/proof/log-entries.ts";
import * as logPending from "../../storage/proof/log-pending.ts";
import { installation, type LogOwner, type PendingFact } from "../../storage/proof/log-pending.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import { gatherFacts } from "./gather-facts.ts";
import {
  areOwnHeads,
  faultOfHead,
  findNewestRight,
  openOwnCheckpoint,
  statesOfHeads,
} from "./sealed-heads.ts";
import { listOwnKeys } from "./signing-keys.ts";
import { readFrontiers } from "./tree-frontiers.ts";

export type LogParts = {
  db: Database;
  keyring: Keyring;
  origin: { readonly publicUrl: string };
};

/** A transaction that grows logs. */
type Growth = { tx: Transaction; keyring: Keyring; publicUrl: string };

export type Sequenced = {
  owner: LogOwner;
  treeId: number;
  /** Entries that were added, without the one that opens a log. */
  count: number;
  /** When the oldest of them happened. */
  oldestAt: Date | null;
};

/** Null if nothing waits, or another process is at it. */
export async function sequenceLog(
  parts: LogParts,
  owner: LogOwner,
  limit: number,
): Promise<Sequenced | null> {
  const [sequenced] = await sequenceLogs(parts, [owner], limit);
  return sequenced ?? null;
}

/**
 * Several logs in one commit, because statements and commits cost more than facts. Takes up to `limit` facts of each. A
 * log for which nothing waits, or which another process holds, is left out. The owners come in order: processes that open
 * the same new logs then never wait for each other in a circle.
 */
export async function sequenceLogs(
  { db, keyring, origin: { publicUrl } }: LogParts,
  owners: readonly LogOwner[],
  limit: number,
): Promise<Sequenced[]> {
  return inTransaction(db, async (tx) => {
    const growth = { tx, keyring, publicUrl };
    await logTrees.commitDurably(tx);
    const trees = await holdTrees(growth, owners);
    if (trees.length === 0) return [];
    const pending = await logPending.take(tx, { owners: trees.map(({ owner }) => owner), limit });
    if (pending.length === 0) return [];
    const entriesOf = await readEntries(growth, pending);
    const growing = trees.flatMap((tree) => {
      const found = entriesOf.get(tree.owner);
      return found === undefined ? [] : { tree, ...found };
    });
    await grow(growth, growing);
    return growing.map(({ tree, entries, oldestAt }) => ({
      ...{ owner: tree.owner, treeId: tree.id, count: entries.length, oldestAt },
    }));
  });
}

/** The open trees, locked. One that was begun in another database or under another name is closed, and the next is opened. */
async function holdTrees(growth: Growth, owners: readonly LogOwner[]): Promise<logTrees.LogTree[]> {
  const { tx, keyring } = growth;
  const held = await logTrees.lockMany(tx, owners);
  const areOwn = await areOwnHeads(
    tx,
    keyring,
    held.map(({ tree }) => tree),
  );
  const trees: (logTrees.LogTree | null)[] = [];
  for (const [at, { tree, homeNow: home }] of held.entries()) {
    const isHere = isSameHome(tree.home, home) && !(await isToRename(growth, tree));
    if (areOwn[at] && isHere) trees.push(tree);
    else trees.push((await reopenTree(growth, tree, { home, previous: null }))?.tree ?? null);
  }
  if (held.length < owners.length) trees.push(...(await openTrees(growth, owners)));
  return trees.filter((tree) => tree !== null);
}

/**
 * Whether the service has another address than the log. A process that was started with the one before, and still runs,
 * takes nothing back: only if that address stays is the log renamed to it again.
 */
async function isToRename(
  { tx, publicUrl }: Growth,
  { id, owner, origin }: logTrees.LogTree,
): Promise<boolean> {
  const workspaceId = owner === installation ? null : owner;
  const isOurs = (name: string) => isOriginOf(name, publicUrl, { workspaceId });
  if (isOurs(origin)) return false;
  const wasOurs = (await logTrees.listOf(tx, owner)).some((other) => isOurs(other.origin));
  return !wasOurs || logTrees.isOlderThan(tx, id, logRenamedBackAfterMs);
}

/** For those that have none. One whose last log is closed had it closed by somebody else: the next one follows it. */
async function openTrees(growth: Growth, owners: readonly LogOwner[]) {
  const { tx, keyring } = growth;
  const without = await logTrees.listWithoutTree(tx, owners);
  if (without.length === 0) return [];
  const reopening = { home: await logTrees.readHome(tx), previous: null };
  const trees: (logTrees.LogTree | null)[] = [];
  for (const owner of without) {
    const former = await logTrees.listOf(tx, owner);
    await areOwnHeads(tx, keyring, former.slice(-1));
    trees.push((await followTrees(growth, { owner, former }, reopening))?.tree ?? null);
  }
  return trees;
}

/** A null `previous` stands for the last checkpoint that we know of. */
type Reopening = { home: string; previous: string | null };

/** `leftBehind`: entries of the log before that are in no checkpoint, and not carried over. */
type Reopened = { tree: logTrees.LogTree; leftBehind: number };

/** Closes a locked tree and opens the next. */
export async function reopenTree(
  growth: Growth,
  tree: logTrees.LogTree,
  reopening: Reopening,
): Promise<Reopened | null> {
  const { owner } = tree;
  await logTrees.close(growth.tx, tree.id);
  const former = await logTrees.listOf(growth.tx, owner);
  return followTrees(growth, { owner, former }, reopening);
}

/**
 * Opens a log that names the last checkpoint of the one before, and carries what no checkpoint covers. From a log whose
 * head isn't ours it carries nothing: nobody could say by whom that was added.
 */
export async function followTrees(
  growth: Growth,
  { owner, former }: { owner: LogOwner; former: readonly logTrees.LogTree[] },
  { home, previous }: Reopening,
): Promise<Reopened | null> {
  const { tx, keyring } = growth;
  const generation = former.length + 1;
  const before = former.at(-1);
  if (before === undefined) {
    const tree = await openTree(growth, { owner, home, previous, generation });
    return tree === null ? null : { tree, leftBehind: 0 };
  }
  const last = await findNewestRight(tx, keyring, before);
  const [state] = await statesOfHeads(tx, keyring, [before]);
  const opening = { owner, home, previous: previous ?? last?.note ?? null, generation };
  const tree = await openTree(growth, opening);
  if (tree === null) return null;
  const { id: treeId, size: to } = before;
  const from = last?.size ?? 0;
  if (state !== "ours") return { tree, leftBehind: to - from };
  await logPending.carryOver(tx, { owner, treeId, from, to });
  return { tree, leftBehind: 0 };
}

async function openTree(
  growth: Growth,
  { owner, home, previous, generation }: Reopening & { owner: LogOwner; generation: number },
): Promise<logTrees.LogTree | null> {
  const { tx, publicUrl } = growth;
  const workspaceId = owner === installation ? null : owner;
  const origin = logOrigin(publicUrl, { workspaceId, generation });
  const tree = await logTrees.insert(tx, { owner, origin, home, root: emptyRoot });
  if (tree === null) {
    if ((await logTrees.listOf(tx, owner)).some(({ isClosed }) => !isClosed)) return null;
    throw new Error(
      `the log ${origin} can't be opened: somebody has put one of that name into log_trees. Delete it as the database's owner`,
    );
  }
  const requestsBefore =
    workspaceId === null ? 0 : await logTrees.countRequestsBefore(tx, workspaceId);
  const opened = { origin, previous, requestsBefore };
  const entry = toEntry({
    ...{ kind: "log.opened", id: String(tree.id), at: await logTrees.readNow(tx), request: null },
    ...{ fact: logOpenedFact(opened), salt: randomBytes(saltBytes) },
  });
  const [grown] = await grow(growth, [{ tree, entries: [entry] }]);
  return grown ?? null;
}

type OwnEntries = { entries: logEntries.NewEntry[]; oldestAt: Date | null };

/** By owner, in the order in which they go into the tree. */
async function readEntries(
  { tx, keyring }: Growth,
  pending: readonly PendingFact[],
): Promise<Map<LogOwner, OwnEntries>> {
  const others = pending.filter(({ source }) => source !== "c" && source !== "k");
  const facts = others.length === 0 ? null : await readFacts(tx, others);
  const found = new Map<LogOwner, OwnEntries>();
  let count = 0;
  for (const [owner, own] of Map.groupBy(pending, (each) => each.owner)) {
    const from = (source: PendingFact["source"]) => own.filter((each) => each.source === source);
    const entries = [
      ...(await carriedEntries({ tx, keyring }, owner, from("c"))),
      ...(await checkpointEntries({ tx, keyring }, from("k"))),
    ];
    const ownFacts = facts?.get(owner) ?? [];
    for (const fact of ownFacts) {
      entries.push(toEntry(fact));
      count += 1;
      // Hashing keeps the process busy; callers come in between.
      if (count % entriesAtOnce === 0) await otherWork();
    }
    found.set(owner, { entries, oldestAt: ownFacts[0]?.at ?? null });
  }
  return found;
}

const entriesAtOnce = 128;
/** Those of other processes have their signatures checked. */
const checkpointsAtOnce = 32;

async function readFacts(tx: Transaction, pending: readonly PendingFact[]) {
  return gatherFacts({ tx, now: await logTrees.readNow(tx) }, pending);
}

function toEntry(fact: LoggedFact): logEntries.NewEntry {
  const entry = entryOf(fact);
  return {
    ...{ entry, leafHash: leafHash(Buffer.from(entry)), subject: fact.id },
    ...{ approvalId: fact.request, salt: fact.salt, fact: fact.fact },
  };
}

/**
 * Entries of the log before, as they were. The service's role may queue any place, and write behind a head: only what we
 * have sealed into a log of this owner is carried.
 */
async function carriedEntries(
  { tx, keyring }: Pick<Growth, "tx" | "keyring">,
  owner: LogOwner,
  pending: readonly PendingFact[],
): Promise<logEntries.NewEntry[]> {
  if (pending.length === 0) return [];
  const places = pending.map(({ subject }) => placeOf(subject));
  const named = new Set(places.map(([treeId]) => treeId));
  const sizeOf = new Map<number, number>();
  const all = await logTrees.listOf(tx, owner);
  const closed = all.filter(({ id, isClosed }) => isClosed && named.has(id));
  const states = await statesOfHeads(tx, keyring, closed);
  for (const [at, tree] of closed.entries()) {
    // Another process can tell, or the operator.
    if (states[at] === "awaited") throw faultOfHead(tree, "awaited");
    if (states[at] === "ours") sizeOf.set(tree.id, tree.size);
  }
  const found = await logEntries.listAt(
    tx,
    places.flatMap(([treeId, index]) =>
      index < (sizeOf.get(treeId) ?? 0) ? [{ treeId, index }] : [],
    ),
  );
  const kept = found.filter(({ entry }) => !entry.includes('"kind":"log.opened"'));
  return kept.sort((one, other) => one.treeId - other.treeId || one.index - other.index);
}

/**
 * An entry has the time at which the log gets it, which may be long after the signature if the service stood still: an
 * export from before then can't hold the entry, and its verifier goes by the time. The service's role may write
 * checkpoints, but only those count that a key of ours has signed.
 */
async function checkpointEntries(
  { tx, keyring }: Pick<Growth, "tx" | "keyring">,
  pending: readonly PendingFact[],
): Promise<logEntries.NewEntry[]> {
  if (pending.length === 0) return [];
  const places = pending.map(({ subject }) => placeOf(subject));
  const found = await logCheckpoints.listAt(
    tx,
    places.map(([treeId, size]) => ({ treeId, size })),
  );
  const now = await logTrees.readNow(tx);
  const keys = await listOwnKeys(tx, keyring);
  const inOrder = found.sort((one, other) => one.treeId - other.treeId || one.size - other.size);
  const entries: logEntries.NewEntry[] = [];
  for (const [n, { treeId, origin, size, note, signedAt }] of inOrder.entries()) {
    if (n % checkpointsAtOnce === checkpointsAtOnce - 1) await otherWork();
    const checkpoint = openOwnCheckpoint(note, keys);
    // The service's role may put one log's checkpoint into another's place.
    if (checkpoint?.origin !== origin || checkpoint.size !== size) continue;
    // The transaction may have begun before the signature.
    const at = signedAt > now ? signedAt : now;
    const body = checkpointBody(checkpoint);
    const salt = randomBytes(saltBytes);
    const entry = checkpointEntryOf({ origin, at, salt, body });
    entries.push({
      ...{ entry, leafHash: leafHash(Buffer.from(entry)), subject: String(treeId) },
      ...{ approvalId: null, salt },
      fact: checkpointFact({ origin, body }),
    });
  }
  return entries;
}

function placeOf(subject: string): [treeId: number, at: number] {
  const [treeId, at] = subject.split(":").map(Number);
  return [treeId ?? 0, at ?? 0];
}

type Growing = { tree: logTrees.LogTree; entries: readonly logEntries.NewEntry[] };

async function grow(
  { tx, keyring }: Pick<Growth, "tx" | "keyring">,
  growing: readonly Growing[],
): Promise<logTrees.LogTree[]> {
  const frontiers = await readFrontiers(
    tx,
    growing.map(({ tree }) => tree),
  );
  const grown: (logTrees.LogTree & { seal: Seal })[] = [];
  const placed: logEntries.PlacedEntry[] = [];
  const tiles: (TileHash & { treeId: number })[] = [];
  for (const [at, { tree, entries }] of growing.entries()) {
    const before = frontiers[at] ?? emptyFrontier;
    const { frontier, full } = await appendInPieces(before, entries);
    const { id: treeId, size } = tree;
    placed.push(...entries.map((entry, n) => ({ ...entry, treeId, index: size + n })));
    tiles.push(...full.map((tile) => ({ ...tile, treeId })));
    const head = { ...tree, size: frontier.size, root: rootOf(frontier) };
    grown.push({ ...head, seal: sealHead(keyring, head) });
  }
  if (placed.length === 0) return grown;
  try {
    await logEntries.insertMany(tx, placed);
    await logEntries.insertTileHashes(tx, tiles);
  } catch (cause) {
    const isBehind = ["log_entries_pkey", "log_openings_pkey", "log_nodes_pkey"].some((key) =>
      isConflictOn(cause, key),
    );
    if (!isBehind) throw cause;
    const origins = grown.map(({ origin }) => origin).join(", ");
    throw new Error(`the log ${origins} was changed: somebody wrote behind its head`, { cause });
  }
  await logTrees.growMany(tx, grown);
  return grown;
}

async function appendInPieces(before: Frontier, entries: readonly logEntries.NewEntry[]) {
  const full: TileHash[] = [];
  let frontier = before;
  for (let at = 0; at < entries.length; at += entriesAtOnce) {
    const leaves = entries.slice(at, at + entriesAtOnce).map((entry) => entry.leafHash);
    const grown = append(frontier, leaves);
    frontier = grown.frontier;
    full.push(...grown.full);
    await otherWork();
  }
  return { frontier, full };
}
