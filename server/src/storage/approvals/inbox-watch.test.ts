import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { currentSpan, inSpan } from "../../database/current-span.ts";
import type { Database } from "../../database/database.ts";
import { asHolder, currentHolder } from "../../database/holder.ts";
import type { Listener } from "../../database/listener.ts";
import { inboxPollMs, inboxPollPauseMs } from "../../domain/channels/inbox-limits.ts";
import type { Span } from "../../domain/tracer.ts";
import { resolutionChannel } from "./approval-resolution.ts";
import { InboxWatch } from "./inbox-watch.ts";

const ann = { email: "Ann@example.com", sessionId: "ses_1" };

/** A watch on a database that has one open request of one person, and keeps what it was asked. */
function makeWatch(
  context: TestContext,
  { isAway }: { isAway: () => boolean } = { isAway: () => false },
) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const asked: string[] = [];
  const announced: ((payload: string) => void)[] = [];
  const open = [["ws_1", "req_1", "PENDING"]];
  const seen = { email: "ann@example.com", since: "rev_", places: 1, open };
  const query = async ({ name }: { name: string }) => {
    asked.push(currentSpan() === null && currentHolder() === null ? name : `${name} for a call`);
    if (isAway()) throw new Error("the database is away");
    return { rows: name === "inbox.readSeen" ? [seen] : [] };
  };
  const listener = {
    on: (channel: string, handler: (payload: string) => void) => {
      assert.equal(channel, resolutionChannel);
      announced.push(handler);
    },
    onChange: () => {},
  };
  const watch = new InboxWatch({ query } as unknown as Database, listener as unknown as Listener);
  const pass = async (ms: number) => {
    context.mock.timers.tick(ms);
    for (let step = 0; step < 5; step += 1) await setImmediate();
  };
  const announce = (payload: string) => {
    for (const handler of announced) handler(payload);
  };
  return { watch, asked, pass, announce };
}

test("nothing is asked while nobody listens, and one statement a second for all who do", async (context) => {
  const { watch, asked, pass, announce } = makeWatch(context);
  announce("req_1");
  await pass(10 * inboxPollMs);
  assert.deepEqual(asked, []);
  const listening = Array.from({ length: 8 }, () => watch.listen(ann));
  await pass(inboxPollPauseMs);
  assert.deepEqual(asked, ["inbox.findChanges", "inbox.readSeen"]);
  await pass(inboxPollMs);
  await pass(inboxPollMs);
  assert.deepEqual(asked.slice(2), ["inbox.findChanges", "inbox.findChanges"]);
  for (const each of listening) each?.close();
  await pass(inboxPollMs);
  await pass(10 * inboxPollMs);
  assert.equal(asked.length, 4);
});

test("the look is everybody's: no part of the call that began to listen", async (context) => {
  const { watch, asked, pass } = makeWatch(context);
  const span: Span = { traceId: "1", ask: () => span, end: () => {} };
  inSpan(span, () => asHolder("ws_1", () => watch.listen(ann)));
  await pass(inboxPollPauseMs);
  await pass(inboxPollMs);
  assert.deepEqual(asked, ["inbox.findChanges", "inbox.readSeen", "inbox.findChanges"]);
});

test("an announcement of a request that somebody sees makes it look at once, and of another one doesn't", async (context) => {
  const { watch, asked, pass, announce } = makeWatch(context);
  watch.listen(ann);
  await pass(inboxPollPauseMs);
  asked.length = 0;
  announce("req_2,req_3");
  await pass(inboxPollPauseMs);
  assert.deepEqual(asked, []);
  announce("req_2,req_1");
  await pass(inboxPollPauseMs);
  assert.deepEqual(asked, ["inbox.findChanges"]);
});

test("while the database is away it is asked once a second, and listeners are told once it is back", async (context) => {
  let isAway = true;
  const { watch, asked, pass } = makeWatch(context, { isAway: () => isAway });
  const listening = watch.listen(ann);
  const next = listening?.next(60_000);
  await pass(inboxPollPauseMs);
  await pass(inboxPollMs);
  assert.deepEqual(asked, ["inbox.findChanges", "inbox.findChanges"]);
  isAway = false;
  await pass(inboxPollMs);
  assert.equal(await next, "changed");
});

test("who was told that it is over is told nothing else, and a stop tells everybody", async (context) => {
  const { watch, pass } = makeWatch(context);
  const [one, two] = [watch.listen(ann), watch.listen({ ...ann, email: "bob@example.com" })];
  const next = two?.next(60_000);
  one?.close();
  one?.close();
  assert.deepEqual([await one?.next(1), watch.listening], ["ended", 1]);
  watch.stop();
  assert.equal(await next, "ended");
  await pass(inboxPollMs);
  assert.deepEqual([await two?.next(1), watch.listen(ann)], ["ended", null]);
});
