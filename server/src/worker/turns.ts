// Lets only so many at a time do what costs memory, and of these only so many for one workspace, so that nobody with
// many large bodies on slow receivers makes the others wait. Whoever waits holds nothing.

type Waiting = { key: string; begin: () => void };

export class Turns {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #total = 0;

  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#hasRoomFor(key)) this.#take(key);
    else await new Promise<void>((begin) => this.#waiting.push({ key, begin }));
    try {
      return await work();
    } finally {
      this.#giveBack(key);
    }
  }

  #hasRoomFor(key: string): boolean {
    return this.#total < this.#max && (this.#taken.get(key) ?? 0) < this.#maxPerKey;
  }

  #take(key: string): void {
    this.#total += 1;
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
  }

  #giveBack(key: string): void {
    this.#total -= 1;
    const left = (this.#taken.get(key) ?? 0) - 1;
    if (left > 0) this.#taken.set(key, left);
    else this.#taken.delete(key);
    const next = this.#waiting.findIndex((waiting) => this.#hasRoomFor(waiting.key));
    const [waiting] = next === -1 ? [] : this.#waiting.splice(next, 1);
    if (waiting === undefined) return;
    this.#take(waiting.key);
    waiting.begin();
  }
}
