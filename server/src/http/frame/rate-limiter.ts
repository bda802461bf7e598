// Counts calls per API key in this process's memory, by the rule of domain/access/rate-limit.ts.

import { decideRate, type RateDecision, type RateLimit } from "../../domain/access/rate-limit.ts";

/** The most keys remembered. A forgotten key just starts with a full bucket. */
const keysMax = 50_000;

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #fullAtMs = new Map<string, number>();

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  take(keyDigest: Buffer, nowMs: number): RateDecision {
    const key = keyDigest.toString("latin1");
    const decision = decideRate(this.#limit, this.#fullAtMs.get(key) ?? 0, nowMs);
    this.#fullAtMs.delete(key);
    this.#fullAtMs.set(key, decision.fullAtMs);
    if (this.#fullAtMs.size > keysMax) this.#forgetOldest();
    return decision;
  }

  /** Whether a call could be made now. It takes nothing. */
  look(keyDigest: Buffer, nowMs: number): RateDecision {
    return decideRate(this.#limit, this.#fullAtMs.get(keyDigest.toString("latin1")) ?? 0, nowMs);
  }

  /** The draft standard's two fields, and the three older ones that most clients read. */
  headers(decision: RateDecision): Record<string, string> {
    const { perSecond, burst } = this.#limit;
    const resetSeconds = Math.ceil(decision.resetMs / 1000);
    const windowSeconds = Math.max(1, Math.ceil(burst / perSecond));
    const headers: Record<string, string> = {
      "ratelimit-policy": `"per-key";q=${burst};w=${windowSeconds}`,
      ratelimit: `"per-key";r=${decision.remaining};t=${resetSeconds}`,
      "ratelimit-limit": String(burst),
      "ratelimit-remaining": String(decision.remaining),
      "ratelimit-reset": String(resetSeconds),
    };
    if (!decision.allowed) {
      headers["retry-after"] = String(Math.max(1, Math.ceil(decision.retryAfterMs / 1000)));
    }
    return headers;
  }

  /** A map keeps the order of insertion, and every use inserts again: the first key is the least recently used. */
  #forgetOldest(): void {
    const [oldest] = this.#fullAtMs.keys();
    if (oldest !== undefined) this.#fullAtMs.delete(oldest);
  }
}
