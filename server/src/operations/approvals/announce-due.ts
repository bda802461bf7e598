// Tells workers in other processes that something became due. Announcements take a lock on the whole database
// when they commit, so they are never part of a create, and at most one goes out in a while.

import type { Database } from "../../database/database.ts";
import * as deliveries from "../../storage/deliveries/deliveries.ts";

const intervalMs = 20;

export function makeAnnounceDue(db: Database): () => void {
  let isResting = false;
  let isWanted = false;
  return function announce(): void {
    if (isResting) {
      isWanted = true;
      return;
    }
    isResting = true;
    // One that is lost costs time only: workers also poll.
    deliveries.announceDue(db).catch(() => {});
    setTimeout(() => {
      isResting = false;
      if (!isWanted) return;
      isWanted = false;
      announce();
    }, intervalMs).unref();
  };
}
