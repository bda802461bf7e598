// Tells workers in other processes that something became due. A NOTIFY locks the whole database when it commits, so it
// is never part of a create, and at most one goes out per interval.

import type { Database } from "../../database/database.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";

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
    // A lost one costs only time: workers also poll.
    newDeliveries.announceDue(db).catch(() => {});
    setTimeout(() => {
      isResting = false;
      if (!isWanted) return;
      isWanted = false;
      announce();
    }, intervalMs).unref();
  };
}
