// The settings of a workspace, and their bounds.

import { defaultReminderPercent, reminderPercentMax } from "../limits.ts";
import {
  defaultExpiryMinutes,
  receiptHoursMax,
  retentionDaysMax,
  retentionDaysMin,
  ttlMinutesMax,
  ttlMinutesMin,
} from "../shown/field-limits.ts";
import { type ApproverLimit, approverLimits, flawOfApproverDomains } from "./approver-limit.ts";
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
  /** Whom agents may ask. Null until somebody chooses, which means anybody. */
  approverLimit: ApproverLimit | null;
  /** For the limit to domains. Kept when another limit is chosen, so that it can be chosen again. */
  approverDomains: readonly string[];
  /** To whom somebody who is asked may pass their vote on. */
  handOver: HandOver;
} & ProofSettings;

/** What others rely on as proof. Only owners change it. */
export type ProofSettings = {
  /** Nobody approves without a passkey. Holds for requests that are created from then on. */
  requiresSignature: boolean;
  /** How long receipts are valid. */
  receiptHours: number;
  /** Requests that ended longer ago are deleted. Null keeps them for ever. */
  retentionDays: number | null;
};

export const proofSettings = [
  "requiresSignature",
  "receiptHours",
  "retentionDays",
] as const satisfies readonly (keyof ProofSettings)[];

export const handOvers = ["off", "group", "workspace"] as const;

/** Nobody, members of the group that is asked, or everybody of the workspace and its groups. */
export type HandOver = (typeof handOvers)[number];

export const initialSettings: Omit<WorkspaceSettings, "name"> = {
  plan: "unlimited",
  included: null,
  cap: null,
  expiryMinutes: defaultExpiryMinutes,
  reminderPercent: defaultReminderPercent,
  reviewCode: false,
  defaultApprover: null,
  approverLimit: null,
  approverDomains: [],
  handOver: "workspace",
  requiresSignature: false,
  receiptHours: 24,
  retentionDays: null,
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
  return flawOfAsking(settings) ?? flawOfProof(settings);
}

function flawOfAsking({
  approverLimit,
  approverDomains,
  handOver,
}: WorkspaceSettings): SettingFlaw | null {
  if (approverLimit !== null && !approverLimits.includes(approverLimit)) {
    const message = `approverLimit: must be one of ${approverLimits.join(", ")}`;
    return { field: "approverLimit", message };
  }
  const flaw =
    approverLimit === "domains" && approverDomains.length === 0
      ? "must name at least one domain, or agents can ask nobody"
      : flawOfApproverDomains(approverDomains);
  if (flaw !== null) return { field: "approverDomains", message: `approverDomains: ${flaw}` };
  if (handOvers.includes(handOver)) return null;
  return { field: "handOver", message: `handOver: must be one of ${handOvers.join(", ")}` };
}

function flawOfProof({ receiptHours, retentionDays }: WorkspaceSettings): SettingFlaw | null {
  if (!isWhole(receiptHours, 1, receiptHoursMax)) {
    const message = `receiptHours: must be a whole number of hours from 1 to ${receiptHoursMax}`;
    return { field: "receiptHours", message };
  }
  if (retentionDays === null || isWhole(retentionDays, retentionDaysMin, retentionDaysMax)) {
    return null;
  }
  const message = `retentionDays: must be a whole number of days from ${retentionDaysMin} to ${retentionDaysMax}, or none`;
  return { field: "retentionDays", message };
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
