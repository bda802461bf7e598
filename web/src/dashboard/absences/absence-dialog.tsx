// Sets an absence of one's own, or changes it.

import { useMutation } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Absence, NewAbsence } from "../../../../server/src/wire/dashboard-absences.ts";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { Field } from "../forms/field.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { useMe } from "../session/membership.ts";
import {
  absenceOf,
  changesOf,
  type DraftFlaw,
  draftOf,
  isFlaw,
  newDraft,
} from "./absence-draft.ts";
import { AbsenceFields, absenceFields } from "./absence-fields.tsx";

type AbsenceDialogProps = { trigger: ReactElement; absence?: Absence };

export function AbsenceDialog({ trigger, absence }: AbsenceDialogProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog
      title={absence === undefined ? "Add an absence" : "Change your absence"}
      description={
        absence?.hasBegun === true
          ? "It has begun, so only its end can be changed. To have somebody else asked, end it and add another one."
          : "While you are away, a colleague is asked for your decisions in this workspace."
      }
      trigger={trigger}
      open={isOpen}
      onOpenChange={setOpen}
    >
      {(close) => <AbsenceForm absence={absence} onDone={close} />}
    </Dialog>
  );
}

type AbsenceFormProps = { absence: Absence | undefined; onDone: () => void };

function AbsenceForm({ absence, onDone }: AbsenceFormProps) {
  const { workspaces } = useMe();
  const toast = useToast();
  const [workspaceId, setWorkspaceId] = useState(absence?.workspaceId ?? workspaces[0]?.id ?? "");
  const [draft, setDraft] = useState(() =>
    absence === undefined ? newDraft(new Date()) : draftOf(absence),
  );
  const [flaw, setFlaw] = useState<DraftFlaw | null>(null);
  const saving = useMutation({
    mutationFn: (wanted: NewAbsence) =>
      absence === undefined
        ? call("POST /me/workspaces/:workspaceId/absences", {
            params: { workspaceId },
            body: wanted,
          })
        : call("POST /me/absences/:absenceId", {
            params: { absenceId: absence.id },
            body: changesOf(absence, wanted),
          }),
    onSuccess: async () => {
      await refresh("GET /me/absences", "GET /workspaces/:workspaceId/absences");
      toast("Your absence is saved");
      onDone();
    },
  });
  const submit = () => {
    const wanted = absenceOf(draft);
    setFlaw(isFlaw(wanted) ? wanted : null);
    if (!isFlaw(wanted)) saving.mutate(wanted);
  };
  return (
    <DialogForm
      sending={saving}
      fields={absenceFields}
      submitLabel="Save"
      onSubmit={submit}
      onCancel={onDone}
    >
      {absence === undefined && workspaces.length > 1 && (
        <WorkspaceField
          value={workspaceId}
          onChange={(id) => {
            setWorkspaceId(id);
            // Colleagues differ.
            setDraft({ ...draft, delegateEmail: "" });
          }}
        />
      )}
      <AbsenceFields
        workspaceId={workspaceId}
        draft={draft}
        hasBegun={absence?.hasBegun ?? false}
        onChange={(changes) => {
          setFlaw(null);
          setDraft({ ...draft, ...changes });
        }}
        errorAt={(field) =>
          flaw?.field === field ? flaw.message : fieldError(saving.error, field)
        }
      />
    </DialogForm>
  );
}

function WorkspaceField({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { workspaces } = useMe();
  return (
    <Field label="Workspace">
      {(control) => (
        <select
          {...control}
          className="field"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {workspaces.map(({ id, name }) => (
            <option key={id} value={id}>
              {toVisibleText(name)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
