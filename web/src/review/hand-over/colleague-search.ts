// Finds colleagues by a part of their address. A workspace may have hundreds; a few are shown at a time. Not all of them
// are known here, and none to a reader from outside: a whole address that is typed can be chosen, too.

export type Found = {
  shown: string[];
  /** The number of others that match. */
  more: number;
};

const shownMax = 20;

/** The service has the last word; this is only enough to offer it. */
const wholeAddress = /^[^\s@]+@[^\s@]+\.[^\s@]+$/u;

/** The chosen one stays in sight, whatever is typed. */
export function findColleagues(
  emails: readonly string[],
  typed: string,
  chosen: string | null,
): Found {
  const part = typed.trim().toLowerCase();
  const known = emails.filter((email) => email.toLowerCase().includes(part));
  const isNew = wholeAddress.test(part) && !known.some((email) => email.toLowerCase() === part);
  const matching = isNew ? [typed.trim(), ...known] : known;
  const shown = matching.slice(0, shownMax);
  const more = matching.length - shown.length;
  if (chosen === null || shown.includes(chosen)) return { shown, more };
  return { shown: [chosen, ...shown], more: matching.includes(chosen) ? more - 1 : more };
}
