// The less frequent filters: agent, approver, time, who decided when, for whom it waits, and what is the matter.

import { useId } from "react";
import { toVisibleText } from "../../../../../server/src/domain/shown/text/visible-text.ts";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import { DayRange, type Range } from "../../forms/day-range.tsx";
import { type ChosenFilter, withWaitingFor } from "./filter-state.ts";
import { useTyped } from "./use-typed.ts";

const unnamed = "(no name)";

type MoreFiltersProps = {
  id: string;
  filter: ChosenFilter;
  /** The loaded rows: their names can be picked instead of typed. */
  rows: readonly RequestRow[];
  onChange: (changes: { [Name in keyof ChosenFilter]?: ChosenFilter[Name] | undefined }) => void;
};

export function MoreFilters({ id, filter, rows, onChange }: MoreFiltersProps) {
  const { agent, approver, decidedBy, waitingFor } = filter;
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
      <NamedField
        label="Waiting for"
        hint="Address"
        value={waitingFor ?? ""}
        suggestions={namesIn(rows.map(({ approverEmail }) => approverEmail))}
        isTrimmed
        onValue={(name) => onChange(withWaitingFor(name === "" ? undefined : name, filter))}
      />
      <fieldset className="requests-flags">
        <legend className="sr-only">Only requests that</legend>
        <Flag
          label="Escalated"
          hint="It stayed open, so more people were asked"
          isOn={filter.escalated === "yes"}
          onChange={(isOn) => onChange({ escalated: isOn ? "yes" : undefined })}
        />
        <Flag
          label="Unreachable"
          hint="Too few people are left, or no mail arrived"
          isOn={filter.unreachable === "yes"}
          onChange={(isOn) => onChange({ unreachable: isOn ? "yes" : undefined })}
        />
      </fieldset>
    </div>
  );
}

type FlagProps = { label: string; hint: string; isOn: boolean; onChange: (isOn: boolean) => void };

function Flag({ label, hint, isOn, onChange }: FlagProps) {
  const id = useId();
  return (
    <div className="requests-flag">
      <input
        id={id}
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label htmlFor={id}>
        {label} <span className="quiet small">{hint}</span>
      </label>
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
