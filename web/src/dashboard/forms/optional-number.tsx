// A number that can be switched off. The typed number comes back when it is switched on again.

import { type ReactNode, useId, useState } from "react";
import { Field } from "./field.tsx";
import "./optional-number.css";

type OptionalNumberProps = {
  label: string;
  hint: ReactNode;
  error: string | null;
  /** Null is off. */
  value: string | null;
  onChange: (value: string | null) => void;
  switchLabel: string;
  unit: string;
  /** The number when it is switched on for the first time. */
  first: string;
};

export function OptionalNumber(props: OptionalNumberProps) {
  const { label, hint, error, value, onChange, switchLabel, unit, first } = props;
  const [last, setLast] = useState(value ?? first);
  const unitId = useId();
  const turn = (isOn: boolean) => {
    if (value !== null) setLast(value);
    onChange(isOn ? last : null);
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div className="optional-number">
          <label className="switch-label">
            <input
              type="checkbox"
              checked={value !== null}
              onChange={(event) => turn(event.currentTarget.checked)}
            />
            {switchLabel}
          </label>
          <span className="with-unit">
            <input
              {...control}
              aria-describedby={`${unitId} ${control["aria-describedby"] ?? ""}`}
              className="field number-field"
              inputMode="numeric"
              autoComplete="off"
              disabled={value === null}
              value={value ?? ""}
              onChange={(event) => onChange(event.currentTarget.value)}
            />
            <span className="unit" id={unitId}>
              {unit}
            </span>
          </span>
        </div>
      )}
    </Field>
  );
}
