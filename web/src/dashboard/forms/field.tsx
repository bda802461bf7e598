// One field of a form: its label, a hint, and its error.

import { type ComponentProps, type ReactNode, useId } from "react";
import { Visible } from "../../look/visible-text.tsx";

/** Props of a control, so that its label, hint and error are read with it. */
export type ControlProps = {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
};

type Question = {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | null | undefined;
};

type FieldProps = Question & { children: (control: ControlProps) => ReactNode };

export function Field({ label, hint, error, children }: FieldProps) {
  const { control, notes } = useQuestion({ label, hint, error });
  return (
    <div className="form-field">
      <label htmlFor={control.id}>{label}</label>
      {children(control)}
      {notes}
    </div>
  );
}

/** One line of text. */
type TextFieldProps = Question & Omit<ComponentProps<"input">, "children" | "id">;

export function TextField({ label, hint, error, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <input {...input} {...control} className="field" />}
    </Field>
  );
}

type TextAreaFieldProps = Question & Omit<ComponentProps<"textarea">, "id">;

export function TextAreaField({ label, hint, error, ...area }: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <textarea {...area} {...control} className="field" />}
    </Field>
  );
}

type CheckFieldProps = Question & Omit<ComponentProps<"input">, "children" | "id" | "type">;

export function CheckField({ label, hint, error, ...input }: CheckFieldProps) {
  const { control, notes } = useQuestion({ label, hint, error });
  return (
    <div className="check-field">
      <input {...input} {...control} type="checkbox" />
      <div className="check-words">
        <label htmlFor={control.id}>{label}</label>
        {notes}
      </div>
    </div>
  );
}

function useQuestion({ hint, error }: Question): { control: ControlProps; notes: ReactNode } {
  const id = useId();
  const hasHint = hint !== undefined && hint !== null;
  const hasError = error !== undefined && error !== null && error !== "";
  const told = [hasError ? `${id}-error` : "", hasHint ? `${id}-hint` : ""].filter(Boolean);
  const notes = (
    <>
      {hasError && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {/* It may repeat what was typed. */}
          <Visible text={error} />
        </p>
      )}
      {hasHint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </>
  );
  const control: ControlProps = {
    id,
    "aria-describedby": told.length === 0 ? undefined : told.join(" "),
    "aria-invalid": hasError ? true : undefined,
  };
  return { control, notes };
}
