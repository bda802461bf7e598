// The figures of a workspace over a period, from the most urgent to the most detailed.

import type { Overview } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeDuration } from "../../look/time/duration.ts";
import { AgentsTable } from "./agents-table.tsx";
import { Bars } from "./bars.tsx";
import { shortDay } from "./days.ts";
import { OutcomeShares } from "./outcome-shares.tsx";
import { partsOf } from "./outcomes.ts";
import { durationTicks } from "./scale.ts";
import { StagesTable } from "./stages-table.tsx";
import { TimeTile } from "./time-tile.tsx";
import { WaitingTile } from "./waiting-tile.tsx";
import "./overview.css";

/** With fewer days of decisions, a picture over time would show less than the number above. */
const daysForTrend = 3;

type OverviewFiguresProps = { workspaceId: string; overview: Overview };

export function OverviewFigures({ workspaceId, overview }: OverviewFiguresProps) {
  const { total, pending, now, days, perDay, perAgent, stages } = overview;
  return (
    <>
      <div className="figure-tiles">
        <WaitingTile {...{ workspaceId, pending, now }} />
        <TimeTile
          name="Median time to decision"
          note="Half were decided faster"
          ms={total.medianMs}
          ofMs={total.p90Ms}
        />
        <TimeTile
          name="p90 time to decision"
          note="90% were decided faster"
          ms={total.p90Ms}
          ofMs={total.p90Ms}
        />
      </div>
      <OutcomeShares total={total} days={days} />
      <div className="figure-card">
        <Bars
          label="Requests per day, by outcome"
          rows={perDay.map((day) => ({ label: shortDay(day.day), parts: partsOf(day) }))}
        />
      </div>
      {perDay.filter(({ medianMs }) => medianMs !== null).length >= daysForTrend && (
        <div className="figure-card">
          <Bars
            label="Median time to decision, by the day of the request"
            rows={perDay.map(({ day, medianMs }) => ({
              label: shortDay(day),
              parts: [{ name: "Median", value: medianMs ?? 0, tone: "neutral" }],
            }))}
            format={describeDuration}
            ticks={durationTicks}
            isAdditive={false}
          />
        </div>
      )}
      {perAgent.length > 0 && <AgentsTable workspaceId={workspaceId} agents={perAgent} />}
      {stages !== undefined && <StagesTable stages={stages} />}
    </>
  );
}
