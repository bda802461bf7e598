// The health of an endpoint as a shape and a word, never as a colour alone.

import type { Endpoint } from "../../../../server/src/wire/dashboard-endpoints.ts";

type Health = "working" | "failing" | "disabled" | "deleted";

type HealthFacts = Pick<Endpoint, "deletedAt" | "disabledAt" | "failingSince">;

function healthOf({ deletedAt, disabledAt, failingSince }: HealthFacts): Health {
  if (deletedAt !== undefined) return "deleted";
  if (disabledAt !== null) return "disabled";
  return failingSince === null ? "working" : "failing";
}

const healthWords: Record<Health, string> = {
  working: "Enabled",
  failing: "Failing",
  disabled: "Disabled",
  deleted: "Deleted",
};

const shapes: Record<Health, string> = {
  working: "M2.8 8.6l3.4 3.4l7-7.6",
  failing: "M8 2.6l6 10.6H2zM8 6.6v3.2M8 11.4v.1",
  deleted: "M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4",
  disabled: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M4.2 11.8l7.6-7.6",
};

export function HealthMark({ endpoint }: { endpoint: Endpoint }) {
  const health = healthOf(endpoint);
  return (
    <span className={`health health-${health}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d={shapes[health]} />
      </svg>
      {healthWords[health]}
    </span>
  );
}
