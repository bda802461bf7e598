// The settings of a workspace, and their bounds.

import { reminderPercentMax } from "../limits.ts";
import { ttlMinutesMax, ttlMinutesMin } from "../shown/field-limits.ts";
import { flawOfName } from "./name.ts";
import { parseNotify } from "./notify.ts";

export type WorkspaceSettings = {
  name: string;
  plan: string;
  /** Its own numbers in place of its plan's; null means the plan's. */
  included: number | null;
  cap: number | null;
  expiryMinutes: number;
  /** Reviewers are reminded when this share of the time is left; null is never. */
  reminderPercent: number | null;
  /** Reviewers type a code that is printed in their mail. Links made before it was turned on ask for none. */
  reviewCode: boolean;
  /** Whom MCP asks when an agent names nobody: an address or group:<key>; null is nobody. */
  defaultApprover: string | null;
};

const volumeMax = 2_000_000_000;

export type SettingFlaw = { field: keyof WorkspaceSettings; message: string };

/** Says what is wrong with the settings of a workspace, or null when they are fine. */
export function flawOfWorkspaceSettings(
  settings: WorkspaceSettings,
  planNames: readonly string[],
): SettingFlaw | null {
  const nameFlaw = flawOfName(settings.name);
  if (nameFlaw !== null) return { field: "name", message: `name: ${nameFlaw}` };
  if (!planNames.includes(settings.plan)) {
    return { field: "plan", message: `plan: must be one of ${planNames.join(", ")}` };
  }
  if (!isVolume(settings.included)) {
    return { field: "included", message: `included: ${volumeRule}` };
  }
  if (!isVolume(settings.cap)) return { field: "cap", message: `cap: ${volumeRule}` };
  if (!isWhole(settings.expiryMinutes, ttlMinutesMin, ttlMinutesMax)) {
    const message = `expiry: must be a whole number of minutes from ${ttlMinutesMin} to ${ttlMinutesMax}`;
    return { field: "expiryMinutes", message };
  }
  const { reminderPercent } = settings;
  if (reminderPercent !== null && !isWhole(reminderPercent, 1, reminderPercentMax)) {
    const message = `reminder: must be a whole number of per cent from 1 to ${reminderPercentMax}, or off`;
    return { field: "reminderPercent", message };
  }
  const approverFlaw = flawOfDefaultApprover(settings.defaultApprover);
  if (approverFlaw !== null) {
    return { field: "defaultApprover", message: `defaultApprover: ${approverFlaw}` };
  }
  return null;
}

/** Says what is wrong with the form of a default approver of a workspace or key, or null when it is fine. */
export function flawOfDefaultApprover(approver: string | null): string | null {
  if (approver === null) return null;
  const named = parseNotify(approver);
  return "flaw" in named ? named.flaw : null;
}

const volumeRule = `must be a whole number from 0 to ${volumeMax}`;

function isVolume(value: number | null): boolean {
  return value === null || isWhole(value, 0, volumeMax);
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
