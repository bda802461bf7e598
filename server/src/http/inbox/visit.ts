// Who calls the inbox: the person behind the session cookie, within the rate of their session. Calls answer in the
// envelope of the review page, whose parts the inbox is made of.

import type { Database } from "../../database/database.ts";
import { digestOfToken } from "../../domain/access/sign-in.ts";
import { sessionCallsBurstMax, sessionCallsPerMinuteMax } from "../../domain/limits.ts";
import type { Amr } from "../../domain/proof/evidence.ts";
import { noteVisit } from "../../operations/people/sign-in.ts";
import type { InboxWatch } from "../../storage/approvals/inbox-watch.ts";
import type { ReviewAccess } from "../../storage/approvals/reviews.ts";
import * as sessions from "../../storage/people/sessions.ts";
import { sessionTokenOf } from "../dashboard/session-cookie.ts";
import type { Answer, Call, Caller } from "../frame/call.ts";
import { reviewProblem } from "../frame/problems.ts";
import { RateLimiter } from "../frame/rate-limiter.ts";
import type { ReviewCalls } from "../review/reviews.ts";

export type InboxCalls = ReviewCalls & {
  /** Milliseconds since some fixed time, for rate limits. */
  clock: () => number;
  inboxWatch: InboxWatch;
  /** What browsers subscribe to for push messages, in base64url. */
  pushPublicKey: () => Promise<string>;
};

/** A signed-in person: their address is proven, in any case. */
export type Person = {
  id: string;
  email: string;
  sessionId: string;
  method: sessions.SignInMethod;
};

export type Visit = { call: Call; person: Person };

const sessionRate = { perSecond: sessionCallsPerMinuteMax / 60, burst: sessionCallsBurstMax };

export class InboxDoor {
  readonly #calls: Pick<InboxCalls, "db" | "origin" | "clock">;
  readonly #limiter = new RateLimiter(sessionRate);

  constructor(calls: Pick<InboxCalls, "db" | "origin" | "clock">) {
    this.#calls = calls;
  }

  /** Answers for the person who is signed in, or says that nobody is. */
  async enter<Told extends object>(
    call: Call,
    work: (visit: Visit) => Promise<Told>,
  ): Promise<Told | Answer> {
    const token = sessionTokenOf(call, this.#calls.origin.publicUrl);
    if (token === null) return signedOut();
    const tokenDigest = digestOfToken(token);
    // Checked before any query, because the limit protects the database.
    const { allowed, retryAfterMs } = this.#limiter.take(tokenDigest, this.#calls.clock());
    if (!allowed) return tooMany(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
    const visitor = await sessions.findVisitor(this.#calls.db, tokenDigest, null);
    if (visitor === null) return signedOut();
    await noteVisit(this.#calls.db, visitor);
    const { personId: id, email, sessionId, method } = visitor;
    return work({ call, person: { id, email, sessionId, method } });
  }

  /** Who sends a large body; null when nobody is signed in. */
  async find(caller: Caller): Promise<sessions.Visitor | null> {
    const token = sessionTokenOf(caller, this.#calls.origin.publicUrl);
    return token === null ? null : findVisitor(this.#calls.db, token);
  }
}

function findVisitor(db: Database, token: string): Promise<sessions.Visitor | null> {
  return sessions.findVisitor(db, digestOfToken(token), null);
}

const reviewerIdPattern = /^rev_[0-9a-f]{32}$/;

/** A malformed id is looked up as one that nobody has, so it looks like an unknown one. */
export function reviewerIdOf(text: string): string {
  return reviewerIdPattern.test(text) ? text : "";
}

/** The place that a path names, for whoever has proven this address. */
export function accessOf(
  { params }: Pick<Caller, "params">,
  email: string,
): ReviewAccess & { kind: "person" } {
  return accessTo(params.id ?? "", email);
}

export function accessTo(id: string, email: string): ReviewAccess & { kind: "person" } {
  return { reviewerId: reviewerIdOf(id), email, kind: "person", via: "inbox" };
}

/** What a decision in this session says of how its maker got in. */
export function amrOf({ method }: Person): Amr[] {
  return method === "passkey" ? ["session", "passkey"] : ["session"];
}

export function nothingHere(): Answer {
  return reviewProblem("not_found", "There is nothing at this address. Load the page again.");
}

export function signedOut(): Answer {
  return reviewProblem(
    "signed_out",
    "You are not signed in, or your session has ended. Nothing was decided. Sign in again.",
  );
}

function tooMany(seconds: number): Answer {
  const problem = reviewProblem(
    "rate_limited",
    "This browser asks for more than it may, perhaps in many tabs at once. Nothing was decided by this. Wait a moment, then try again.",
  );
  return { ...problem, headers: { "retry-after": String(seconds) } };
}
