// Creates workspaces and changes their settings.

import { defaultExpiryMinutes, defaultReminderPercent } from "../domain/limits.ts";
import { type Refusal, refuse } from "../domain/refusal.ts";
import { flawOfWorkspaceSettings, type WorkspaceSettings } from "../domain/workspace-settings.ts";
import { type Database, inTransaction } from "../storage/database.ts";
import * as workspaces from "../storage/workspaces.ts";

export type WorkspaceInput = Pick<WorkspaceSettings, "name"> & Partial<WorkspaceSettings>;

export async function createWorkspace(
  db: Database,
  input: WorkspaceInput,
): Promise<workspaces.Workspace | Refusal> {
  const settings: WorkspaceSettings = {
    plan: "unlimited",
    included: null,
    cap: null,
    expiryMinutes: defaultExpiryMinutes,
    reminderPercent: defaultReminderPercent,
    reviewCode: false,
    ...input,
  };
  return inTransaction(db, async (tx) => {
    const flaw = flawOfWorkspaceSettings(settings, await workspaces.listPlanNames(tx));
    return flaw === null ? workspaces.insert(tx, settings) : refuse("validation_error", flaw);
  });
}

export async function updateWorkspace(
  db: Database,
  id: string,
  changes: Partial<WorkspaceSettings>,
): Promise<workspaces.Workspace | Refusal> {
  return inTransaction(db, async (tx) => {
    const workspace = await workspaces.lock(tx, id);
    if (workspace === null) return unknownWorkspace(id);
    const settings = { ...workspace, ...changes };
    const flaw = flawOfWorkspaceSettings(settings, await workspaces.listPlanNames(tx));
    if (flaw !== null) return refuse("validation_error", flaw);
    return (await workspaces.update(tx, id, settings)) ?? unknownWorkspace(id);
  });
}

export function unknownWorkspace(id: string): Refusal {
  return refuse(
    "not_found",
    `there is no workspace ${id}; \`countersign workspace list\` shows all`,
  );
}
