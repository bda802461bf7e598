// Unsaved settings, kept apart from the service's answer. So a setting that somebody else changes in the meantime is
// neither lost nor overwritten: only typed fields are sent.

import type { Settings } from "../../../../server/src/wire/dashboard-contract.ts";

/** As the fields hold it: numbers as typed, and null for a setting that is switched off. */
export type SettingsForm = {
  name: string;
  expiryMinutes: string;
  reminderPercent: string | null;
  reviewCode: boolean;
  cap: string | null;
  /** Empty is nobody. */
  defaultApprover: string;
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
  };
}

/** The fields of the draft that differ from the saved ones. */
export function changedFields(saved: Settings, draft: SettingsDraft): SettingsField[] {
  const form = formOf(saved);
  return fieldsOf(form).filter((field) => field in draft && draft[field] !== form[field]);
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
];

function fieldsOf(form: SettingsForm): SettingsField[] {
  return settingsFields.filter((field) => field in form);
}
