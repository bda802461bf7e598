// An absence as its form holds it: days of the reader's own calendar, the last one included.

import type { Absence, NewAbsence } from "../../../../server/src/wire/dashboard-absences.ts";
import { dayOf, endOfDay, lastDayBefore, startOfDay } from "../forms/days.ts";

export type AbsenceDraft = { firstDay: string; lastDay: string; delegateEmail: string };

export type DraftFlaw = { field: keyof NewAbsence; message: string };

/** `now` is the reader's clock: the first day is today. */
export function newDraft(now: Date): AbsenceDraft {
  return { firstDay: dayOf(now.toISOString()), lastDay: "", delegateEmail: "" };
}

export function draftOf({ startsAt, endsAt, delegateEmail }: Absence): AbsenceDraft {
  return { firstDay: dayOf(startsAt), lastDay: lastDayBefore(endsAt), delegateEmail };
}

/** The body to send, or the field that is empty. The service checks the rest. */
export function absenceOf(draft: AbsenceDraft): NewAbsence | DraftFlaw {
  const startsAt = startOfDay(draft.firstDay);
  const endsAt = endOfDay(draft.lastDay);
  if (startsAt === undefined) return { field: "startsAt", message: "Choose the first day." };
  if (endsAt === undefined) return { field: "endsAt", message: "Choose the last day." };
  if (endsAt <= startsAt) {
    return { field: "endsAt", message: "Choose a day that isn’t before the first one." };
  }
  const { delegateEmail } = draft;
  if (delegateEmail === "") return { field: "delegateEmail", message: "Choose a colleague." };
  return { startsAt, endsAt, delegateEmail };
}

export function isFlaw(absence: NewAbsence | DraftFlaw): absence is DraftFlaw {
  return "field" in absence;
}

/** What is sent of a change: once it has begun, the end alone. Nothing if nothing differs. */
export function changesOf(saved: Absence, wanted: NewAbsence): Partial<NewAbsence> {
  const was = draftOf(saved);
  const is = draftOf({ ...saved, ...wanted });
  return {
    ...(saved.hasBegun || is.firstDay === was.firstDay ? {} : { startsAt: wanted.startsAt }),
    ...(is.lastDay === was.lastDay ? {} : { endsAt: wanted.endsAt }),
    ...(saved.hasBegun || is.delegateEmail === was.delegateEmail
      ? {}
      : { delegateEmail: wanted.delegateEmail }),
  };
}
