// GET /v1/requests/:id/log-proof: the proof that a decision is in the log, for whoever keeps it beside the receipt.

import { refuse } from "../../domain/refusal.ts";
import { unknownKey } from "../../operations/approvals/unknown-key.ts";
import { type ProofParts, readRequestProof } from "../../operations/proof/request-proof.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import type { Answer, Call } from "../frame/call.ts";
import { idOf } from "../frame/parameters.ts";
import { problem, problemOfRefusal } from "../frame/problems.ts";

export async function showLogProof(parts: ProofParts, call: Call): Promise<Answer> {
  const workspaceId = await apiKeys.findWorkspaceId(parts.db, call.keyDigest);
  if (workspaceId === null) return problemOfRefusal(unknownKey());
  call.isKeyKnown = true;
  call.facts.workspaceId = workspaceId;
  const bundle = await readRequestProof(parts, { workspaceId, approvalId: idOf(call) });
  const proof = bundle?.proof ?? null;
  if (proof === null) {
    const message =
      "There is no proof: no request of this workspace has this id, it is not decided, or its decision is not in a checkpoint yet. Ask again in a few seconds.";
    return problemOfRefusal(refuse("not_found", message));
  }
  if (bundle !== null && bundle.decisions > 1) {
    const message =
      "The log has more than one decision of this request: somebody changed the service's database. None of them is proven.";
    return problem("internal_error", message);
  }
  return {
    status: 200,
    type: "text/plain; charset=utf-8",
    headers: { "cache-control": "private, no-cache" },
    body: proof,
  };
}
