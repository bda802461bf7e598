// The settings of what others rely on as proof. Only owners change them, so they are saved apart from the others.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  receiptHoursMax,
  retentionDaysMax,
  retentionDaysMin,
} from "../../../../server/src/domain/shown/field-limits.ts";
import type { ProofSettings, Workspace } from "../../../../server/src/wire/dashboard-settings.ts";
import { describeCount } from "../../look/shares.ts";
import { CheckField, Field } from "../forms/field.tsx";
import { OptionalNumber } from "../forms/optional-number.tsx";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError, otherError } from "../service/api.ts";
import { queryClient, queryFor, refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";
import { useKeptDraft } from "./kept-draft.ts";
import {
  changedProof,
  deletesMore,
  type ProofField,
  type ProofFlaw,
  type ProofForm as ProofFormState,
  proofChangesOf,
  proofFields,
  proofFormOf,
} from "./proof-draft.ts";
import { SettingsFoot } from "./settings-foot.tsx";

export function ProofForm({ workspace }: { workspace: Workspace }) {
  const [draft, setDraft] = useKeptDraft<ProofFormState>(`proof.${workspace.id}`);
  const [flaw, setFlaw] = useState<ProofFlaw | null>(null);
  const saving = useSaving(workspace.id, () => setDraft({}));
  const form = { ...proofFormOf(workspace), ...draft };
  const changed = changedProof(workspace, draft);
  const change = (changes: Partial<ProofFormState>) => {
    setFlaw(null);
    setDraft({ ...draft, ...changes });
  };
  const errorAt = (field: ProofField) =>
    flaw?.flawed === field ? flaw.message : fieldError(saving.error, field);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (saving.isPending || changed.length === 0) return;
    const changes = proofChangesOf(workspace, draft);
    if ("flawed" in changes) setFlaw(changes);
    else saving.mutate(changes);
  };
  const discard = () => {
    setFlaw(null);
    setDraft({});
    saving.reset();
  };
  return (
    <section className="settings-part" aria-labelledby="proof-settings-title">
      <h2 id="proof-settings-title">Proof</h2>
      <form className="settings" onSubmit={submit} noValidate>
        <CheckField
          label="Approving needs a passkey"
          hint="Approvers sign each approval with a passkey of their own. Rejecting needs none. Holds for requests created from now on: those that are waiting don’t change. Somebody without a passkey adds one in their inbox first."
          checked={form.requiresSignature}
          onChange={(event) => change({ requiresSignature: event.currentTarget.checked })}
          error={errorAt("requiresSignature")}
        />
        <Field
          label="Receipts are valid for"
          hint={`How long a program may act on a receipt, counted from the decision. From 1 to ${describeCount(receiptHoursMax)} hours. Receipts that were already made don’t change.`}
          error={errorAt("receiptHours")}
        >
          {(control) => (
            <span className="with-unit">
              <input
                {...control}
                className="field number-field"
                inputMode="numeric"
                autoComplete="off"
                value={form.receiptHours}
                onChange={(event) => change({ receiptHours: event.currentTarget.value })}
              />
              <span className="unit">hours</span>
            </span>
          )}
        </Field>
        <OptionalNumber
          label="Delete requests"
          hint={`Deletes requests for good, with payload, decision, evidence and receipt. The log keeps that there was a request, and no longer what it was. From ${retentionDaysMin} to ${describeCount(retentionDaysMax)} days. When off, requests are kept.`}
          error={errorAt("retentionDays")}
          value={form.retentionDays}
          onChange={(retentionDays) => change({ retentionDays })}
          switchLabel="Delete"
          unit="days after they ended"
          first="365"
        />
        {deletesMore(workspace, draft) && (
          <p className="settings-warning" role="status">
            <Icon name="alert" />
            <span>
              Once you save this, requests that ended longer ago are deleted, and nobody can bring
              them back. Export what you have to keep first.
            </span>
          </p>
        )}
        <Problem error={otherError(saving.error, proofFields)} />
        <SettingsFoot
          changes={changed.length}
          isSaving={saving.isPending}
          onDiscard={discard}
          words={{ save: "Save proof settings", saved: "Proof settings saved." }}
        />
      </form>
    </section>
  );
}

function useSaving(workspaceId: string, onSaved: () => void) {
  const toast = useToast();
  const params = { workspaceId };
  return useMutation({
    mutationFn: (body: Partial<ProofSettings>) =>
      call("POST /workspaces/:workspaceId/proof", { params, body }),
    onSuccess: async (saved) => {
      const { queryKey } = queryFor("GET /workspaces/:workspaceId", { params });
      queryClient.setQueryData(queryKey, saved);
      onSaved();
      toast("The settings are saved");
      await refresh();
    },
  });
}
