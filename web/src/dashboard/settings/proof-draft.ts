// Unsaved settings of what others rely on as proof. Only typed fields are sent.

import type { ProofSettings } from "../../../../server/src/wire/dashboard-settings.ts";
import { numberOf } from "./settings-draft.ts";

/** As the fields hold it: numbers as typed, and null for what is switched off. */
export type ProofForm = {
  requiresSignature: boolean;
  receiptHours: string;
  retentionDays: string | null;
};

export type ProofDraft = Partial<ProofForm>;
export type ProofField = keyof ProofForm;
export type ProofFlaw = { flawed: ProofField; message: string };

export const proofFields: readonly ProofField[] = [
  "requiresSignature",
  "receiptHours",
  "retentionDays",
];

export function proofFormOf(saved: ProofSettings): ProofForm {
  const { requiresSignature, receiptHours, retentionDays } = saved;
  return {
    requiresSignature,
    receiptHours: String(receiptHours),
    retentionDays: retentionDays === null ? null : String(retentionDays),
  };
}

export function changedProof(saved: ProofSettings, draft: ProofDraft): ProofField[] {
  const form = proofFormOf(saved);
  return proofFields.filter((field) => field in draft && draft[field] !== form[field]);
}

/** The body to send, or the field without a number. The service checks the bounds. */
export function proofChangesOf(
  saved: ProofSettings,
  draft: ProofDraft,
): Partial<ProofSettings> | ProofFlaw {
  const form = { ...proofFormOf(saved), ...draft };
  const changed = changedProof(saved, draft);
  const hours = numberOf(form.receiptHours);
  const days = numberOf(form.retentionDays);
  if (changed.includes("receiptHours") && typeof hours !== "number") return flaw("receiptHours");
  if (changed.includes("retentionDays") && days === undefined) return flaw("retentionDays");
  return {
    ...(changed.includes("requiresSignature") ? { requiresSignature: form.requiresSignature } : {}),
    ...(changed.includes("receiptHours") && typeof hours === "number"
      ? { receiptHours: hours }
      : {}),
    ...(changed.includes("retentionDays") && days !== undefined ? { retentionDays: days } : {}),
  };
}

/** Saving this deletes requests that would have stayed. */
export function deletesMore(saved: ProofSettings, draft: ProofDraft): boolean {
  const days = numberOf({ ...proofFormOf(saved), ...draft }.retentionDays);
  if (typeof days !== "number") return false;
  return saved.retentionDays === null || days < saved.retentionDays;
}

function flaw(flawed: ProofField): ProofFlaw {
  return { flawed, message: "Type a whole number in digits." };
}
