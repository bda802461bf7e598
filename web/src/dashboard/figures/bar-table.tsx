// The numbers behind a picture of bars, as a table, newest first. Screen readers always get it, others on demand.

import { type BarRow, partValue, type Series, totalOf } from "./series.ts";

type BarTableProps = {
  label: string;
  rows: readonly BarRow[];
  series: readonly Series[];
  format: (value: number) => string;
  isShown: boolean;
};

export function BarTable({ label, rows, series, format, isShown }: BarTableProps) {
  const hasTotals = series.length > 1;
  return (
    <section
      className={isShown ? "bar-table" : "sr-only"}
      aria-label={`${label}, as a table`}
      // Long tables scroll in place, and a scrolling area must be reachable by keyboard.
      {...(isShown ? { tabIndex: 0 } : {})}
    >
      <table>
        <caption className="sr-only">{label}</caption>
        <thead>
          <tr>
            <th className="bar-table-head" scope="col">
              Day
            </th>
            {series.map(({ name }) => (
              <th key={name} className="bar-table-head" scope="col">
                {name}
              </th>
            ))}
            {hasTotals && (
              <th className="bar-table-head" scope="col">
                Total
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map((row) => (
            <tr key={row.label}>
              <th scope="row">{row.label}</th>
              {series.map(({ name }) => (
                <td key={name}>{format(partValue(row, name))}</td>
              ))}
              {hasTotals && <td>{format(totalOf(row))}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
