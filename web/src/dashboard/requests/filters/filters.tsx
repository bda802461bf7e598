// The filters of the list: search and status are always visible, the rest is behind a button that counts them.

import { type ReactNode, useId, useState } from "react";
import type { ApprovalStatus } from "../../../../../sdk/src/contract.ts";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import { ChoiceRow } from "../../forms/choice-row.tsx";
import { Problem } from "../../states/problem.tsx";
import { ExportMenu } from "./export-menu.tsx";
import {
  type ChosenFilter,
  countBehind,
  countChosen,
  statuses,
  withSort,
  withStatus,
} from "./filter-state.ts";
import { MoreFilters } from "./more-filters.tsx";
import { SearchField } from "./search-field.tsx";
import { SortField } from "./sort-field.tsx";
import { useExport } from "./use-export.ts";

export type FilterChanges = { [Key in keyof ChosenFilter]?: ChosenFilter[Key] | undefined };

const statusWords: Record<ApprovalStatus, string> = {
  PENDING: "Pending",
  APPROVED: "Approved",
  REJECTED: "Rejected",
  EXPIRED: "Expired",
  CANCELLED: "Cancelled",
};

const statusChoices = [
  { value: undefined, word: "All" },
  ...statuses.map((value) => ({ value, word: statusWords[value] })),
];

type FiltersProps = {
  filter: ChosenFilter;
  rows: readonly RequestRow[];
  /** More to press, beside the export. */
  tools: ReactNode;
  onChange: (changes: FilterChanges, isStep?: boolean) => void;
  onReset: () => void;
};

export function Filters({ filter, rows, tools, onChange, onReset }: FiltersProps) {
  const behind = countBehind(filter);
  const [isOpen, setOpen] = useState(behind > 0);
  const exporting = useExport(filter);
  const id = useId();
  return (
    <section className="requests-filters" aria-label="Filters">
      <SearchField
        value={filter.search ?? ""}
        onSearch={(text) => onChange({ search: text === "" ? undefined : text })}
      />
      <div className="requests-filter-tools">
        <button
          type="button"
          className="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          Filters
          {behind > 0 && (
            <span className="requests-count">
              {behind}
              <span className="sr-only"> set</span>
            </span>
          )}
        </button>
        <ExportMenu exporting={exporting} />
        {tools}
        {countChosen(filter) > 0 && (
          <button type="button" className="link-button" onClick={onReset}>
            Reset
          </button>
        )}
      </div>
      <div className="requests-order">
        <ChoiceRow
          label="Status"
          choices={statusChoices}
          chosen={filter.status}
          onChoose={(status) => onChange(withStatus(status, filter), true)}
        />
        <SortField
          value={filter.sort ?? "newest"}
          onSort={(sort) => onChange(withSort(sort, filter), true)}
        />
      </div>
      <Problem error={exporting.error} onRetry={exporting.retry} />
      {isOpen && <MoreFilters id={id} filter={filter} rows={rows} onChange={onChange} />}
    </section>
  );
}
