// Adds people to those who run a workspace, or changes their role.

import { flawOfEmailAddress } from "../domain/email-address.ts";
import { type Refusal, refuse } from "../domain/refusal.ts";
import { type Database, inTransaction } from "../storage/database.ts";
import * as members from "../storage/members.ts";
import * as workspaces from "../storage/workspaces.ts";
import { unknownWorkspace } from "./manage-workspace.ts";

export async function addMember(
  db: Database,
  input: { workspaceId: string; email: string; role: string },
): Promise<members.Member | Refusal> {
  const flaw = flawOfEmailAddress(input.email);
  if (flaw !== null) return refuse("validation_error", `email: ${flaw}`);
  const role = members.memberRoles.find((each) => each === input.role);
  if (role === undefined) {
    return refuse("validation_error", `role: must be one of ${members.memberRoles.join(", ")}`);
  }
  return inTransaction(db, async (tx) => {
    const workspace = await workspaces.find(tx, input.workspaceId);
    if (workspace === null) return unknownWorkspace(input.workspaceId);
    return members.upsert(tx, { ...input, role });
  });
}
