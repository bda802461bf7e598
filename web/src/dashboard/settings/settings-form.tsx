// The settings of a workspace, each with its effect, saved with one button. Typed values are kept until then.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Settings, Workspace } from "../../../../server/src/wire/dashboard-settings.ts";
import { CheckField, Field, TextField } from "../forms/field.tsx";
import { OptionalNumber } from "../forms/optional-number.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError, otherError } from "../service/api.ts";
import { queryClient, queryFor, refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";
import { AskingFields } from "./asking-fields.tsx";
import { useKeptDraft } from "./kept-draft.ts";
import {
  changedFields,
  changesOf,
  type DraftFlaw,
  formOf,
  isFlaw,
  numberOf,
  type SettingsField,
  type SettingsForm as SettingsFormState,
  settingsFields,
} from "./settings-draft.ts";
import { SettingsFoot } from "./settings-foot.tsx";
import { describeMinutes } from "./time-span.ts";

export function SettingsForm({ workspace }: { workspace: Workspace }) {
  const [draft, setDraft] = useKeptDraft<SettingsFormState>(`settings.${workspace.id}`);
  const [flaw, setFlaw] = useState<DraftFlaw | null>(null);
  const toast = useToast();
  const saving = useMutation({
    mutationFn: (body: Partial<Settings>) =>
      call("POST /workspaces/:workspaceId/settings", {
        params: { workspaceId: workspace.id },
        body,
      }),
    onSuccess: async (saved) => {
      const params = { workspaceId: saved.id };
      queryClient.setQueryData(
        queryFor("GET /workspaces/:workspaceId", { params }).queryKey,
        saved,
      );
      setDraft({});
      toast("The settings are saved");
      // The shell shows the name, and the usage shows the cap.
      await refresh("GET /me", "GET /workspaces/:workspaceId/usage");
    },
  });
  const form = { ...formOf(workspace), ...draft };
  const changed = changedFields(workspace, draft);
  const change = (changes: Partial<SettingsFormState>) => {
    setFlaw(null);
    setDraft({ ...draft, ...changes });
  };
  const errorAt = (field: SettingsField) =>
    flaw?.field === field ? flaw.message : fieldError(saving.error, field);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (saving.isPending || changed.length === 0) return;
    const changes = changesOf(workspace, draft);
    if (isFlaw(changes)) setFlaw(changes);
    else saving.mutate(changes);
  };
  const discard = () => {
    setFlaw(null);
    setDraft({});
    saving.reset();
  };
  return (
    <form className="settings" onSubmit={submit} noValidate>
      <TextField
        label="Name"
        hint="Approvers read it in every mail and on the review page."
        value={form.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={errorAt("name")}
        autoComplete="off"
      />
      <Field
        label="Default expiry"
        hint="How long a request waits when the agent sets no expiry. From 5 minutes to 7 days."
        error={errorAt("expiryMinutes")}
      >
        {(control) => (
          <span className="with-unit">
            <input
              {...control}
              className="field number-field"
              inputMode="numeric"
              autoComplete="off"
              value={form.expiryMinutes}
              onChange={(event) => change({ expiryMinutes: event.currentTarget.value })}
            />
            <output className="unit" htmlFor={control.id}>
              minutes{said(form.expiryMinutes)}
            </output>
          </span>
        )}
      </Field>
      <OptionalNumber
        label="Reminder"
        hint="Approvers who haven’t decided get one more mail when this share of the time is left."
        error={errorAt("reminderPercent")}
        value={form.reminderPercent}
        onChange={(reminderPercent) => change({ reminderPercent })}
        switchLabel="Remind"
        unit={`% of the time left${reminderSaid(form)}`}
        first="10"
      />
      <CheckField
        label="Review code"
        hint="Approvers also type six characters from their mail, so a forwarded or leaked link alone opens nothing. Links mailed before this was on ask for no code."
        checked={form.reviewCode}
        onChange={(event) => change({ reviewCode: event.currentTarget.checked })}
        error={errorAt("reviewCode")}
      />
      <TextField
        label="Default approver"
        hint="Asked when an agent that uses the MCP tools names nobody. An e-mail address, or a group such as group:finance. A key can have its own, under API keys. Without one, such an agent is refused."
        value={form.defaultApprover}
        onChange={(event) => change({ defaultApprover: event.currentTarget.value })}
        error={errorAt("defaultApprover")}
        placeholder="Nobody"
        autoComplete="off"
        spellCheck={false}
      />
      <AskingFields form={form} onChange={change} errorAt={errorAt} />
      <OptionalNumber
        label="Safety cap"
        hint="The most requests a month. Further ones are refused with quota_exceeded. It protects you from an agent that runs wild. When off, the plan decides."
        error={errorAt("cap")}
        value={form.cap}
        onChange={(cap) => change({ cap })}
        switchLabel="Limit"
        unit="requests a month"
        first="10000"
      />
      <Problem error={otherError(saving.error, settingsFields)} />
      <SettingsFoot changes={changed.length} isSaving={saving.isPending} onDiscard={discard} />
    </form>
  );
}

function said(minutes: string): string {
  const number = numberOf(minutes);
  return typeof number === "number" && number >= 60 ? `: ${describeMinutes(number)}` : "";
}

function reminderSaid({ reminderPercent, expiryMinutes }: SettingsFormState): string {
  const [percent, minutes] = [numberOf(reminderPercent), numberOf(expiryMinutes)];
  if (typeof percent !== "number" || typeof minutes !== "number") return "";
  if (percent < 1 || percent > 100) return "";
  return `: ${describeMinutes(Math.round((minutes * percent) / 100))} before the end`;
}
