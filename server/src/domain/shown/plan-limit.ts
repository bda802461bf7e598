// How many requests a workspace may create in a month: by its plan's included volume, or by its cap where there is
// overage.

export type PlanLimits = {
  /** Null is no limit. */
  included: number | null;
  hasOverage: boolean;
  cap: number | null;
};

/** Null when nothing limits it. */
export function monthlyLimit({ included, hasOverage, cap }: PlanLimits): number | null {
  return smallest(hasOverage ? null : included, cap);
}

/** The smaller of two limits; null is none. */
export function smallest(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}
