// The less frequent filters: agent, approver, time, and who decided when.

import { useId } from "react";
import { toVisibleText } from "../../../../../server/src/domain/shown/text/visible-text.ts";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import { DayRange, type Range } from "../../forms/day-range.tsx";
import type { ChosenFilter } from "./filter-state.ts";
import { useTyped } from "./use-typed.ts";

const unnamed = "(no name)";

type Name = "agent" | "approver" | "from" | "to" | "decidedBy" | "decidedFrom" | "decidedTo";

type MoreFiltersProps = {
  id: string;
  filter: ChosenFilter;
  /** The loaded rows: their names can be picked instead of typed. */
  rows: readonly RequestRow[];
  onChange: (changes: Partial<Record<Name, string | undefined>>) => void;
};

export function MoreFilters({ id, filter, rows, onChange }: MoreFiltersProps) {
  const { agent, approver, decidedBy } = filter;
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
        hint="Mail or group:key"
        value={approver ?? ""}
        suggestions={namesIn(rows.map(approverOf))}
        isTrimmed
        onValue={(name) => onChange({ approver: name === "" ? undefined : name })}
      />
      <DayRange
        labels={["From", "To"]}
        range={{ from: filter.from, to: filter.to }}
        onRange={onChange}
      />
      <NamedField
        label="Decided by"
        hint="Address"
        value={decidedBy ?? ""}
        suggestions={namesIn(rows.map(({ resolvedByEmail }) => resolvedByEmail))}
        isTrimmed
        onValue={(name) => onChange({ decidedBy: name === "" ? undefined : name })}
      />
      <DayRange
        labels={["Decided from", "Decided to"]}
        range={{ from: filter.decidedFrom, to: filter.decidedTo }}
        onRange={(changes) => onChange(toDecided(changes))}
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

/** Only the end that was changed. */
function toDecided(changes: Range): { decidedFrom?: Moment; decidedTo?: Moment } {
  return "from" in changes ? { decidedFrom: changes.from } : { decidedTo: changes.to };
}

type Moment = string | undefined;

function approverOf({ approverEmail, approverGroup }: RequestRow): string | null {
  return approverGroup === null ? approverEmail : `group:${approverGroup.key}`;
}

function namesIn(names: readonly (string | null)[]): string[] {
  return [...new Set(names)].filter((name) => name !== null && name !== "").sort() as string[];
}
