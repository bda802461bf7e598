// The order of the list.

import { type Sort, sorts } from "./filter-state.ts";

type SortFieldProps = { value: Sort; onSort: (sort: Sort) => void };

export function SortField({ value, onSort }: SortFieldProps) {
  return (
    <select
      className="field requests-sort"
      aria-label="Sort"
      value={value}
      onChange={(event) => onSort(event.currentTarget.value as Sort)}
    >
      {sorts.map(({ value: sort, word }) => (
        <option key={sort} value={sort}>
          {word}
        </option>
      ))}
    </select>
  );
}
