// The form inside a dialog: its fields, the error of the whole form, and the two buttons. It is sent once, no matter
// how often one presses.

import type { FormEvent, ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { otherError } from "../service/api.ts";
import { Problem } from "../states/problem.tsx";
import { DialogActions } from "./dialog.tsx";

type DialogFormProps = {
  /** The form's call: whether it is under way, and why it failed. */
  sending: { isPending: boolean; error: unknown };
  /** Fields that show their own errors. */
  fields: readonly string[];
  /** Names the action. */
  submitLabel: string;
  isDanger?: boolean;
  onSubmit: () => void;
  onCancel: () => void;
  children: ReactNode;
};

export function DialogForm(props: DialogFormProps) {
  const { sending, fields, submitLabel, isDanger = false, onSubmit, onCancel, children } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!sending.isPending) onSubmit();
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      {children}
      <Problem error={otherError(sending.error, fields)} />
      <DialogActions>
        <Button disabled={sending.isPending} onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" variant={isDanger ? "danger" : "primary"} isBusy={sending.isPending}>
          {submitLabel}
        </Button>
      </DialogActions>
    </form>
  );
}
