// A workspace on the dashboard: its facts, its settings, and its activity.

import { z } from "zod";
import { activityPageMax } from "../../domain/limits.ts";
import { isRefusal, refuse } from "../../domain/refusal.ts";
import { approverLimits } from "../../domain/workspace/approver-limit.ts";
import { handOvers } from "../../domain/workspace/workspace-settings.ts";
import { updateWorkspace } from "../../operations/workspaces/manage-workspace.ts";
import * as storedActivity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import type { Activity } from "../../wire/dashboard-activity.ts";
import type { Page } from "../../wire/dashboard-contract.ts";
import type { Workspace } from "../../wire/dashboard-settings.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  type MemberVisit,
  readForm,
} from "./visit.ts";

export async function show(
  { db, origin }: DashboardCalls,
  { workspaceId, role }: MemberVisit,
): Promise<Workspace | DashboardRefusal> {
  const workspace = await workspaces.findInUse(db, workspaceId);
  if (workspace === null) return refuse("not_found", "There is no such workspace.");
  return {
    id: workspace.id,
    name: workspace.name,
    plan: workspace.plan,
    hasGroups: workspace.hasGroups,
    expiryMinutes: workspace.expiryMinutes,
    reminderPercent: workspace.reminderPercent,
    reviewCode: workspace.reviewCode,
    defaultApprover: workspace.defaultApprover,
    approverLimit: workspace.approverLimit,
    approverDomains: [...workspace.approverDomains],
    handOver: workspace.handOver,
    requiresSignature: workspace.requiresSignature,
    receiptHours: workspace.receiptHours,
    retentionDays: workspace.retentionDays,
    cap: workspace.cap,
    role,
    createdAt: workspace.createdAt.toISOString(),
    isEmpty: workspace.isEmpty,
    apiUrl: origin.publicUrl,
  };
}

/** Only the operator sets the plan and the included volume, so other fields of the form are ignored. */
const settings = z.object({
  name: z.string().optional(),
  expiryMinutes: z.number().optional(),
  reminderPercent: z.number().nullable().optional(),
  reviewCode: z.boolean().optional(),
  cap: z.number().nullable().optional(),
  defaultApprover: z.string().nullable().optional(),
  approverLimit: z.enum(approverLimits, `must be one of ${approverLimits.join(", ")}`).optional(),
  approverDomains: z.array(z.string()).optional(),
  handOver: z.enum(handOvers, `must be one of ${handOvers.join(", ")}`).optional(),
});

export async function changeSettings(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<Workspace | DashboardRefusal> {
  const form = readForm(visit.call, settings);
  if (isRefusal(form)) return form;
  const { workspaceId } = visit;
  const changed = await updateWorkspace(calls.db, workspaceId, given(form), doerOf(visit));
  return isRefusal(changed) ? tellRefusal(changed) : show(calls, visit);
}

const proof = z.object({
  requiresSignature: z.boolean().optional(),
  receiptHours: z.number().optional(),
  retentionDays: z.number().nullable().optional(),
});

export async function changeProof(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<Workspace | DashboardRefusal> {
  const form = readForm(visit.call, proof);
  if (isRefusal(form)) return form;
  const { requiresSignature, receiptHours, retentionDays } = form;
  const changes = {
    ...(requiresSignature === undefined ? {} : { requiresSignature }),
    ...(receiptHours === undefined ? {} : { receiptHours }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
  };
  const changed = await updateWorkspace(calls.db, visit.workspaceId, changes, doerOf(visit));
  return isRefusal(changed) ? tellRefusal(changed) : show(calls, visit);
}

/** A field that is present without a value would undo the setting. */
function given({
  name,
  expiryMinutes,
  reminderPercent,
  reviewCode,
  cap,
  defaultApprover,
  approverLimit,
  approverDomains,
  handOver,
}: z.infer<typeof settings>) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(expiryMinutes === undefined ? {} : { expiryMinutes }),
    ...(reminderPercent === undefined ? {} : { reminderPercent }),
    ...(reviewCode === undefined ? {} : { reviewCode }),
    ...(cap === undefined ? {} : { cap }),
    ...(defaultApprover === undefined ? {} : { defaultApprover }),
    ...(approverLimit === undefined ? {} : { approverLimit }),
    ...(approverDomains === undefined ? {} : { approverDomains }),
    ...(handOver === undefined ? {} : { handOver }),
  };
}

const cursorPattern = /^act_[0-9a-f]{32}$/;

export async function activity(
  { db }: DashboardCalls,
  { call, workspaceId }: MemberVisit,
): Promise<Page<Activity> | DashboardRefusal> {
  const beforeId = call.query.get("cursor");
  if (beforeId !== null && !cursorPattern.test(beforeId)) {
    return refuse("validation_error", "cursor: begin again from the first page.");
  }
  const limit = activityPageMax + 1;
  const found = await storedActivity.list(db, { workspaceId, beforeId, limit });
  const items = found.slice(0, activityPageMax).map(toActivity);
  const nextCursor = found.length > activityPageMax ? (items.at(-1)?.id ?? null) : null;
  return { items, nextCursor };
}

function toActivity({ id, at, actor, action, subject, detail }: storedActivity.Activity): Activity {
  return { id, at: at.toISOString(), actorEmail: actor, action, subject, detail };
}
