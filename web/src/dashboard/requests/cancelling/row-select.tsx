// The box that chooses one request of the list. A request that isn't pending has an empty place instead.

import { toVisibleText } from "../../../../../server/src/domain/shown/text/visible-text.ts";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import { useSelection } from "./selection.ts";

type RowSelectProps = { row: Pick<RequestRow, "id" | "status" | "summary"> };

export function RowSelect({ row: { id, status, summary } }: RowSelectProps) {
  const { isOn, isChosen, choose } = useSelection();
  if (!isOn) return null;
  if (status !== "PENDING") return <span className="requests-select" />;
  return (
    <label className="requests-select">
      <span className="sr-only">Select {toVisibleText(summary)}</span>
      <input
        type="checkbox"
        checked={isChosen(id)}
        onChange={(event) => choose(id, event.currentTarget.checked)}
      />
    </label>
  );
}
