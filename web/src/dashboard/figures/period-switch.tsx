// Which span of time the figures are of. Links, because the span stands in the address.

import { Link } from "@tanstack/react-router";
import { type Period, periods } from "./period.ts";

export function PeriodSwitch({ period }: { period: Period }) {
  return (
    <nav className="period" aria-label="Period">
      {periods.map((days) => (
        <Link
          key={days}
          className="period-part"
          to="."
          search={(search) => ({ ...search, days })}
          replace
          resetScroll={false}
          aria-current={days === period ? "true" : undefined}
        >
          {days} days
        </Link>
      ))}
    </nav>
  );
}
