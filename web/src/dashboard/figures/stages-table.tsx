// How long stages took, by whom they ask, and how many requests escalated.

import type { StageFigures } from "../../../../server/src/wire/dashboard-voting.ts";
import { describeCount } from "../../look/shares.ts";
import { describeDuration } from "../../look/time/duration.ts";
import { Visible } from "../../look/visible-text.tsx";
import { PartBar } from "./part-bar.tsx";

export function StagesTable({ stages: { escalated, perApprover } }: { stages: StageFigures }) {
  const longest = Math.max(1, ...perApprover.map(({ p90Ms }) => p90Ms ?? 0));
  return (
    <section className="figure-card" aria-labelledby="stages-title">
      <div className="figure-head">
        <h2 id="stages-title">Time per stage</h2>
        <p>{escalatedWords(escalated)}</p>
      </div>
      {perApprover.length > 0 && (
        <table className="agents">
          <thead>
            <tr>
              <th scope="col">Approver</th>
              <th scope="col">Stages</th>
              <th scope="col">Median</th>
              <th scope="col">p90</th>
            </tr>
          </thead>
          <tbody>
            {perApprover.map(({ name, isGroup, stages, medianMs, p90Ms }) => (
              <tr key={JSON.stringify([isGroup, name])}>
                <th scope="row">
                  <Visible text={name} /> {isGroup && <span className="quiet">group</span>}
                  <PartBar
                    parts={[{ name: "Median", value: medianMs ?? 0, tone: "neutral" }]}
                    of={longest}
                  />
                </th>
                <td data-name="Stages">{describeCount(stages)}</td>
                <td data-name="Median">{medianMs === null ? "–" : describeDuration(medianMs)}</td>
                <td data-name="p90">{p90Ms === null ? "–" : describeDuration(p90Ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function escalatedWords(escalated: number): string {
  if (escalated === 0) return "No request escalated";
  return `${describeCount(escalated)} ${escalated === 1 ? "request" : "requests"} escalated`;
}
