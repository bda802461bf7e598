// Plan and usage: this month against the included volume and the cap, and every day of this month and the last.

import type { Usage } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeCount } from "../../look/shares.ts";
import { Visible } from "../../look/visible-text.tsx";
import { useCall } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";
import { Bars } from "./bars.tsx";
import { fullMonth, shortDay } from "./days.ts";
import { Swatch } from "./legend.tsx";
import { PartBar } from "./part-bar.tsx";
import { usageBar, usageSentence } from "./usage.ts";
import "./overview.css";
import "./usage-view.css";

export function UsageView({ workspaceId }: { workspaceId: string }) {
  const usage = useCall("GET /workspaces/:workspaceId/usage", { params: { workspaceId } });
  const problem = <Problem error={usage.error} onRetry={() => void usage.refetch()} />;
  if (usage.data === undefined) return usage.isError ? problem : <UsagePending />;
  return (
    <div className="usage">
      {problem}
      <ThisMonth usage={usage.data} />
      <div className="figure-card">
        <Bars
          label="Requests per day, this month and the last"
          rows={usage.data.days.map(({ day, requests }) => ({
            label: shortDay(day),
            parts: [{ name: "Requests", value: requests, tone: "neutral" }],
          }))}
        />
      </div>
    </div>
  );
}

function ThisMonth({ usage }: { usage: Usage }) {
  const { plan, month, used, included, cap } = usage;
  const { of, parts } = usageBar(usage);
  const isBeyond = parts.length > 1;
  // With overage, the end of the included part is the mark.
  const marks = [isBeyond ? null : included, cap].flatMap((limit) =>
    limit === null ? [] : [limit],
  );
  return (
    <section className="figure-card" aria-labelledby="usage-title">
      <div className="figure-head">
        <h2 id="usage-title">{fullMonth(month)}</h2>
        <p>
          Plan:{" "}
          <strong>
            <Visible text={plan} />
          </strong>
        </p>
      </div>
      <p className="usage-number">
        <span className="figure-number">{describeCount(used)}</span>
        <span className="quiet">
          {included === null
            ? `${used === 1 ? "request" : "requests"} this month`
            : isBeyond
              ? `requests, ${describeCount(included)} are included`
              : `of ${describeCount(included)} included requests`}
        </span>
      </p>
      {of !== null && (
        <>
          <PartBar parts={parts} of={of} marks={marks.filter((mark) => mark < of)} isTrackShown />
          <ul className="usage-scale">
            <li>
              <Swatch look={{ tone: "neutral", variant: 0 }} />
              {isBeyond ? "Included" : "Used"}{" "}
              <strong>{describeCount(parts[0]?.value ?? 0)}</strong>
            </li>
            {isBeyond && (
              <li>
                <Swatch look={{ tone: "attention", variant: 0 }} />
                Overage <strong>{describeCount(parts[1]?.value ?? 0)}</strong>
              </li>
            )}
            {included !== null && !isBeyond && (
              <Limit name="Included volume" value={included} isEnd={included === of} />
            )}
            {cap !== null && <Limit name="Safety cap" value={cap} isEnd={cap === of} />}
          </ul>
        </>
      )}
      <p className="usage-note">{usageSentence(usage)}</p>
    </section>
  );
}

/** Named by its place: the end of the bar, or the line across it. */
function Limit({ name, value, isEnd }: { name: string; value: number; isEnd: boolean }) {
  return (
    <li>
      {!isEnd && (
        <svg className="usage-line" width="4" height="14" aria-hidden="true">
          <line className="part-bar-mark" x1="2" x2="2" y1="0" y2="14" />
        </svg>
      )}
      {name} <strong>{describeCount(value)}</strong>
      {isEnd && <span className="quiet">(the whole bar)</span>}
    </li>
  );
}

function UsagePending() {
  return (
    <div className="usage" role="status">
      <span className="sr-only">Loading the usage</span>
      <div className="figure-card figure-pending-tile" />
      <div className="figure-card figure-pending-block" />
    </div>
  );
}
