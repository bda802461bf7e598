// The last days of an endpoint: delivered share and response time, each as a number with a picture.

import { describeCount } from "../../look/shares.ts";
import { describeDuration } from "../../look/time/duration.ts";
import { Bars } from "../figures/bars.tsx";
import { shortDay } from "../figures/days.ts";
import { describeRate, type EndpointDay, figuresOfDays } from "./figures-of-days.ts";

export function DaysView({ days }: { days: readonly EndpointDay[] }) {
  const { succeeded, failed, successRate, medianMs, worstP90Ms } = figuresOfDays(days);
  if (successRate === null) {
    return (
      <p className="quiet">
        Nothing was sent in the last {days.length} days. Send a test event to see whether it works.
      </p>
    );
  }
  return (
    <div className="endpoint-days">
      <div className="panel">
        <p className="endpoint-figure">
          <strong>{describeRate(successRate)}</strong>
          <span>
            of {describeCount(succeeded + failed)}{" "}
            {succeeded + failed === 1 ? "attempt" : "attempts"} arrived
          </span>
        </p>
        <Bars
          label="Attempts per day"
          rows={days.map((day) => ({
            label: shortDay(day.day),
            parts: [
              { name: "Arrived", value: day.succeeded, tone: "neutral" },
              { name: "Failed", value: day.failed, tone: "bad" },
            ],
          }))}
        />
      </div>
      <div className="panel">
        <p className="endpoint-figure">
          <strong>{medianMs === null ? "–" : describeDuration(medianMs)}</strong>
          <span>
            to a typical answer
            {worstP90Ms !== null &&
              `; on the slowest day 9 of 10 within ${describeDuration(worstP90Ms)}`}
          </span>
        </p>
        <Bars
          label="Median answer per day"
          rows={days.map((day) => ({
            label: shortDay(day.day),
            parts: [{ name: "Median", value: day.medianMs ?? 0, tone: "neutral" }],
          }))}
          format={describeDuration}
          isAdditive={false}
        />
      </div>
    </div>
  );
}
