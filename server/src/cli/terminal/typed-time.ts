// A time as operators type it: ISO 8601, or a span before now.

import { OperatorFault } from "../../domain/operator-fault.ts";

export const timeHint = "ISO 8601 in UTC, such as 2026-11-15T09:00Z, or a span: 90m, 6h, 3d";

/** Times without an offset are UTC, like all printed times. */
export function toTime(text: string): Date {
  const [, amount = "", unit = ""] = /^([0-9]{1,6})([mhd])$/.exec(text) ?? [];
  const ms = spanMs[unit];
  if (ms !== undefined) return new Date(Date.now() - Number(amount) * ms);
  const [, day = "", clock = "T00:00", offset = "Z"] = isoTime.exec(text) ?? [];
  const time = new Date(`${day}${clock.replace(" ", "T")}${offset}`);
  if (isDay(day) && !Number.isNaN(time.getTime())) return time;
  throw new OperatorFault(
    `${text} is not a time; write it like 2026-11-15T09:00:00Z, or as a span such as 6h`,
  );
}

const isoTime =
  /^(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(Z|[+-]\d{2}:\d{2})?$/;

/** Date would turn the 30th of February into the 2nd of March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

const spanMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
