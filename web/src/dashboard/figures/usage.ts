// This month against the included volume and the cap: the parts of one bar, and a sentence about the rest.

import { monthlyLimit, smallest } from "../../../../server/src/domain/shown/plan-limit.ts";
import type { Usage } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeCount } from "../../look/shares.ts";
import { dayAfterMonth } from "./days.ts";
import type { BarPart } from "./series.ts";

export type UsageBar = {
  /** The value of the whole bar; null if nothing limits it. */
  of: number | null;
  parts: BarPart[];
};

export function usageBar({ used, included, cap }: Usage): UsageBar {
  const within = included === null ? used : Math.min(used, included);
  const parts: BarPart[] = [{ name: "Used", value: within, tone: "neutral" }];
  if (used > within) {
    parts.push({ name: "Overage", value: used - within, tone: "attention" });
  }
  const limits = [included, cap].flatMap((limit) => (limit === null ? [] : [limit]));
  return { of: limits.length === 0 ? null : Math.max(used, ...limits), parts };
}

export function usageSentence(usage: Usage): string {
  const { used, included, month } = usage;
  const renewed = dayAfterMonth(month);
  const limit = monthlyLimit(usage);
  if (limit !== null && used >= limit) {
    return `New requests are refused until ${renewed} (UTC).`;
  }
  if (included !== null && used >= included) {
    const more = limit === null ? "" : ` ${describeCount(limit - used)} more fit under the cap.`;
    return `The included volume is used up; further requests count as overage.${more}`;
  }
  if (limit === null && included === null) return "This plan has no limit.";
  const left = (included === null ? limit : smallest(included, limit)) ?? 0;
  return `${describeCount(left - used)} left until ${renewed} (UTC).`;
}
