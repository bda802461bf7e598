// Counts large answers until their readers have taken them. A caller that asks for many and doesn't read them gets no
// more, and is cut off when it takes nothing for long.

import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { callsPerConnectionMax, largeAnswerBytesMin } from "../../domain/limits.ts";
import type { Answer, StreamedAnswer } from "./call.ts";
import type { FairBudget, Lease } from "./fair-budget.ts";
import { problem } from "./problems.ts";

const retrySeconds = 5;

export type Delivery = {
  connection: Connection;
  /** The name under which the answer is counted. */
  holder: string;
  /** The caller sent a large body, admitted with its answer in mind. The call may have changed something. */
  isOwed: boolean;
  /** A reader that takes nothing is cut off after one to two such periods. Other connections get longer. */
  stallMs: number;
  idleMs: number;
};

type Connection = { socket: unknown; response: ServerResponse };

/** Counts the answer and gives null when it may be sent. Otherwise gives a small answer: come back later. */
export function refuseUnread(
  budget: FairBudget,
  { body }: LargeAnswer,
  { connection, holder, isOwed, ...timeouts }: Delivery,
): Answer | null {
  const { socket, response } = connection;
  // A call from within the service takes its answer at once.
  if (!(socket instanceof Socket)) return null;
  const bytes = Buffer.byteLength(body);
  const lease = isOwed ? budget.takeAnyway(holder, bytes) : budget.take(holder, bytes);
  if (lease === null) return tooManyUnread(budget.isOverShare(holder, bytes));
  holdUntilSent(lease, { socket, response, ...timeouts });
  return null;
}

type LargeAnswer = Answer & { body: string | Uint8Array };

/** Large answers, and small ones that can't leave yet, because earlier answers on the connection wait. */
export function isCounted(
  answer: Answer | StreamedAnswer,
  { socket }: ServerResponse,
): answer is LargeAnswer {
  if (!("body" in answer) || answer.body === null) return false;
  const isBehind = socket === null || socket.writableLength > 0;
  return isBehind || answer.body.length > largeAnswerBytesMin;
}

type Timeouts = Pick<Delivery, "stallMs" | "idleMs">;

function holdUntilSent(
  lease: Lease,
  { socket, response, stallMs, idleMs }: { socket: Socket; response: ServerResponse } & Timeouts,
): void {
  if (socket.destroyed) {
    lease.release();
    return;
  }
  const onEnd = () => {
    response.off("close", onEnd);
    socket.off("close", onEnd);
    socket.setTimeout(idleMs);
    lease.release();
  };
  // One per call under way.
  socket.setMaxListeners(2 * callsPerConnectionMax);
  response.once("close", onEnd);
  // An answer that waits behind another on its connection gets no event when that connection closes.
  socket.once("close", onEnd);
  socket.setTimeout(stallMs);
}

function tooManyUnread(isOwnDoing: boolean): Answer {
  const headers = { "retry-after": String(retrySeconds) };
  return isOwnDoing
    ? problem(
        "rate_limited",
        "Too many large answers have not been read yet. Read them, wait for the seconds in Retry-After, then ask again.",
        headers,
      )
    : problem(
        "unavailable",
        "Too many large answers are under way. Wait for the seconds in Retry-After, then ask again.",
        headers,
      );
}
