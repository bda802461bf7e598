// Lengths of time as operators write them: 500ms, 30s, 5m, 2h.

const unitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads a comma-separated list of durations. Null when one of them is none. */
export function parseDurationsMs(text: string): number[] | null {
  const durations = text.split(",").map(parseDurationMs);
  return durations.every((duration) => duration !== null) ? durations : null;
}

function parseDurationMs(text: string): number | null {
  const match = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text.trim());
  if (match === null) return null;
  const [, amount = "", unit = ""] = match;
  return Number(amount) * (unitsMs[unit] ?? 0);
}
