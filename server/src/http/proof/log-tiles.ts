// The logs, as files that anybody can check (C2SP tlog-tiles): the checkpoint, tiles of hashes, bundles of entries. The
// installation's log is public; a workspace's is for its own API keys.

import type { Database } from "../../database/database.ts";
import { entryBundle, parseTileAddress, tileRange } from "../../domain/proof/log-tiles.ts";
import { unknownKey } from "../../operations/approvals/unknown-key.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import * as logEntries from "../../storage/proof/log-entries.ts";
import { installation, type LogOwner } from "../../storage/proof/log-pending.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import type { Answer, Call } from "../frame/call.ts";
import { compressed } from "../frame/compression.ts";
import { notFound, problemOfRefusal } from "../frame/problems.ts";
import type { Route } from "../frame/route.ts";

/** The log of the first generation has the plain address, those after a restore a number (decision 55). */
export function logRoutes(db: Database): Route[] {
  const later = ":generation(^[0-9]{1,6}$)";
  const show = (path: string, access: "anyone" | "api_key"): Route[] => [
    { method: "GET", path: `${path}/checkpoint`, access, handle: (call) => checkpoint(db, call) },
    { method: "GET", path: `${path}/tile/*`, access, handle: (call) => tile(db, call) },
  ];
  return [
    ...show("/log", "anyone"),
    ...show(`/log/${later}`, "anyone"),
    ...show("/log/:workspace", "api_key"),
    ...show(`/log/:workspace/${later}`, "api_key"),
  ];
}

async function checkpoint(db: Database, call: Call): Promise<Answer> {
  const found = await findHead(db, call);
  if ("refused" in found) return found.refused;
  return {
    status: 200,
    type: "text/plain; charset=utf-8",
    headers: { "cache-control": `${found.scope}, no-cache` },
    body: await logCheckpoints.readCosigned(db, found.head),
  };
}

/** Tiles beyond the newest checkpoint don't exist yet, though their rows may. */
async function tile(db: Database, call: Call): Promise<Answer> {
  const found = await findHead(db, call);
  if ("refused" in found) return found.refused;
  const { treeId, size } = found.head;
  const address = parseTileAddress(call.params["*"] ?? "");
  const range = address === null ? null : tileRange(address, size);
  if (address === null || range === null) return notFound();
  const { level } = address;
  const body =
    level === "entries"
      ? entryBundle(await logEntries.listTexts(db, { treeId, ...range }))
      : Buffer.concat(await logEntries.listTileHashes(db, { treeId, level, ...range }));
  const answer: Answer = {
    status: 200,
    type: "application/octet-stream",
    headers: { "cache-control": `${found.scope}, max-age=31536000, immutable` },
    body,
  };
  // Hashes don't get shorter.
  return level === "entries" ? compressed(call, answer) : answer;
}

type Found =
  | { refused: Answer }
  | { head: logCheckpoints.KeptCheckpoint; scope: "public" | "private" };

async function findHead(db: Database, call: Call): Promise<Found> {
  const owner = await findOwner(db, call);
  if (typeof owner !== "string") return owner;
  const trees = await logTrees.listOf(db, owner);
  const generation = call.params.generation ?? "1";
  // The first has no number, and no number begins with a zero.
  const isNamed = call.params.generation === undefined || /^([2-9]|[1-9][0-9]+)$/.test(generation);
  const tree = isNamed ? trees[Number(generation) - 1] : undefined;
  const head = tree === undefined ? null : await logCheckpoints.findNewest(db, tree.id);
  if (head === null) return { refused: notFound() };
  return { head, scope: owner === installation ? "public" : "private" };
}

/** Another workspace's log is as unknown as one that doesn't exist. */
async function findOwner(db: Database, call: Call): Promise<LogOwner | { refused: Answer }> {
  const { workspace } = call.params;
  if (workspace === undefined) return installation;
  const workspaceId = await apiKeys.findWorkspaceId(db, call.keyDigest);
  if (workspaceId === null) return { refused: problemOfRefusal(unknownKey()) };
  call.isKeyKnown = true;
  call.facts.workspaceId = workspaceId;
  return workspaceId === workspace ? workspaceId : { refused: notFound() };
}
