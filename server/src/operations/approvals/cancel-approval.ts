// Cancels a pending approval for the agent that asked for it.

import type { Database } from "../../database/database.ts";
import { NotReplicated } from "../../database/database-client.ts";
import { type Approval, describeResolution } from "../../domain/approval/approval.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { findWithExpiry } from "./expire-approvals.ts";
import { unknownApproval } from "./read-approval.ts";
import { resolveSurely } from "./resolve-surely.ts";
import { unknownKey } from "./unknown-key.ts";

export async function cancelApproval(
  db: Database,
  keyDigest: Buffer,
  id: string,
): Promise<{ workspaceId: string; approval: Approval } | Refusal> {
  const workspaceId = await apiKeys.findWorkspaceId(db, keyDigest);
  if (workspaceId === null) return unknownKey();
  const cancelledAt = await resolveSurely(db, { workspaceId, id }, { status: "CANCELLED" });
  const found = await findWithExpiry(db, workspaceId, id);
  if (found === null) return unknownApproval();
  const { approval } = found;
  const { state } = approval;
  if (cancelledAt !== null && state.kind === "CANCELLED") return { workspaceId, approval };
  // It was cancelled, or found decided, on a server that is the primary no longer.
  if (state.kind === "PENDING") throw new NotReplicated(`the end of ${id} vanished`);
  return refuse(
    "already_resolved",
    `This request ${describeResolution(state)} and cannot be cancelled any more. Read it to learn its outcome.`,
  );
}
