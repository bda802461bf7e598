// The field for a key's own default approver.

import { TextField } from "../forms/field.tsx";

type ApproverFieldProps = {
  value: string;
  onChange: (value: string) => void;
  error: string | null;
  autoFocus?: boolean;
};

export function ApproverField({ value, onChange, error, autoFocus = false }: ApproverFieldProps) {
  return (
    <TextField
      label="Default approver (optional)"
      hint="Asked when an agent with this key that uses the MCP tools names nobody. An e-mail address, or a group such as group:finance. Empty asks the workspace’s default approver."
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      placeholder="As in the settings"
      autoComplete="off"
      spellCheck={false}
      autoFocus={autoFocus}
    />
  );
}
