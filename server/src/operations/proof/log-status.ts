// How the logs are: their sizes, their newest checkpoints, what waits for them and for how long, and by which key others
// know them.

import type { Database } from "../../database/database.ts";
import { ed25519, formatVerifierKey, verifierKey } from "../../domain/proof/note.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import * as logPending from "../../storage/proof/log-pending.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import * as signingKeys from "../../storage/proof/signing-keys.ts";

export type LogStatus = {
  origin: string;
  /** Null is the installation's. */
  workspaceId: string | null;
  isClosed: boolean;
  /** A witness knows the log by it. Null until there is a key that signs. */
  verifierKey: string | null;
  size: number;
  /** The size that was signed last. */
  checkpoint: number | null;
  signedAt: Date | null;
  /** Facts that are not in the log yet, up to a limit. */
  waiting: number;
  /** How long the oldest of them has waited; null when none has. */
  lagMs: number | null;
};

const waitingCountedMax = 100_000;

export async function readLogStatus(db: Database): Promise<LogStatus[]> {
  const trees = await logTrees.list(db);
  const now = await logTrees.readNow(db);
  return Promise.all(trees.map((tree) => statusOf(db, tree, now)));
}

export type LogKey = { origin: string; verifierKey: string };

/** The verifier key (C2SP signed-note) of the log that grows now. Without a workspace it is the installation's. */
export async function readLogKey(
  db: Database,
  workspaceId: string | null,
): Promise<LogKey | ChangeRefusal> {
  const trees = await logTrees.listOf(db, workspaceId ?? logPending.installation);
  const origin = trees.find(({ isClosed }) => !isClosed)?.origin;
  const key = origin === undefined ? null : await readVerifierKey(db, origin);
  if (origin === undefined || key === null) {
    const whose = workspaceId ?? "the installation";
    return refuse(
      "not_found",
      `${whose} has no log with a key yet; both are made soon after the service starts`,
    );
  }
  return { origin, verifierKey: key };
}

/** Of the log of this origin, with the key that signs now; null while there is none. */
export async function readVerifierKey(db: Database, origin: string): Promise<string | null> {
  const current = await signingKeys.findCurrent(db);
  if (current === null) return null;
  return formatVerifierKey(verifierKey(origin, ed25519, current.publicKey));
}

async function statusOf(db: Database, tree: logTrees.LogTree, now: Date): Promise<LogStatus> {
  const { origin, owner, size, isClosed } = tree;
  const newest = await logCheckpoints.findNewest(db, tree.id);
  const waiting = isClosed
    ? { count: 0, oldest: null }
    : await logPending.look(db, { owner, limit: waitingCountedMax });
  return {
    ...{ origin, isClosed, size },
    verifierKey: await readVerifierKey(db, origin),
    workspaceId: owner === logPending.installation ? null : owner,
    checkpoint: newest?.size ?? null,
    signedAt: newest?.signedAt ?? null,
    waiting: waiting.count,
    lagMs: waiting.oldest === null ? null : now.getTime() - millisOf(waiting.oldest),
  };
}

/** Our ids begin with the milliseconds of the database's clock. */
function millisOf(id: string): number {
  return Number.parseInt(id.slice(id.indexOf("_") + 1, id.indexOf("_") + 13), 16);
}
