// Says how much of the payload is folded, with a button that opens it; or how far the opening is, with one that stops
// it.

import { words } from "../look/words.ts";
import type { Opening } from "./opening.ts";

type OpeningFootProps = { opening: Opening; onOpenAll?: () => void };

/** Stands below the payload. */
export function OpeningFoot({ opening, onOpenAll }: OpeningFootProps) {
  const { unseen, progress } = opening;
  if (unseen === 0 || progress !== null) return null;
  return (
    <div className="payload-foot">
      <span className="unopened">{words.foldedPart(unseen)}</span>
      <button
        type="button"
        className="button"
        onClick={() => {
          opening.openAll();
          onOpenAll?.();
        }}
      >
        {words.openAll}
      </button>
    </div>
  );
}

/** Floats above the rows: they move while they appear, and a button must not. */
export function OpeningProgress({ opening: { progress, stop } }: { opening: Opening }) {
  return (
    <div className="payload-opening">
      {progress !== null && (
        <div>
          {words.opening(progress)}
          <button type="button" className="button" onClick={stop}>
            {words.stopOpening}
          </button>
        </div>
      )}
    </div>
  );
}
