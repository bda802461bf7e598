// Chooses the period of the figures. Links, because the period is in the address.

import { Link } from "@tanstack/react-router";

const periods = ["7", "30", "90"] as const;
export type Period = (typeof periods)[number];

const usual: Period = "30";

/** Anything else in the address counts as the default. */
export function periodOf(days: string | undefined): Period {
  return periods.find((period) => period === days) ?? usual;
}

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
