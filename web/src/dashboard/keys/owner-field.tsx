// The field for the owner of a key.

import { TextField } from "../forms/field.tsx";

type OwnerFieldProps = { value: string; onChange: (value: string) => void; error: string | null };

export function OwnerField({ value, onChange, error }: OwnerFieldProps) {
  return (
    <TextField
      label="Owner (optional)"
      hint="The e-mail address of the person behind the agent. They never approve what this key asks for, no matter what the agent says about itself. This holds at once, also for requests that wait."
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      placeholder="Nobody"
      autoComplete="off"
      spellCheck={false}
      inputMode="email"
    />
  );
}
