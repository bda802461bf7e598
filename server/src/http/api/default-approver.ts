// GET /v1/default-approver: whom a tool asks that was told no approver. A create names its approver itself, always.

import type { DefaultApprover } from "../../../../sdk/src/contract.ts";
import type { Database } from "../../database/database.ts";
import { unknownKey } from "../../operations/approvals/unknown-key.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import type { Answer, Call } from "../frame/call.ts";
import { problemOfRefusal } from "../frame/problems.ts";

export async function showDefaultApprover(db: Database, call: Call): Promise<Answer> {
  const found = await apiKeys.findDefaultApprover(db, call.keyDigest);
  if (found === null) return problemOfRefusal(unknownKey());
  call.isKeyKnown = true;
  call.facts.workspaceId = found.workspaceId;
  const { approver: notify, isOfKey } = found;
  const setFor = notify === null ? null : isOfKey ? "key" : "workspace";
  return {
    status: 200,
    headers: { "cache-control": "private, no-cache" },
    body: JSON.stringify({ object: "default_approver", notify, setFor } satisfies DefaultApprover),
  };
}
