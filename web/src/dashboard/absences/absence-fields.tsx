// The fields of an absence: its days, and the colleague who is asked instead.

import { Field, TextField } from "../forms/field.tsx";
import { useCall } from "../service/queries.ts";
import { useMe } from "../session/membership.ts";
import type { AbsenceDraft } from "./absence-draft.ts";

export const absenceFields = ["startsAt", "endsAt", "delegateEmail"] as const;

type AbsenceField = (typeof absenceFields)[number];

type AbsenceFieldsProps = {
  workspaceId: string;
  draft: AbsenceDraft;
  /** Once it has begun, only its end can be changed. */
  hasBegun: boolean;
  onChange: (changes: Partial<AbsenceDraft>) => void;
  errorAt: (field: AbsenceField) => string | null;
};

export function AbsenceFields(props: AbsenceFieldsProps) {
  const { workspaceId, draft, hasBegun, onChange, errorAt } = props;
  return (
    <>
      {!hasBegun && (
        <TextField
          label="First day"
          type="date"
          value={draft.firstDay}
          onChange={(event) => onChange({ firstDay: event.currentTarget.value })}
          error={errorAt("startsAt")}
        />
      )}
      <TextField
        label="Last day"
        hint="To the end of that day, in your own time zone."
        type="date"
        min={draft.firstDay}
        value={draft.lastDay}
        onChange={(event) => onChange({ lastDay: event.currentTarget.value })}
        error={errorAt("endsAt")}
      />
      {!hasBegun && (
        <DelegateField
          workspaceId={workspaceId}
          value={draft.delegateEmail}
          onChange={(delegateEmail) => onChange({ delegateEmail })}
          error={errorAt("delegateEmail")}
        />
      )}
    </>
  );
}

type DelegateFieldProps = {
  workspaceId: string;
  value: string;
  onChange: (value: string) => void;
  error: string | null;
};

function DelegateField({ workspaceId, value, onChange, error }: DelegateFieldProps) {
  const { email } = useMe();
  const answer = useCall("GET /workspaces/:workspaceId/colleagues", { params: { workspaceId } });
  const others = (answer.data?.colleagues ?? []).filter(
    (each) => each.toLowerCase() !== email.toLowerCase(),
  );
  // One who left since is shown until another one is chosen.
  const offered = value === "" || others.includes(value) ? others : [value, ...others];
  const isAlone = answer.isSuccess && others.length === 0;
  return (
    <Field
      label="Asked instead"
      hint={
        isAlone
          ? "Nobody else is in this workspace or its groups yet."
          : "They get the mails, which say for whom. You can still decide; together you count once."
      }
      error={
        error ??
        (answer.isError ? "Your colleagues could not be loaded. Close and try again." : null)
      }
    >
      {(control) => (
        <select
          {...control}
          className="field"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <option value="">Choose a colleague</option>
          {offered.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
