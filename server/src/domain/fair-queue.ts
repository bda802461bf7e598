// A queue that gives each holder its turn: a holder with one item doesn't wait behind another's thousand.

/** The holder of an item, for fairness alone: a workspace if it is known. Null is the service itself. */
export type Holder = string | null;

export class FairQueue<Item> {
  /** In the order of turns. A holder is here only while it has items. */
  readonly #queues = new Map<Holder, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(holder: Holder): number {
    return this.#queues.get(holder)?.length ?? 0;
  }

  push(holder: Holder, item: Item): void {
    const queue = this.#queues.get(holder);
    if (queue === undefined) this.#queues.set(holder, [item]);
    else queue.push(item);
    this.#size += 1;
  }

  /** The oldest item of the holder whose turn it is, among holders that may proceed. */
  take(mayGoOn: (holder: Holder) => boolean = () => true): { holder: Holder; item: Item } | null {
    for (const [holder, queue] of this.#queues) {
      if (!mayGoOn(holder)) continue;
      const [item] = queue.splice(0, 1);
      if (item === undefined) continue;
      this.#size -= 1;
      // Behind the others, until its next turn.
      this.#queues.delete(holder);
      if (queue.length > 0) this.#queues.set(holder, queue);
      return { holder, item };
    }
    return null;
  }

  remove(holder: Holder, item: Item): void {
    const queue = this.#queues.get(holder);
    const at = queue?.indexOf(item) ?? -1;
    if (queue === undefined || at === -1) return;
    queue.splice(at, 1);
    this.#size -= 1;
    if (queue.length === 0) this.#queues.delete(holder);
  }

  /** Empties the queue. */
  takeAll(): Item[] {
    const items = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#size = 0;
    return items;
  }
}
