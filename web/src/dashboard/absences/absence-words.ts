// Why nobody is asked instead of somebody who is away.

import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";

/** What follows the delegate's address; null where the delegate is asked. */
export function whyNobody({ isDelegateGone, isDelegateNotAllowed }: Absence): string | null {
  if (isDelegateGone === true) return " has left";
  return isDelegateNotAllowed === true ? " is outside the domains that may be asked" : null;
}
