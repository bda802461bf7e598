// The days of an absence, with the exact times on demand.

import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import { toExactTime } from "../../look/time/exact-time.ts";

const format = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  year: "numeric",
});

export function AbsenceDays({ absence: { startsAt, endsAt } }: { absence: Absence }) {
  const first = new Date(startsAt);
  // It ends where the next day begins.
  const last = new Date(Date.parse(endsAt) - 1);
  const [from, to] = [format.format(first), format.format(last)];
  return (
    <span title={`${toExactTime(startsAt)} to ${toExactTime(endsAt)}`}>
      <time dateTime={startsAt}>{from}</time>
      {from !== to && (
        <>
          {" to "}
          <time dateTime={endsAt}>{to}</time>
        </>
      )}
    </span>
  );
}
