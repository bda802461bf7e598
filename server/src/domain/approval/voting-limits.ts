// The bounds of requests on which several people vote.

/** So many flows are tried to find out whether enough different people are left. */
export const reachSearchesMax = 256;
/** How often one seat is passed on. */
export const handOversMax = 3;
/** Colleagues that a page offers; others are typed. */
export const colleaguesShownMax = 200;
/** An agent or a member reminds of a request once in so many minutes. */
export const remindPauseMinutes = 60;
/** Steps, checks and requests of absences that a sweep takes before it looks at what expires. */
export const stepBatch = 50;
/** A sweep leaves out a request on which it failed for so long, and remembers this many of them. */
export const faultPauseSeconds = 60;
export const faultsKeptMax = 1_000;

/**
 * A mail that asks again tells this many changes of the payload, so many characters of each value, and so many in all.
 * Of payloads above the bytes it tells none: the review page shows them.
 */
export const mailedChangesMax = 10;
export const mailedChangeCharactersMax = 120;
export const mailedDiffCharactersMax = 2_000;
export const mailedDiffBytesMax = 256 * 1024;
/** A mail names this many people of a list. */
export const mailedPeopleMax = 10;
/** The most notices a day of each kind that tell owners of requests that nobody can approve, or that reached nobody. */
export const requestNoticesPerDayMax = 20;
