// Gathers calls that arrive while others are under way, and runs each gathering as one batch. The first caller never
// waits: a lone call leaves at once, and under load the batches grow by themselves. A batch takes one item of each
// holder in turn, so that nobody waits behind another's thousand.

import { FairQueue, type Holder } from "../domain/fair-queue.ts";
import {
  gatheredBatchesInFlightMax,
  gatheredItemsMax,
  gatheredWaitingMax,
  gatheredWaitingPerHolderMax,
  gatheredWaitMs,
} from "../domain/limits.ts";
import type { Span } from "../domain/tracer.ts";
import { currentSpan, inSpan, sharedSpan } from "./current-span.ts";
import { DatabaseBusy, isGone } from "./faults.ts";
import { asHolder, currentHolder } from "./holder.ts";

type Waiting<Item, Result> = {
  item: Item;
  span: Span | null;
  since: number;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
};

export type GatherOptions = {
  itemsMax?: number;
  batchesInFlightMax?: number;
  /** The most items of one holder under way at a time, if items travel alone. */
  perHolderMax?: number;
  /** Told of each batch. */
  onBatch?: ((items: number) => void) | undefined;
};

export type Gathered<Item, Result> = ((item: Item) => Promise<Result>) & {
  /** Items of this holder wait or are under way. */
  isBusyFor(holder: Holder): boolean;
};

/**
 * Wraps `carryOut`, which answers a batch with one result per item in the same order, so that it can
 * be called with single items. A fault of a batch is the fault of each of its items; a result that is
 * a promise may still fail for its own item alone.
 */
export function gather<Item, Result>(
  carryOut: (items: Item[]) => Promise<(Result | Promise<Result>)[]>,
  options: GatherOptions = {},
): Gathered<Item, Result> {
  const { itemsMax = gatheredItemsMax, batchesInFlightMax = gatheredBatchesInFlightMax } = options;
  const { perHolderMax = Number.POSITIVE_INFINITY, onBatch } = options;
  const queue = new FairQueue<Waiting<Item, Result>>();
  const underWay = new Map<Holder, number>();
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
      // If the database is gone, the callers behind would just learn it later. A slow statement doesn't mean that.
      const failed = isGone(error) ? [...batch, ...queue.takeAll()] : batch;
      for (const { reject } of failed) reject(error);
    }
  }

  function takeBatch(): { holders: Holder[]; batch: Waiting<Item, Result>[] } {
    const holders: Holder[] = [];
    const batch: Waiting<Item, Result>[] = [];
    const isReady = (holder: Holder) => (underWay.get(holder) ?? 0) < perHolderMax;
    const tooOld = performance.now() - gatheredWaitMs;
    while (batch.length < itemsMax) {
      const next = queue.take(isReady);
      if (next === null) break;
      if (next.item.since < tooOld) {
        next.item.reject(new DatabaseBusy("the database did not answer in good time"));
        continue;
      }
      holders.push(next.holder);
      batch.push(next.item);
    }
    return { holders, batch };
  }

  function start(): void {
    while (inFlight < batchesInFlightMax && queue.size > 0) {
      const { holders, batch } = takeBatch();
      if (batch.length === 0) return;
      inFlight += 1;
      onBatch?.(batch.length);
      for (const holder of holders) underWay.set(holder, (underWay.get(holder) ?? 0) + 1);
      // A batch for many is the service's own; an item that travels alone is its holder's.
      const [holder = null] = itemsMax === 1 ? holders : [];
      const asked = () => asHolder(holder, () => run(batch));
      void inSpan(sharedSpan(batch), asked).finally(() => {
        inFlight -= 1;
        for (const each of holders) {
          const left = (underWay.get(each) ?? 0) - 1;
          if (left > 0) underWay.set(each, left);
          else underWay.delete(each);
        }
        start();
      });
    }
  }

  const call = (item: Item) =>
    new Promise<Result>((resolve, reject) => {
      const holder = currentHolder();
      if (queue.size >= gatheredWaitingMax || queue.sizeOf(holder) >= gatheredWaitingPerHolderMax) {
        reject(new DatabaseBusy("too many calls wait for the database"));
        return;
      }
      const span = currentSpan();
      queue.push(holder, { item, span, since: performance.now(), resolve, reject });
      start();
    });
  const isBusyFor = (holder: Holder) => queue.sizeOf(holder) > 0 || underWay.has(holder);
  return Object.assign(call, { isBusyFor });
}
