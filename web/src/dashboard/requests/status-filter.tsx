// The states of requests as a row of choices, one of which is chosen.

import type { ApprovalStatus } from "../../../../sdk/src/contract.ts";
import { statuses } from "./filter-state.ts";
import { statusWords } from "./words.ts";

type StatusFilterProps = {
  status: ApprovalStatus | undefined;
  onChoose: (status: ApprovalStatus | undefined) => void;
};

export function StatusFilter({ status, onChoose }: StatusFilterProps) {
  const choices = [undefined, ...statuses];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be read as a form
    <div className="requests-states" role="group" aria-label="Status">
      {choices.map((choice) => (
        <button
          type="button"
          key={choice ?? "all"}
          aria-pressed={status === choice}
          onClick={() => onChoose(choice)}
        >
          {choice === undefined ? "All" : statusWords[choice]}
        </button>
      ))}
    </div>
  );
}
