// The very first start of an empty service: one workspace, its owner, and a key to begin with.

import { defaultExpiryMinutes, defaultReminderPercent } from "../domain/limits.ts";
import * as activity from "../storage/activity.ts";
import { type Database, inTransaction } from "../storage/database.ts";
import * as workspaces from "../storage/workspaces.ts";
import { insertMember } from "./add-member.ts";
import { insertKey } from "./issue-key.ts";

export const firstOwnerEmail = "owner@localhost";

/** The key of the first workspace, or null when there is a workspace already. */
export async function runFirst(db: Database): Promise<string | null> {
  return inTransaction(db, async (tx) => {
    if (await workspaces.exists(tx)) return null;
    const name = "My workspace";
    const { id: workspaceId } = await workspaces.insert(tx, {
      name,
      plan: "unlimited",
      included: null,
      cap: null,
      expiryMinutes: defaultExpiryMinutes,
      reminderPercent: defaultReminderPercent,
      reviewCode: false,
    });
    const entry = { workspaceId, actor: null };
    await activity.insert(tx, { ...entry, action: "workspace.created", subject: name });
    await insertMember(tx, { workspaceId, email: firstOwnerEmail, role: "owner" });
    const { key } = await insertKey(tx, { workspaceId, name: "First key" });
    return key;
  });
}
