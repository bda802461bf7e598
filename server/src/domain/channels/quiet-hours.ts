// The hours in which somebody hears by mail only: two times of a day, and the place whose clock counts.

export type QuietHours = { from: string; until: string; timeZone: string };

const timePattern = /^([01]\d|2[0-3]):[0-5]\d$/;
/** Names of places. Offsets are none: people move their clocks twice a year, and databases read their signs otherwise. */
const zonePattern = /^(UTC|[A-Za-z]+(\/[A-Za-z0-9_+-]+)+)$/;
const zoneCharactersMax = 64;

/** The first wrong field and what is wrong with it, or null. Whether the database knows the place is asked there. */
export function flawOfQuietHours(quiet: QuietHours): { field: string; flaw: string } | null {
  for (const field of ["from", "until"] as const) {
    if (!timePattern.test(quiet[field])) return { field, flaw: "must be a time such as 22:00" };
  }
  if (quiet.from === quiet.until) {
    return { field: "until", flaw: "must be another time than the one they begin at" };
  }
  return isTimeZone(quiet.timeZone) ? null : { field: "timeZone", flaw: unknownTimeZone };
}

export const unknownTimeZone = "must be a time zone such as Europe/Berlin";

function isTimeZone(name: string): boolean {
  if (name.length > zoneCharactersMax || !zonePattern.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
