// Sums up the days of an endpoint: the share that arrived, and the response time.

import type { EndpointDetail } from "../../../../server/src/wire/dashboard-endpoints.ts";

export type EndpointDay = EndpointDetail["perDay"][number];

export type EndpointFigures = {
  succeeded: number;
  failed: number;
  /** From 0 to 1; null when nothing was sent. */
  successRate: number | null;
  /** The weighted median of the days' medians; each day weighs as much as its attempts. */
  medianMs: number | null;
  /** The slowest day's, because that day runs into the time limit. */
  worstP90Ms: number | null;
};

export function figuresOfDays(days: readonly EndpointDay[]): EndpointFigures {
  const succeeded = days.reduce((sum, day) => sum + day.succeeded, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const attempts = succeeded + failed;
  const p90s = days.flatMap(({ p90Ms }) => (p90Ms === null ? [] : [p90Ms]));
  return {
    succeeded,
    failed,
    successRate: attempts === 0 ? null : succeeded / attempts,
    medianMs: weighedMedian(days),
    worstP90Ms: p90s.length === 0 ? null : Math.max(...p90s),
  };
}

function weighedMedian(days: readonly EndpointDay[]): number | null {
  const weighed = days
    .flatMap(({ medianMs, succeeded, failed }) =>
      medianMs === null ? [] : [{ medianMs, weight: Math.max(1, succeeded + failed) }],
    )
    .sort((one, other) => one.medianMs - other.medianMs);
  const half = weighed.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let passed = 0;
  for (const { medianMs, weight } of weighed) {
    passed += weight;
    if (passed >= half) return medianMs;
  }
  return null;
}

/** Never "100%" while something failed, and never "0%" while something arrived. */
export function describeRate(rate: number): string {
  const percent = rate * 100;
  if (percent === 0 || percent === 100) return `${percent}%`;
  const rounded = percent >= 99 || percent <= 1 ? percent.toFixed(1) : percent.toFixed(0);
  if (Number(rounded) >= 100) return ">99.9%";
  if (Number(rounded) <= 0) return "<0.1%";
  return `${rounded}%`;
}
