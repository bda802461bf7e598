// The less frequent filters: agent, approver and time.

import { useId } from "react";
import { toVisibleText } from "../../../../../server/src/domain/shown/text/visible-text.ts";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import { type ChosenFilter, dayOf, endOfDay, lastDayBefore, startOfDay } from "./filter-state.ts";
import { useTyped } from "./use-typed.ts";

const unnamed = "(no name)";

type MoreFiltersProps = {
  id: string;
  filter: ChosenFilter;
  /** The loaded rows: their names can be picked instead of typed. */
  rows: readonly RequestRow[];
  onChange: (
    changes: Partial<Record<"agent" | "approver" | "from" | "to", string | undefined>>,
  ) => void;
};

export function MoreFilters({ id, filter, rows, onChange }: MoreFiltersProps) {
  const { agent, approver, from, to } = filter;
  return (
    <div className="requests-more" id={id}>
      <NamedField
        label="Agent"
        hint="Exact name"
        value={agent === "" ? unnamed : (agent ?? "")}
        suggestions={[unnamed, ...namesIn(rows.map(({ agentName }) => agentName))]}
        // An agent's name is compared to the letter.
        isTrimmed={false}
        onValue={(name) =>
          onChange({ agent: name === unnamed ? "" : name === "" ? undefined : name })
        }
      />
      <NamedField
        label="Approver"
        hint="Address or group:key"
        value={approver ?? ""}
        suggestions={namesIn(rows.map(approverOf))}
        isTrimmed
        onValue={(name) => onChange({ approver: name === "" ? undefined : name })}
      />
      <DayField
        label="From"
        value={from === undefined ? "" : dayOf(from)}
        max={to === undefined ? undefined : lastDayBefore(to)}
        onDay={(day) => onChange({ from: startOfDay(day) })}
      />
      <DayField
        label="To"
        value={to === undefined ? "" : lastDayBefore(to)}
        min={from === undefined ? undefined : dayOf(from)}
        onDay={(day) => onChange({ to: endOfDay(day) })}
      />
    </div>
  );
}

const pauseMs = 400;

type NamedFieldProps = {
  label: string;
  hint: string;
  value: string;
  suggestions: readonly string[];
  isTrimmed: boolean;
  onValue: (value: string) => void;
};

function NamedField(props: NamedFieldProps) {
  const { label, hint, value, suggestions, isTrimmed, onValue } = props;
  const id = useId();
  const { typed, setTyped } = useTyped(value, { pauseMs, isTrimmed, onTyped: onValue });
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field"
        list={`${id}-known`}
        placeholder={hint}
        value={typed}
        maxLength={320}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <datalist id={`${id}-known`}>
        {suggestions.map((name) => (
          <option key={name} value={name} label={toVisibleText(name)} />
        ))}
      </datalist>
    </div>
  );
}

type DayFieldProps = {
  label: string;
  value: string;
  min?: string | undefined;
  max?: string | undefined;
  onDay: (day: string) => void;
};

function DayField({ label, value, min, max, onDay }: DayFieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field"
        type="date"
        value={value}
        min={min}
        max={max}
        onChange={(event) => onDay(event.currentTarget.value)}
      />
    </div>
  );
}

function approverOf({ approverEmail, approverGroup }: RequestRow): string | null {
  return approverGroup === null ? approverEmail : `group:${approverGroup.key}`;
}

function namesIn(names: readonly (string | null)[]): string[] {
  return [...new Set(names)].filter((name) => name !== null && name !== "").sort() as string[];
}
