// How an endpoint is doing, as one word out of three, and what it means.

import type { Endpoint } from "../../../../server/src/wire/dashboard-contract.ts";

export type Health = "working" | "failing" | "disabled";

type HealthFacts = Pick<Endpoint, "disabledAt" | "failingSince">;

export function healthOf({ disabledAt, failingSince }: HealthFacts): Health {
  if (disabledAt !== null) return "disabled";
  return failingSince === null ? "working" : "failing";
}

export const healthWords: Record<Health, string> = {
  working: "Enabled",
  failing: "Failing",
  disabled: "Disabled",
};
