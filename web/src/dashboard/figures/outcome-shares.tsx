// The four outcomes as shares: percent, count, and a bar from 0 to 100 %.

import type { Shares } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeCount } from "../../look/shares.ts";
import { StatusMark } from "../../look/status-mark.tsx";
import { outcomesOf } from "./outcomes.ts";
import { PartBar } from "./part-bar.tsx";

export function OutcomeShares({ total, days }: { total: Shares; days: number }) {
  const { ended, outcomes } = outcomesOf(total);
  return (
    <section className="figure-card" aria-labelledby="outcomes-title">
      <div className="figure-head">
        <h2 id="outcomes-title">Outcomes</h2>
        <p>{sentenceOf(total, ended, days)}</p>
      </div>
      <ul className="outcomes">
        {outcomes.map(({ status, share, note, parts }) => (
          <li key={status}>
            <StatusMark status={status} />
            <span className="figure-number">{ended === 0 ? "–" : share}</span>
            <span className="figure-note">{note}</span>
            <PartBar parts={parts} of={ended} isTrackShown />
          </li>
        ))}
      </ul>
    </section>
  );
}

function sentenceOf({ asked, pending }: Shares, ended: number, days: number): string {
  const requests = `${describeCount(asked)} ${asked === 1 ? "request" : "requests"}`;
  const waiting = pending === 0 ? "" : `, ${describeCount(pending)} still waiting`;
  const base =
    ended === 0 || pending === 0 ? "" : `. Shares are of the ${describeCount(ended)} that ended`;
  return `${requests} in ${days} days${waiting}${base}`;
}
