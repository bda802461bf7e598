// After a restore: holds everything that was due when the backup was made, because it may have been sent since, and
// releases it when the operator says so.

import { type Database, inTransaction } from "../../database/database.ts";
import { operator } from "../../domain/workspace/activity.ts";
import * as held from "../../storage/deliveries/held-deliveries.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as activity from "../../storage/workspaces/activity.ts";

const batch = 1_000;

export type Held = { deliveries: number; messages: number };

/** No worker may run. One that is killed half-way is simply run again. */
export async function holdAfterRestore(db: Database): Promise<Held> {
  const messages = await inTransaction(db, held.settleMessages);
  for (let deliveries = 0; ; ) {
    const count = await inTransaction(db, (tx) => held.holdDue(tx, batch));
    if (count === 0) return { deliveries, messages };
    deliveries += count;
  }
}

export async function releaseHeld(db: Database): Promise<{ released: number }> {
  let after: held.HeldPlace = { workspaceId: "", id: "" };
  for (let released = 0; ; ) {
    const places = await inTransaction(db, async (tx) => {
      const some = await held.releaseHeld(tx, { after, limit: batch });
      for (const [workspaceId, ofIt] of Map.groupBy(some, (place) => place.workspaceId)) {
        await activity.insert(tx, {
          workspaceId,
          actor: operator.actor,
          action: "deliveries.resent",
          subject: "all that a restore had held",
          detail: { count: String(ofIt.length) },
        });
      }
      await newDeliveries.announceDue(tx);
      return some;
    });
    const last = places.at(-1);
    if (last === undefined) return { released };
    released += places.length;
    after = last;
  }
}
