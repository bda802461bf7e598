// The stream that tells a page when its inbox may differ, as server-sent events. It carries no data: the page asks for what
// it shows. Nothing is made for a reader that doesn't read.

import { inboxHeartbeatMs } from "../../domain/channels/inbox-limits.ts";
import type { InboxListening, InboxNews } from "../../storage/approvals/inbox-watch.ts";
import type { Answer, StreamedAnswer } from "../frame/call.ts";
import { reviewProblem } from "../frame/problems.ts";
import type { InboxCalls, Visit } from "./visit.ts";

const type = "text/event-stream";
const retrySeconds = 30;
/** A browser that lost its stream asks again after this. */
const beginning = "retry: 2000\n\n";
const texts: Record<Exclude<InboxNews, "ended">, string> = {
  changed: "event: changed\ndata: \n\n",
  // A comment, which the page doesn't hear of: it keeps proxies from taking the connection for dead.
  nothing: ":\n\n",
};

export async function listen(
  { inboxWatch }: InboxCalls,
  { call, person }: Visit,
): Promise<Answer | StreamedAnswer> {
  if (call.isHead) return { status: 200, type, body: "" };
  const listening = inboxWatch.listen(person);
  if (listening === null) return tooMany();
  // Some proxies would gather the events to send them together.
  return { status: 200, headers: { "x-accel-buffering": "no" }, type, stream: toStream(listening) };
}

function toStream(listening: InboxListening): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isOver = false;
  return new ReadableStream(
    {
      start: (controller) => controller.enqueue(encoder.encode(beginning)),
      pull: async (controller) => {
        const news = await listening.next(inboxHeartbeatMs);
        if (isOver) return;
        if (news !== "ended") return controller.enqueue(encoder.encode(texts[news]));
        isOver = true;
        listening.close();
        controller.close();
      },
      cancel: () => {
        isOver = true;
        listening.close();
      },
    },
    { highWaterMark: 1 },
  );
}

/** The page then asks now and then. */
function tooMany(): Answer {
  const problem = reviewProblem(
    "rate_limited",
    "Too many pages of this inbox listen for changes already. This one asks now and then instead.",
  );
  return { ...problem, headers: { "retry-after": String(retrySeconds) } };
}
