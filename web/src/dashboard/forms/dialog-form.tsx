// The form inside a dialog: its questions, what went wrong with it as a whole, and the two buttons at its end. Sent
// once, however often one presses.

import type { FormEvent, ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { otherError } from "../service/api.ts";
import { Problem } from "../states/problem.tsx";
import { DialogActions } from "./dialog.tsx";

type DialogFormProps = {
  /** The call that it makes: whether it is under way, and why it failed. */
  sending: { isPending: boolean; error: unknown };
  /** Those whose errors are said beside them. */
  fields: readonly string[];
  /** Names the deed. */
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
