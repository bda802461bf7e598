// The steps of a channel around an attempt. The worker needs only an entry of this form to deliver through a channel:
// channel-pump.ts claims, sends, retries, records and logs by it.

import type { NextStep } from "../domain/delivery/delivery.ts";
import type { AttemptOutcome, interrupted } from "../domain/shown/attempt.ts";
import type { Channel } from "../domain/shown/destination.ts";
import type { AttemptEnd, Lease } from "../storage/deliveries/attempts.ts";
import type { Room } from "./pump.ts";

/** One message to send. It may end the attempts of several deliveries. */
export type Job = {
  leases: readonly (Lease & { event: string })[];
  /** When its event happened, by the database's clock. */
  eventAt: Date;
  /** By the database's clock, where the claim tells. */
  claimedAt?: Date;
  numberInRound: number;
  /** How many crashes in a row have cut it short before. */
  crashesInRow: number;
};

export type Claim<Claimed extends Job> = {
  jobs: Claimed[];
  /** The wait of each delivery that this claim put off. */
  waitMs: readonly number[];
  /** Others can be claimed right after this: it moved rows out of the way, or did not look at all that is due. */
  isMore: boolean;
};

export type EndedOutcome = Exclude<AttemptOutcome, typeof interrupted>;

/** Answers for each whether its lease was still held. */
export type RecordEnds = (ends: AttemptEnd[]) => Promise<boolean[]>;

/** How sending went. */
export type Answer = {
  outcome: EndedOutcome;
  responseStart: string | null;
  durationMs: number;
  /** The HTTP status, where there is one. */
  status?: number | null;
  retryAfterSeconds?: number | null;
};

/** The message for a job, or for a part of it that fits into one message; or why there is none. */
export type Composed<Claimed extends Job, Message> = { job: Claimed } & (
  | { message: Message }
  /** It needs a key of SECRET_KEY that is not here yet. */
  | { awaitedKeyId: string }
  | { outcome: EndedOutcome }
);

export type Ended<Claimed extends Job, Message> = {
  job: Claimed;
  /** Null when nothing was sent. */
  message: Message | null;
  answer: Answer;
  next: NextStep;
};

export type ChannelWork<Claimed extends Job, Message> = {
  channel: Channel;
  inFlightMax: number;
  /** An attempt is over by then. */
  timeoutMs: number;
  retryDelaysMs: readonly number[];
  /** For the operator, by outcome: faults that nobody else can mend. */
  advice: Partial<Record<AttemptOutcome, string>>;
  /** How a delivery that failed for good is logged. */
  failureLevel: "info" | "warn";
  claim: (room: Room<Claimed>) => Promise<Claim<Claimed>>;
  compose: (job: Claimed) => Promise<Composed<Claimed, Message>>;
  send: (message: Message) => Promise<Answer>;
  /** Called before the end is recorded. Answers the next step where the outcome alone doesn't tell. */
  onAnswer?: (job: Claimed, answer: Answer) => Promise<NextStep | null>;
  /** How a job that failed for good is recorded, if something must follow in the same transaction. */
  recordFailure?: (job: Claimed, answer: Answer) => RecordEnds | null;
  /** How a job that arrived is recorded, likewise. */
  recordSuccess?: (job: Claimed) => RecordEnds | null;
  /** Called after the end was recorded, unless another worker has taken over. */
  onRecorded?: (ended: Ended<Claimed, Message>) => Promise<void>;
  /** Ids and figures for the log, beside those that all channels have. Neither addresses nor words. */
  factsOf?: (job: Claimed) => Record<string, string | number>;
};
