// Creates workspaces and changes their settings.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import { type Actor, type Doer, differences, operator } from "../../domain/workspace/activity.ts";
import { normaliseApproverDomains } from "../../domain/workspace/approver-limit.ts";
import {
  flawOfWorkspaceSettings,
  initialSettings,
  proofSettings,
  type SettingFlaw,
  type WorkspaceSettings,
} from "../../domain/workspace/workspace-settings.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import { refuseDefaultApprover } from "../people/default-approvers.ts";
import { inTurnBy, refuseUnlessOwner } from "../transaction-by.ts";

export type WorkspaceInput = Pick<WorkspaceSettings, "name"> & Partial<WorkspaceSettings>;

export async function createWorkspace(
  db: Database,
  input: WorkspaceInput,
): Promise<workspaces.Workspace | ChangeRefusal> {
  const settings = normalised({ ...initialSettings, ...input });
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
  return inTurnBy(db, id, by, async (tx, { workspace, doer }) => {
    const settings = normalised({ ...workspace, ...changes });
    const isOfProof = proofSettings.some((name) => settings[name] !== workspace[name]);
    const forbidden = isOfProof
      ? refuseUnlessOwner(doer, "change signatures, receipts and retention")
      : null;
    if (forbidden !== null) return forbidden;
    const flaw = flawOfWorkspaceSettings(settings, await workspaces.listPlanNames(tx));
    if (flaw !== null) return refuseSetting(flaw);
    if (settings.defaultApprover !== workspace.defaultApprover) {
      const refused = await refuseDefaultApprover(tx, id, settings.defaultApprover);
      if (refused !== null) return refused;
    }
    return applySettings(tx, workspace, settings, by.actor);
  });
}

function normalised(settings: WorkspaceSettings): WorkspaceSettings {
  return { ...settings, approverDomains: normaliseApproverDomains(settings.approverDomains) };
}

/** Writes settings that were checked, with an entry in the activity if they differ. */
export async function applySettings(
  tx: Transaction,
  workspace: workspaces.Workspace,
  settings: WorkspaceSettings,
  actor: Actor = null,
): Promise<workspaces.Workspace> {
  const detail = differences(tellSettings(workspace), tellSettings(settings));
  if (Object.keys(detail).length === 0) return workspace;
  const entry = { workspaceId: workspace.id, actor, subject: settings.name, detail };
  await activity.insert(tx, { ...entry, action: "settings.changed" });
  return workspaces.update(tx, workspace.id, settings);
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
    approverLimit: settings.approverLimit ?? "anybody, by default",
    approverDomains: settings.approverDomains.join(", ") || "none",
    handOver: settings.handOver,
    requiresSignature: settings.requiresSignature ? "on" : "off",
    receiptHours: String(settings.receiptHours),
    retentionDays: settings.retentionDays === null ? "for ever" : String(settings.retentionDays),
  };
}

function refuseSetting({ field, message }: SettingFlaw): ChangeRefusal {
  return { ...refuse("validation_error", message), field };
}
