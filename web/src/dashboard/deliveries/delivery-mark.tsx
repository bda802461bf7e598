// The state of a delivery as a shape and a word, never as a colour alone.

import type { DeliveryState } from "../../../../server/src/wire/dashboard-filters.ts";
import { stateWords } from "./words.ts";

const shapes: Record<DeliveryState, string> = {
  due: "M2.5 8h9M8.5 4.5L12 8l-3.5 3.5",
  delivered: "M2.8 8.6l3.4 3.4l7-7.6",
  failed: "M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4",
  skipped: "M3.5 8h9",
};

/** Green is for approvals by people. A delivery that arrived is merely in order. */
const tones: Record<DeliveryState, string> = {
  due: "status-pending",
  delivered: "",
  failed: "status-rejected",
  skipped: "status-expired",
};

export function DeliveryMark({ state }: { state: DeliveryState }) {
  return (
    <span className={`status ${tones[state]}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d={shapes[state]} />
      </svg>
      {stateWords[state]}
    </span>
  );
}
