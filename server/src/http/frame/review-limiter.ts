// Limits the calls to one review link, and to all links from one network. A stranger with a link, or one who tries
// links out, gets no more of the service than a busy office needs.

import { hash } from "node:crypto";
import { networkOf } from "../../domain/access/network-address.ts";
import { digestOfReviewToken } from "../../domain/access/review-link.ts";
import {
  reviewLinkCallsBurstMax,
  reviewLinkCallsPerMinuteMax,
  reviewNetworkCallsBurstMax,
  reviewNetworkCallsPerMinuteMax,
} from "../../domain/limits.ts";
import { RateLimiter } from "./rate-limiter.ts";

const linkRate = { perSecond: reviewLinkCallsPerMinuteMax / 60, burst: reviewLinkCallsBurstMax };
const networkRate = {
  perSecond: reviewNetworkCallsPerMinuteMax / 60,
  burst: reviewNetworkCallsBurstMax,
};

export class ReviewLimiter {
  readonly #ofLink = new RateLimiter(linkRate);
  readonly #ofNetwork = new RateLimiter(networkRate);

  /** Seconds to wait; 0 when the call may be made now. */
  secondsToWait(
    { address, token }: { address: string | null; token: string | null },
    nowMs: number,
  ): number {
    const network = hash("sha256", networkOf(address ?? ""), "buffer");
    const decisions = [this.#ofNetwork.take(network, nowMs)];
    if (token !== null) decisions.push(this.#ofLink.take(digestOfReviewToken(token), nowMs));
    const waitMs = Math.max(...decisions.map(({ retryAfterMs }) => retryAfterMs));
    return Math.ceil(waitMs / 1_000);
  }
}
