// A time to decision, as a bar on a scale that it shares with its neighbour.

import { describeDuration } from "../../look/time/duration.ts";
import { PartBar } from "./part-bar.tsx";

type TimeTileProps = {
  name: string;
  note: string;
  /** Null when nobody decided. */
  ms: number | null;
  ofMs: number | null;
};

export function TimeTile({ name, note, ms, ofMs }: TimeTileProps) {
  return (
    <div className="figure-card figure-tile">
      <span className="figure-name">{name}</span>
      <span className="figure-number">{ms === null ? "–" : describeDuration(ms)}</span>
      <span className="figure-note">{ms === null ? "No decisions in this period" : note}</span>
      <span className="figure-picture">
        <PartBar parts={[{ name, value: ms ?? 0, tone: "neutral" }]} of={ofMs ?? 1} isTrackShown />
      </span>
    </div>
  );
}
