// Gathers calls that come while others are under way, and carries each gathering out as one batch.
// The first caller never waits: a lone call leaves at once, and under load the batches grow by themselves.

import {
  gatheredBatchesInFlightMax,
  gatheredItemsMax,
  gatheredWaitingMax,
} from "../domain/limits.ts";
import { DatabaseBusy, isOutOfReach } from "./database.ts";

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
};

/**
 * Wraps `carryOut`, which answers a batch with one result per item in the same order, so that it can
 * be called with single items. A fault of a batch is the fault of each of its items; a result that is
 * a promise may still fail for its own item alone.
 */
export function gather<Item, Result>(
  carryOut: (items: Item[]) => Promise<(Result | Promise<Result>)[]>,
  { itemsMax = gatheredItemsMax, batchesInFlightMax = gatheredBatchesInFlightMax } = {},
): (item: Item) => Promise<Result> {
  const queue: Waiting<Item, Result>[] = [];
  let inFlight = 0;

  async function run(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await carryOut(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result === undefined) reject(new Error("a batch answered fewer results than items"));
        else resolve(result);
      });
    } catch (error) {
      // When the database is out of reach those who wait behind would learn the same, only later.
      const failed = isOutOfReach(error) ? [...batch, ...queue.splice(0)] : batch;
      for (const { reject } of failed) reject(error);
    }
  }

  function start(): void {
    while (inFlight < batchesInFlightMax && queue.length > 0) {
      const batch = queue.splice(0, itemsMax);
      inFlight += 1;
      void run(batch).finally(() => {
        inFlight -= 1;
        start();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (queue.length >= gatheredWaitingMax) {
        reject(new DatabaseBusy("too many calls wait for the database"));
        return;
      }
      queue.push({ item, resolve, reject });
      start();
    });
}
