// Unsaved settings, kept apart from the service's answer. So a setting that somebody else changes in the meantime is
// neither lost nor overwritten: only typed fields are sent.

import type { Settings } from "../../../../server/src/wire/dashboard-settings.ts";

/** As the fields hold it: numbers as typed, and null for a setting that is switched off. */
export type SettingsForm = {
  name: string;
  expiryMinutes: string;
  reminderPercent: string | null;
  reviewCode: boolean;
  cap: string | null;
  /** Empty is nobody. */
  defaultApprover: string;
  /** Empty while nobody has chosen. */
  approverLimit: "" | NonNullable<Settings["approverLimit"]>;
  /** As typed: one a line, or with commas. */
  approverDomains: string;
  handOver: Settings["handOver"];
};

export type SettingsDraft = Partial<SettingsForm>;

export type SettingsField = keyof SettingsForm;

export function formOf(saved: Settings): SettingsForm {
  return {
    name: saved.name,
    expiryMinutes: String(saved.expiryMinutes),
    reminderPercent: saved.reminderPercent === null ? null : String(saved.reminderPercent),
    reviewCode: saved.reviewCode,
    cap: saved.cap === null ? null : String(saved.cap),
    defaultApprover: saved.defaultApprover ?? "",
    approverLimit: saved.approverLimit ?? "",
    approverDomains: saved.approverDomains.join("\n"),
    handOver: saved.handOver,
  };
}

/** The fields of the draft that differ from the saved ones. */
export function changedFields(saved: Settings, draft: SettingsDraft): SettingsField[] {
  const form = formOf(saved);
  const { approverLimit } = { ...form, ...draft };
  return settingsFields.filter(
    (field) =>
      field in draft &&
      draft[field] !== form[field] &&
      // The page shows them with this limit alone.
      (field !== "approverDomains" || approverLimit === "domains"),
  );
}

export type DraftFlaw = { field: SettingsField; message: string };

/** The body to send, or the field without a number. The service checks the bounds. */
export function changesOf(saved: Settings, draft: SettingsDraft): Partial<Settings> | DraftFlaw {
  const form = { ...formOf(saved), ...draft };
  const changes: Partial<Settings> = {};
  for (const field of changedFields(saved, draft)) {
    switch (field) {
      case "name":
        changes.name = form.name;
        break;
      case "reviewCode":
        changes.reviewCode = form.reviewCode;
        break;
      case "defaultApprover":
        changes.defaultApprover = form.defaultApprover.trim() || null;
        break;
      case "approverLimit":
        if (form.approverLimit !== "") changes.approverLimit = form.approverLimit;
        break;
      case "approverDomains":
        changes.approverDomains = domainsOf(form.approverDomains);
        break;
      case "handOver":
        changes.handOver = form.handOver;
        break;
      default: {
        const number = numberOf(form[field]);
        if (number === undefined) return { field, message: "Type a whole number in digits." };
        if (field !== "expiryMinutes") changes[field] = number;
        else if (number !== null) changes.expiryMinutes = number;
      }
    }
  }
  return changes;
}

export function isFlaw(changes: Partial<Settings> | DraftFlaw): changes is DraftFlaw {
  return "field" in changes;
}

/** People write @example.com, too. */
function domainsOf(typed: string): string[] {
  return typed
    .split(/[\s,;]+/)
    .map((domain) => domain.replace(/^@/, ""))
    .filter((domain) => domain !== "");
}

/** Undefined is no number at all, null is off. */
export function numberOf(text: string | null): number | null | undefined {
  if (text === null) return null;
  const digits = text.trim();
  return /^[0-9]{1,15}$/.test(digits) ? Number(digits) : undefined;
}

export const settingsFields: readonly SettingsField[] = [
  "name",
  "expiryMinutes",
  "reminderPercent",
  "reviewCode",
  "cap",
  "defaultApprover",
  "approverLimit",
  "approverDomains",
  "handOver",
];
