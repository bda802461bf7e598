// A workspace on the dashboard: its facts, its settings, and its activity.

import { z } from "zod";
import { activityPageMax } from "../../domain/limits.ts";
import { isRefusal, refuse } from "../../domain/refusal.ts";
import { updateWorkspace } from "../../operations/workspaces/manage-workspace.ts";
import * as storedActivity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import type { Activity } from "../../wire/dashboard-activity.ts";
import type { Page, Workspace } from "../../wire/dashboard-contract.ts";
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

/** A field that is present without a value would undo the setting. */
function given({
  name,
  expiryMinutes,
  reminderPercent,
  reviewCode,
  cap,
  defaultApprover,
}: z.infer<typeof settings>) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(expiryMinutes === undefined ? {} : { expiryMinutes }),
    ...(reminderPercent === undefined ? {} : { reminderPercent }),
    ...(reviewCode === undefined ? {} : { reviewCode }),
    ...(cap === undefined ? {} : { cap }),
    ...(defaultApprover === undefined ? {} : { defaultApprover }),
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
