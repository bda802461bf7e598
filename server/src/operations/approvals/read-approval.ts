// Reads approvals for the holder of an API key. This may write: an overdue approval is expired first, so that nobody
// ever reads PENDING past the end.

import type { Database } from "../../database/database.ts";
import { gather } from "../../database/gathering.ts";
import { largeStatementsMax, largeStatementsPerHolderMax } from "../../domain/limits.ts";
import type { Recorder } from "../../domain/recorder.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import * as approvals from "../../storage/approvals/approvals.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { expireApprovals, findWithExpiry } from "./expire-approvals.ts";
import { unknownKey } from "./unknown-key.ts";

export type ReadApproval = (
  lookup: approvals.ApprovalLookup,
) => Promise<({ workspaceId: string } & approvals.FoundApproval) | Refusal>;

/** Concurrent reads are gathered into one statement, which also checks each caller's key. */
export function makeReadApproval(db: Database, recorder: Recorder | null = null): ReadApproval {
  const findGathered = gather(
    (lookups: approvals.ApprovalLookup[]) => approvals.findByKeys(db, lookups),
    { onBatch: recorder === null ? undefined : (items) => recorder.gathered("read", items) },
  );
  // A few at a time, so that large rows never take all connections from small ones.
  const findAlone = gather(
    (lookups: { workspaceId: string; id: string }[]) =>
      Promise.all(lookups.map(({ workspaceId, id }) => findWithExpiry(db, workspaceId, id))),
    {
      itemsMax: 1,
      batchesInFlightMax: largeStatementsMax,
      perHolderMax: largeStatementsPerHolderMax,
    },
  );
  return async (lookup) => {
    const result = await findGathered(lookup);
    if (result.kind === "unknown_key") return unknownKey();
    if (result.kind === "not_found") return unknownApproval();
    if (result.kind === "found" && !result.isOverdue) return result;
    const { workspaceId } = result;
    const found = await findAlone({ workspaceId, id: lookup.id });
    return found === null ? unknownApproval() : { workspaceId, ...found };
  };
}

export type ApprovalPage = {
  workspaceId: string;
  found: approvals.FoundApproval[];
  hasMore: boolean;
};

export async function listApprovals(
  db: Database,
  keyDigest: Buffer,
  filter: approvals.ApprovalFilter & { limit: number },
): Promise<ApprovalPage | Refusal> {
  const workspaceId = await apiKeys.findWorkspaceId(db, keyDigest);
  if (workspaceId === null) return unknownKey();
  for (;;) {
    const page = await approvals.list(db, workspaceId, filter);
    const overdue = page.found.filter(({ isOverdue }) => isOverdue);
    if (overdue.length === 0) return { workspaceId, ...page };
    // Others may run out while these are expired, so the next page is checked the same way.
    const ids = overdue.map(({ approval }) => approval.id);
    await expireApprovals(db, workspaceId, ids);
  }
}

export function unknownApproval(): Refusal {
  return refuse(
    "not_found",
    "There is no request with this id in this workspace. Check the id, and that this API key belongs to the workspace that created it.",
  );
}
