// The spans of time that the overview knows, as they stand in its address.

export const periods = ["7", "30", "90"] as const;
export type Period = (typeof periods)[number];

const usual: Period = "30";

/** What else stands in an address counts as the usual one. */
export function periodOf(days: string | undefined): Period {
  return periods.find((period) => period === days) ?? usual;
}
