// Checks who may make a call, by the access that its route names, before the body is read.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Cidr } from "../../domain/access/network-address.ts";
import type { RateLimit } from "../../domain/access/rate-limit.ts";
import { slackCallsLimit } from "../../domain/channels/slack-limits.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { authenticate, authenticateMcp } from "./authenticate.ts";
import type { Answer, Call } from "./call.ts";
import { forReader, headerOf, send, toCaller } from "./exchange.ts";
import { innerKeyDigest } from "./inner-call.ts";
import { dashboardHeaders, inboxHeaders, reviewHeaders } from "./page-headers.ts";
import {
  crossOrigin,
  dashboardCrossOrigin,
  inboxCrossOrigin,
  networkRateLimited,
  notFound,
  problemOfRefusal,
  rateLimited,
  reviewRateLimited,
  unprovenSlack,
} from "./problems.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { withResourceMetadata } from "./resource-metadata.ts";
import { ReviewLimiter } from "./review-limiter.ts";
import type { Route } from "./route.ts";
import { isFromOurPage, originOf } from "./same-origin.ts";
import { isFromThisMachine } from "./this-machine.ts";

export type GuardOptions = {
  /** The address people use. An object, because the port may be chosen late. */
  origin: { readonly publicUrl: string };
  rateLimit: RateLimit | null;
  /** Proxies whose X-Forwarded-For we trust. */
  trustedProxies: readonly Cidr[];
  /** Milliseconds since some fixed time, for the rate limit. */
  clock: () => number;
};

export type Guard = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

export function makeGuards(options: GuardOptions): Record<Route["access"], Guard | null> {
  const limiter = options.rateLimit === null ? null : new RateLimiter(options.rateLimit);
  return {
    // Calls of a tool count for the key that the message came with.
    api_key: makeKeyGuard(options, limiter, { find: authenticate, refuse: problemOfRefusal }),
    mcp: makeKeyGuard(options, limiter, {
      find: authenticateMcp,
      refuse: (refusal) => withResourceMetadata(problemOfRefusal(refusal), options.origin),
    }),
    review_link: makeReviewGuard(options),
    dashboard: makeSessionGuard(options, dashboardHeaders, dashboardCrossOrigin),
    inbox: makeSessionGuard(options, inboxHeaders, inboxCrossOrigin),
    slack: makeSlackGuard(options),
    this_machine: guardThisMachine,
    anyone: null,
  };
}

/** What doesn't even look signed isn't read. Slack's many addresses stay far below the limit of each. */
function makeSlackGuard({ clock, trustedProxies }: GuardOptions): Guard {
  const limiter = new RateLimiter(slackCallsLimit);
  return (request, reply, done) => {
    const { header, address } = toCaller(request, trustedProxies);
    if (!looksSignedBySlack(header)) {
      send(reply, unprovenSlack());
      return;
    }
    const { allowed, retryAfterMs } = limiter.take(Buffer.from(address ?? ""), clock());
    if (allowed) done();
    else send(reply, networkRateLimited(Math.max(1, Math.ceil(retryAfterMs / 1_000))));
  };
}

function looksSignedBySlack(header: Call["header"]): boolean {
  const timestamp = header("x-slack-request-timestamp");
  const signature = header("x-slack-signature");
  return (
    typeof timestamp === "string" &&
    typeof signature === "string" &&
    /^[0-9]{1,12}$/.test(timestamp) &&
    /^v0=[0-9a-f]{64}$/.test(signature)
  );
}

/** To everybody else it looks like an unknown path. */
function guardThisMachine(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { socket, httpVersion, headers } = request.raw;
  const isHere = isFromThisMachine({ address: socket.remoteAddress, httpVersion, headers });
  if (isHere) done();
  else send(reply, notFound());
}

type KeyWay = {
  find: typeof authenticate;
  refuse: (refusal: Refusal) => Answer;
};

/** Lets a call pass that carries something like an API key and is within its rate. */
function makeKeyGuard(
  { clock }: GuardOptions,
  limiter: RateLimiter | null,
  { find, refuse }: KeyWay,
): Guard {
  return (request, reply, done) => {
    const keyDigest = innerKeyDigest() ?? find((name) => headerOf(request, name));
    if (isRefusal(keyDigest)) {
      send(reply, refuse(keyDigest));
      return;
    }
    request.keyDigest = keyDigest;
    if (limiter === null) return done();
    const charge = (digest: Buffer): Answer | null => {
      const decision = limiter.take(digest, clock());
      reply.headers(limiter.headers(decision));
      return decision.allowed ? null : rateLimited();
    };
    request.charge = charge;
    const refused = charge(keyDigest);
    if (refused === null) done();
    else send(reply, refused);
  };
}

/** Lets a call to a review pass if it only reads, or comes from the review page itself, within the rate. */
function makeReviewGuard({ origin, clock, trustedProxies }: GuardOptions): Guard {
  const limiter = new ReviewLimiter();
  return (request, reply, done) => {
    reply.headers(reviewHeaders);
    if (isFromElsewhere(request, origin)) {
      send(reply, crossOrigin(originOf(origin.publicUrl)));
      return;
    }
    const { address, params } = toCaller(request, trustedProxies);
    const seconds = limiter.secondsToWait({ address, token: params.token ?? null }, clock());
    if (seconds === 0) done();
    else send(reply, forReader(request, reviewRateLimited(seconds)));
  };
}

/** The same where people sign in. The handler's query checks afterwards whether the caller is signed in. */
function makeSessionGuard(
  { origin }: GuardOptions,
  headers: Readonly<Record<string, string>>,
  refuse: (publicOrigin: string) => Answer,
): Guard {
  return (request, reply, done) => {
    reply.headers(headers);
    if (isFromElsewhere(request, origin)) send(reply, refuse(originOf(origin.publicUrl)));
    else done();
  };
}

function isFromElsewhere(request: FastifyRequest, { publicUrl }: GuardOptions["origin"]): boolean {
  const header = (name: string) => headerOf(request, name);
  return request.method === "POST" && !isFromOurPage(header, publicUrl);
}
