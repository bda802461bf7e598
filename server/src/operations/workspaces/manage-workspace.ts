// Creates workspaces and changes their settings.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { defaultReminderPercent } from "../../domain/limits.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import { defaultExpiryMinutes } from "../../domain/shown/field-limits.ts";
import { type Actor, type Doer, fromTo, operator } from "../../domain/workspace/activity.ts";
import {
  flawOfWorkspaceSettings,
  type SettingFlaw,
  type WorkspaceSettings,
} from "../../domain/workspace/workspace-settings.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import { refuseDefaultApprover } from "../people/default-approvers.ts";
import { inTurnBy } from "../transaction-by.ts";

export type WorkspaceInput = Pick<WorkspaceSettings, "name"> & Partial<WorkspaceSettings>;

export async function createWorkspace(
  db: Database,
  input: WorkspaceInput,
): Promise<workspaces.Workspace | ChangeRefusal> {
  const settings: WorkspaceSettings = {
    plan: "unlimited",
    included: null,
    cap: null,
    expiryMinutes: defaultExpiryMinutes,
    reminderPercent: defaultReminderPercent,
    reviewCode: false,
    defaultApprover: null,
    ...input,
  };
  return inTransaction(db, async (tx) => {
    const flaw = flawOfWorkspaceSettings(settings, await workspaces.listPlanNames(tx));
    if (flaw !== null) return refuseSetting(flaw);
    // It has no groups yet, as no workspace has that does not exist.
    const refused = await refuseDefaultApprover(tx, "", settings.defaultApprover);
    if (refused !== null) return refused;
    const workspace = await workspaces.insert(tx, settings);
    await activity.insert(tx, {
      workspaceId: workspace.id,
      actor: null,
      action: "workspace.created",
      subject: workspace.name,
      detail: { plan: workspace.plan },
    });
    return workspace;
  });
}

export async function updateWorkspace(
  db: Database,
  id: string,
  changes: Partial<WorkspaceSettings>,
  by: Doer = operator,
): Promise<workspaces.Workspace | ChangeRefusal> {
  return inTurnBy(db, id, by, async (tx, { workspace }) => {
    const settings = { ...workspace, ...changes };
    const flaw = flawOfWorkspaceSettings(settings, await workspaces.listPlanNames(tx));
    if (flaw !== null) return refuseSetting(flaw);
    if (settings.defaultApprover !== workspace.defaultApprover) {
      const refused = await refuseDefaultApprover(tx, id, settings.defaultApprover);
      if (refused !== null) return refused;
    }
    return applySettings(tx, workspace, settings, by.actor);
  });
}

/** Writes settings that were checked, with an entry in the activity if they differ. */
export async function applySettings(
  tx: Transaction,
  workspace: workspaces.Workspace,
  settings: WorkspaceSettings,
  actor: Actor = null,
): Promise<workspaces.Workspace> {
  const detail = changesOf(workspace, settings);
  if (Object.keys(detail).length === 0) return workspace;
  const entry = { workspaceId: workspace.id, actor, subject: settings.name, detail };
  await activity.insert(tx, { ...entry, action: "settings.changed" });
  return workspaces.update(tx, workspace.id, settings);
}

function changesOf(before: WorkspaceSettings, after: WorkspaceSettings): Record<string, string> {
  const were = new Map(Object.entries(tellSettings(before)));
  return Object.fromEntries(
    Object.entries(tellSettings(after))
      .map(([name, is]) => ({ name, is, was: were.get(name) ?? "" }))
      .filter(({ is, was }) => is !== was)
      .map(({ name, is, was }) => [name, fromTo(was, is)]),
  );
}

/** Each setting as the activity shows it. */
function tellSettings(settings: WorkspaceSettings): Record<keyof WorkspaceSettings, string> {
  return {
    name: settings.name,
    plan: settings.plan,
    included: settings.included === null ? "as plan" : String(settings.included),
    cap: settings.cap === null ? "as plan" : String(settings.cap),
    expiryMinutes: String(settings.expiryMinutes),
    reminderPercent: settings.reminderPercent === null ? "off" : String(settings.reminderPercent),
    reviewCode: settings.reviewCode ? "on" : "off",
    defaultApprover: settings.defaultApprover ?? "none",
  };
}

function refuseSetting({ field, message }: SettingFlaw): ChangeRefusal {
  return { ...refuse("validation_error", message), field };
}
