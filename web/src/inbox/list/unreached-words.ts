// What the list says while the service can't be reached.

import { inboxWords } from "../frame/inbox-words.ts";

/** A browser that says it is offline is; one that says otherwise may not know. */
export function unreachedWords(): string {
  return navigator.onLine ? inboxWords.trying : inboxWords.offline;
}
