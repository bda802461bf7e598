import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { asHolder } from "./holder.ts";
import { markUndone, ShortOutage } from "./short-outage.ts";

const never = () => false;

function undone(): Error {
  const fault = new Error("away");
  markUndone(fault);
  return fault;
}

test("work that was certainly undone is done again until it succeeds", async () => {
  const outage = new ShortOutage(60_000);
  let tries = 0;
  const work = async () => {
    tries += 1;
    if (tries < 4) throw undone();
    return "done";
  };
  assert.equal(await outage.outlast(work, never), "done");
  assert.equal(tries, 4);
});

test("a fault that leaves it open whether the work was done is thrown at once", async () => {
  const outage = new ShortOutage(60_000);
  let tries = 0;
  const work = async () => {
    tries += 1;
    throw new Error("no answer");
  };
  await assert.rejects(outage.outlast(work, never), { message: "no answer" });
  assert.equal(tries, 1);
});

test("an outage that has lasted too long fails calls at once, and the next one is short again", async () => {
  const outage = new ShortOutage(100);
  let tries = 0;
  const fail = async () => {
    tries += 1;
    throw undone();
  };
  await assert.rejects(outage.outlast(fail, never));
  const before = tries;
  await assert.rejects(outage.outlast(fail, never));
  assert.equal(tries, before + 1);
  assert.equal(await outage.outlast(async () => "done", never), "done");
  tries = 0;
  await assert.rejects(outage.outlast(fail, never));
  assert.ok(tries > 1);
});

test("nobody waits in a process that ends, and only so many wait at once", async () => {
  const outage = new ShortOutage(60_000);
  const fail = () => Promise.reject(undone());
  await assert.rejects(outage.outlast(fail, () => true));
  let isBack = false;
  let tries = 0;
  const callers = Array.from({ length: 600 }, (_, n) =>
    asHolder(`holder ${n % 10}`, () =>
      outage
        .outlast(async () => {
          tries += 1;
          if (!isBack) throw undone();
        }, never)
        .then(
          () => "done",
          () => "failed",
        ),
    ),
  );
  const own = outage.outlast(async () => {
    if (!isBack) throw undone();
    return "done";
  }, never);
  const quick = await Promise.race([Promise.all(callers.slice(500)), callers[0]]);
  assert.deepEqual(new Set(quick), new Set(["failed"]));
  await pause(600);
  assert.ok(tries < 600 + 1_000, `${tries} tries: each may be a connection`);
  isBack = true;
  assert.deepEqual(new Set(await Promise.all(callers.slice(0, 500))), new Set(["done"]));
  assert.equal(await own, "done", "the service's own work for many has room");
});

test("an outage that nobody met the end of is over when nobody met it for long", async (context) => {
  let nowMs = 1_000;
  context.mock.method(performance, "now", () => nowMs);
  const outage = new ShortOutage(8_000);
  const failing = async () => {
    nowMs += 5_000;
    throw undone();
  };
  await assert.rejects(outage.outlast(failing, never));
  nowMs += 7 * 3_600_000;
  let tries = 0;
  const answer = await outage.outlast(async () => {
    tries += 1;
    if (tries < 3) throw undone();
    return "done";
  }, never);
  assert.equal(answer, "done");
});

/** As PostgreSQL refuses a write. Gives up in the end, so that who waits for ever is found out. */
function refusedWrites(triesMax: number) {
  const seen = { tries: 0 };
  const work = async () => {
    seen.tries += 1;
    if (seen.tries > triesMax) return "waited for ever";
    throw Object.assign(undone(), { code: "25006" });
  };
  return { seen, work };
}

test("work that is refused while other work succeeds waits no longer than an outage may last", async () => {
  const outage = new ShortOutage(400);
  const others = setInterval(() => void outage.outlast(async () => "read", never), 10);
  try {
    const away = new Error("away");
    markUndone(away);
    let tries = 0;
    const unlucky = async () => {
      tries += 1;
      if (tries > 40) return "waited for ever";
      throw away;
    };
    await assert.rejects(outage.outlast(unlucky, never), away);
    await assert.rejects(outage.outlast(refusedWrites(40).work, never), { code: "25006" });
  } finally {
    clearInterval(others);
  }
});

test("a server that has taken no writes for long fails them at once, whatever reads it answers", async () => {
  const outage = new ShortOutage(200);
  await assert.rejects(outage.outlast(refusedWrites(40).work, never), { code: "25006" });
  await outage.outlast(async () => "read", never);
  const later = refusedWrites(40);
  await assert.rejects(outage.outlast(later.work, never), { code: "25006" });
  assert.equal(later.seen.tries, 1);
});

test("one holder's calls leave room for others to wait", async () => {
  const outage = new ShortOutage(60_000);
  let isBack = false;
  const call = async () => {
    if (!isBack) throw undone();
    return "done";
  };
  const start = () => outage.outlast(call, never).catch(() => "failed");
  const its = asHolder("a", () => Array.from({ length: 600 }, start));
  const others = ["b", null].map((holder) => asHolder(holder, start));
  assert.deepEqual(new Set(await Promise.all(its.slice(250))), new Set(["failed"]));
  isBack = true;
  assert.deepEqual(await Promise.all(others), ["done", "done"]);
  assert.deepEqual(new Set(await Promise.all(its.slice(0, 250))), new Set(["done"]));
});
