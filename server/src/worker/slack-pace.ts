// How fast this process calls Slack: each kind of call has a bucket of turns that fills steadily. Other processes keep
// their own pace; where together they are too fast, Slack says so, and that pauses the kind.

import { setTimeout as pause } from "node:timers/promises";

export type PaceRule = {
  /** A turn comes back in this time. */
  everyMs: number;
  /** So many may follow each other at once. */
  burst: number;
};

/** Longer waits are left to the queue. */
const waitMaxMs = 2_000;
/** A queue that is asked again sooner would only be busy. */
const laterMinMs = 100;
const bucketsMax = 10_000;

type Bucket = { turns: number; atMs: number };

export class SlackPace {
  readonly #clock: () => number;
  readonly #buckets = new Map<string, Bucket>();
  readonly #distances = new Map<string, Promise<void>>();

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** How long to wait before the call, whose turn is then taken; or how long until it is worth asking again. */
  take(
    kind: string,
    rule: PaceRule,
  ): { kind: "turn"; waitMs: number } | { kind: "later"; ms: number } {
    const bucket = this.#fill(kind, rule);
    const waitMs = Math.max(0, (1 - bucket.turns) * rule.everyMs);
    if (waitMs > waitMaxMs) {
      return { kind: "later", ms: Math.max(laterMinMs, Math.ceil(waitMs - waitMaxMs)) };
    }
    bucket.turns -= 1;
    return { kind: "turn", waitMs };
  }

  /** Slack wants none of this kind for a while. */
  pause(kind: string, rule: PaceRule, ms: number): void {
    const bucket = this.#fill(kind, rule);
    bucket.turns = Math.min(bucket.turns, 1 - ms / rule.everyMs);
  }

  /**
   * The call, once the former one of its kind has ended so long ago. Where no two may follow each other at once, the
   * distance counts from the end: when in between Slack counted the former is unknown.
   */
  async keepDistance<Answer>(
    kind: string,
    { everyMs, burst }: PaceRule,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    if (burst > 1) return call();
    const answer = (this.#distances.get(kind) ?? Promise.resolve()).then(call);
    const distance = answer
      .catch(() => {})
      .then(() => {
        this.pause(kind, { everyMs, burst }, everyMs);
        return pause(everyMs, undefined, { ref: false });
      })
      .then(() => {
        if (this.#distances.get(kind) === distance) this.#distances.delete(kind);
      });
    this.#distances.set(kind, distance);
    return answer;
  }

  #fill(kind: string, { everyMs, burst }: PaceRule): Bucket {
    const now = this.#clock();
    const { turns, atMs } = this.#buckets.get(kind) ?? { turns: burst, atMs: now };
    const bucket = { turns: Math.min(burst, turns + (now - atMs) / everyMs), atMs: now };
    // The oldest is forgotten: it is full again, or it will be told by Slack.
    if (this.#buckets.size >= bucketsMax) {
      const [oldest = kind] = this.#buckets.keys();
      this.#buckets.delete(oldest);
    }
    this.#buckets.delete(kind);
    this.#buckets.set(kind, bucket);
    return bucket;
  }
}
