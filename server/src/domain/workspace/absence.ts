// The rules of an absence: somebody is away for a while, and a colleague is asked instead.

import { absenceDaysMax } from "../shown/field-limits.ts";

export type AbsenceTimes = { startsAt: Date; endsAt: Date };

export type AbsenceFlaw = { field: keyof AbsenceTimes; flaw: string };

const dayMs = 24 * 60 * 60 * 1000;

/** An absence can't begin before it is known: what was asked until then was asked of the person. */
export function fromNowOn({ startsAt, endsAt }: AbsenceTimes, now: Date): AbsenceTimes {
  return { startsAt: startsAt < now ? now : startsAt, endsAt };
}

/** Says what is wrong with the times of an absence, or null when they are fine. */
export function flawOfAbsence({ startsAt, endsAt }: AbsenceTimes, now: Date): AbsenceFlaw | null {
  if (startsAt.getTime() - now.getTime() > absenceDaysMax * dayMs) {
    return { field: "startsAt", flaw: `must be within ${absenceDaysMax} days from now` };
  }
  if (endsAt <= now) return { field: "endsAt", flaw: "must be in the future" };
  if (endsAt <= startsAt) return { field: "endsAt", flaw: "must be after the beginning" };
  if (endsAt.getTime() - startsAt.getTime() > absenceDaysMax * dayMs) {
    return { field: "endsAt", flaw: `must be within ${absenceDaysMax} days of the beginning` };
  }
  return null;
}
