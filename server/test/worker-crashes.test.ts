// A worker that is killed or stopped at any point loses nothing and repeats at most one attempt, whose result nobody
// knows. That attempt doesn't count. Each test has a database of its own, since any worker takes whatever is due.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import pg from "pg";
import { SMTPServer } from "smtp-server";
import { inOneStatement } from "../src/database/database.ts";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import {
  crashDelaysSeconds,
  crashesInRowMax,
  leaseSeconds,
  mailRetryDelaysMs,
  retryJitter,
  webhookTimeoutMs,
} from "../src/domain/limits.ts";
import type { Channel, DestinationKind } from "../src/domain/shown/destination.ts";
import { showCallbackSecret } from "../src/operations/deliveries/callback-secret.ts";
import { resendDelivery } from "../src/operations/deliveries/resend-delivery.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
import * as attempts from "../src/storage/deliveries/attempts.ts";
import * as deliveries from "../src/storage/deliveries/deliveries.ts";
import * as dueMails from "../src/storage/deliveries/due-mails.ts";
import * as dueWebhooks from "../src/storage/deliveries/due-webhooks.ts";
import { readEndpointDays } from "../src/storage/deliveries/endpoint-figures.ts";
import * as newDeliveries from "../src/storage/deliveries/new-deliveries.ts";
import { givenBack } from "../src/worker/record-end.ts";
import {
  type Crash,
  type CrashingWorker,
  crashingWorkerName,
  startCrashingWorker,
} from "./crashing-worker.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService, testKeyring } from "./test-service.ts";
import {
  makeEndpoint,
  startReceiver,
  startWorker,
  type TestWorkerOptions,
  testPublicUrl,
} from "./test-worker.ts";
import { isSignedWith } from "./webhook-verifier.ts";

type Answer = NonNullable<Parameters<typeof startReceiver>[0]>;

const answerOk: Answer = (response) => response.end("ok");
const answerBroken: Answer = (response) => response.writeHead(500).end("broken");

/** Answers the first call, the second and so on in its own way; the last way goes for all further ones. */
function inTurn(...answers: Answer[]): Answer {
  let calls = 0;
  return (...args) => {
    const answer = answers[Math.min(calls, answers.length - 1)];
    calls += 1;
    answer?.(...args);
  };
}

const channelTo: Record<DestinationKind, Channel> = {
  endpoint: "webhook",
  mailbox: "mail",
  callback: "callback",
};

/** A service and a workspace on a database of their own, and the workers that come and go on it. */
async function setUp(t: TestContext) {
  const service = await startService({ callbackAllowed: loopbackCidrs });
  const { db, database } = service;
  const { id: workspaceId, key } = await makeWorkspace(db);
  const cleanups: (() => unknown)[] = [() => service.stop()];
  t.after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  /** The one delivery to an endpoint, a mailbox or a callback. */
  const readDelivery = async (to: DestinationKind) => {
    const { rows } = await db.query(
      `select id, state, attempts, due_at, finished_at, leased_until from deliveries
       where channel = $1 order by id limit 1`,
      [channelTo[to]],
    );
    return rows[0];
  };
  let alive = 0;
  return {
    db,
    database,
    workspaceId,
    cleanUp: (cleanup: () => unknown) => void cleanups.push(cleanup),
    async create(more: object = {}): Promise<string> {
      const { status, json } = await service.call("POST", "/v1/requests", {
        key,
        body: { ...minimalBody, ...more },
      });
      assert.equal(status, 201);
      return json.id as string;
    },
    async cancel(id: string): Promise<void> {
      await service.call("POST", `/v1/requests/${id}/cancel`, { key });
    },
    async startDoomed(crash?: Crash, smtpUrl?: string): Promise<CrashingWorker> {
      const doomed = await startCrashingWorker({
        databaseUrl: database.url,
        keyring: testKeyring,
        publicUrl: testPublicUrl,
        ...(crash === undefined ? {} : { crash }),
        ...(smtpUrl === undefined ? {} : { smtpUrl }),
      });
      cleanups.push(() => doomed.signal("SIGKILL"));
      alive += 1;
      void doomed.ended.then(() => {
        alive -= 1;
      });
      return doomed;
    },
    startNext(options: TestWorkerOptions = {}): { stop(): Promise<void> } {
      const { stop } = startWorker(database, options);
      let stopping: Promise<void> | null = null;
      const stopOnce = () => {
        stopping ??= stop();
        return stopping;
      };
      cleanups.push(stopOnce);
      return { stop: stopOnce };
    },
    readDelivery,
    untilState: (to: DestinationKind, state: string) =>
      until(async () => {
        const delivery = await readDelivery(to);
        return delivery?.state === state && delivery;
      }, `the delivery to be ${state}`),
    async readOutcomes(deliveryId: string): Promise<(string | null)[]> {
      const { rows } = await db.query(
        "select outcome from attempts where delivery_id = $1 order by number",
        [deliveryId],
      );
      return rows.map(({ outcome }) => outcome);
    },
    /** Ends all leases as if their time had passed, for their holders and for everybody else. */
    async endLeases(): Promise<void> {
      // PostgreSQL still carries out what a killed worker has asked for, such as another claim.
      await until(async () => {
        const { rows } = await db.query(
          `select 1 from pg_stat_activity
           where datname = current_database() and application_name = $1 and (state <> 'idle' or $2)`,
          [crashingWorkerName, alive === 0],
        );
        return rows.length === 0;
      }, "the doomed worker's statements to end");
      await db.query(
        "update deliveries set leased_until = now() - interval '1 second' where leased_until is not null",
      );
    },
    /** As if the wait for the next attempt had passed. */
    async endWaits(): Promise<void> {
      const { rowCount } = await db.query(
        `update deliveries set due_at = now_ms()
         where state = 'due' and leased_until is null and due_at > now()`,
      );
      if (rowCount !== 0) await newDeliveries.announceDue(db);
    },
    /** From the end of its latest attempt until it is due, and from the end of each attempt until the next began. */
    async readWaits(deliveryId: string): Promise<{ next: number; waited: number[] }> {
      const { rows } = await db.query<{ next: number; waited: number[] }>(
        `select extract(epoch from d.due_at - (array_agg(a.finished_at order by a.number desc))[1])::float8 as next,
           array_remove(array_agg(a.waited order by a.number), null) as waited
         from deliveries d
         join (
           select a.*, extract(epoch from a.started_at - lag(a.finished_at) over (order by a.number))::float8 as waited
           from attempts a where a.delivery_id = $1
         ) as a on a.workspace_id = d.workspace_id and a.delivery_id = d.id
         group by d.due_at`,
        [deliveryId],
      );
      assert.ok(rows[0]);
      return rows[0];
    },
    /** As if so many crashes had cut it short, the last of them just now. */
    async addCrashes(deliveryId: string, many: number): Promise<void> {
      await db.query(
        `with delivery as (
           update deliveries
           set attempts = $2, attempts_before = $2 - 1, lease_token = gen_random_uuid(),
             leased_until = now() - interval '1 second'
           where id = $1
           returning workspace_id, id
         )
         insert into attempts (workspace_id, delivery_id, number, finished_at, outcome)
         select delivery.workspace_id, delivery.id, n, case when n < $2 then now_ms() end,
           case when n < $2 then 'interrupted' end
         from delivery, generate_series(1, $2::int) as n`,
        [deliveryId, many],
      );
    },
  };
}

function assertSpread(seconds: number | undefined, expected: number): void {
  assert.ok(
    seconds !== undefined &&
      Math.abs(seconds - expected) <= expected * retryJitter + millisecond &&
      seconds >= 0,
    `a wait of ${seconds} s, not about ${expected} s`,
  );
}

/** The database rounds times to this. */
const millisecond = 0.001;

/** The same with one endpoint. */
async function setUpWebhook(t: TestContext, answer: Answer = answerOk) {
  const scene = await setUp(t);
  const receiver = await startReceiver(answer);
  scene.cleanUp(() => receiver.close());
  const endpoint = await makeEndpoint(scene.db, scene.workspaceId, receiver.url);
  /** Every time it was heard it was the same delivery, the same bytes, and rightly signed. */
  const assertHeard = (deliveryId: string, times: number) => {
    assert.equal(receiver.heard.length, times);
    for (const { headers, body } of receiver.heard) {
      assert.equal(headers["x-service-delivery-id"], deliveryId);
      assert.deepEqual(body, receiver.heard[0]?.body);
      assert.ok(isSignedWith(endpoint.secret, String(headers["x-service-signature"]), body));
    }
  };
  return {
    ...scene,
    receiver,
    endpoint,
    assertHeard,
    /** Another worker finds the lease run out and delivers. */
    async assertTakenOver(outcomes: string[], heard: number): Promise<void> {
      await scene.endLeases();
      scene.startNext();
      const delivery = await scene.untilState("endpoint", "delivered");
      assert.deepEqual(await scene.readOutcomes(delivery.id), outcomes);
      assert.equal(delivery.attempts, outcomes.length);
      assertHeard(delivery.id, heard);
    },
  };
}

/** Holds up every claim of a webhook inside its statement, after the lease and before the commit. */
async function holdUpClaims(url: string) {
  const client = new pg.Client({ connectionString: url, application_name: "test" });
  await client.connect();
  await client.query(`
    create function hold_up() returns trigger language plpgsql as $$
    begin
      if exists (select from deliveries where id = new.delivery_id and endpoint_id is not null) then
        perform pg_advisory_xact_lock(1);
      end if;
      return new;
    end $$;
    create trigger attempts_held_up before insert on attempts for each row execute function hold_up();
    select pg_advisory_lock(1)`);
  return {
    /** The process in PostgreSQL that carries the claim out. */
    untilHeld: () =>
      until(async () => {
        const { rows } = await client.query(
          `select pid from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`,
        );
        return rows[0]?.pid as number | undefined;
      }, "a claim to be under way"),
    terminate: async (pid: number) => {
      await client.query("select pg_terminate_backend($1, 10000)", [pid]);
    },
    letGo: async () => {
      await client.query("select pg_advisory_unlock(1)");
      // Waits for the claim that was held up.
      await client.query("drop trigger attempts_held_up on attempts");
      await client.end();
    },
  };
}

async function assertKilled(doomed: CrashingWorker): Promise<void> {
  assert.equal(await doomed.ended, "SIGKILL");
}

const webhookKill = (at: Crash["at"]): Crash => ({ of: "webhook", at, signal: "SIGKILL" });
const mailKill = (at: Crash["at"]): Crash => ({ of: "mail", at, signal: "SIGKILL" });

describe("a worker", { concurrency: 3 }, () => {
  test("killed after the answer is replaced when its lease has run out, without help", async (t) => {
    const scene = await setUpWebhook(t);
    await scene.create();
    const doomed = await scene.startDoomed(webhookKill("answered"));
    await assertKilled(doomed);
    const killedAtMs = performance.now();
    scene.startNext();
    const delivery = await scene.untilState("endpoint", "delivered");
    const seconds = (performance.now() - killedAtMs) / 1_000;
    assert.ok(seconds > leaseSeconds - 10, `taken over after ${seconds} s, before the lease's end`);
    assert.deepEqual(await scene.readOutcomes(delivery.id), ["interrupted", "delivered"]);
    scene.assertHeard(delivery.id, 2);
  });

  for (const [at, heard] of [
    ["claimed", 1],
    ["before_sending", 1],
    ["answered", 2],
  ] as const) {
    test(`killed ${at} of a callback loses nothing, and another sends the same bytes`, async (t) => {
      const scene = await setUp(t);
      const receiver = await startReceiver();
      scene.cleanUp(() => receiver.close());
      await scene.cancel(await scene.create({ callbackUrl: receiver.url }));
      await assertKilled(await scene.startDoomed({ of: "callback", at, signal: "SIGKILL" }));
      await scene.endLeases();
      scene.startNext();
      const { id } = await scene.untilState("callback", "delivered");
      assert.deepEqual(await scene.readOutcomes(id), ["interrupted", "delivered"]);
      assert.equal(receiver.heard.length, heard);
      // The first worker may have made the secret, and died before it could use it.
      const shown = await showCallbackSecret(scene.db, testKeyring, scene.workspaceId);
      assert.ok("secret" in shown);
      for (const { headers, body } of receiver.heard) {
        assert.equal(headers["x-service-delivery-id"], id);
        assert.ok(isSignedWith(shown.secret, String(headers["x-service-signature"]), body));
        assert.deepEqual(body, receiver.heard[0]?.body);
      }
    });
  }

  test("stopped between claim and sending for too long sends nothing when it goes on", async (t) => {
    const scene = await setUpWebhook(t);
    await scene.create();
    const stopped = await scene.startDoomed({ of: "webhook", at: "claimed", signal: "SIGSTOP" });
    const claimed = await until(async () => {
      const delivery = await scene.readDelivery("endpoint");
      return delivery?.attempts === 1 && delivery;
    }, "the claim");
    const stoppedAtMs = performance.now();
    await scene.endLeases();
    const next = scene.startNext();
    await scene.untilState("endpoint", "delivered");
    await next.stop();
    const tooLateMs = leaseSeconds * 1_000 - webhookTimeoutMs - 1_000;
    await until(() => performance.now() - stoppedAtMs > tooLateMs, "time to pass");
    stopped.signal("SIGCONT");
    // The worker lives and delivers the next request. By then it has passed the delivery that it had claimed.
    const id = await scene.create();
    await until(() => scene.receiver.heard.some(({ json }) => json.data.id === id), "the next one");
    assert.deepEqual(await scene.readOutcomes(claimed.id), ["interrupted", "delivered"]);
    const heard = scene.receiver.heard.map(({ headers }) => headers["x-service-delivery-id"]);
    assert.equal(heard.length, 2);
    assert.equal(heard.filter((deliveryId) => deliveryId === claimed.id).length, 1);
  });

  test("stopped for longer than its lease changes nothing about the delivery when it goes on", async (t) => {
    const held: ServerResponse[] = [];
    const scene = await setUpWebhook(
      t,
      inTurn((response) => held.push(response), answerOk),
    );
    await scene.create();
    const stopped = await scene.startDoomed();
    await until(() => held.length === 1, "the request to hang");
    stopped.signal("SIGSTOP");
    await scene.endLeases();
    scene.startNext();
    const before = await scene.untilState("endpoint", "delivered");
    for (const response of held) response.writeHead(500).end("too late");
    stopped.signal("SIGCONT");
    await until(
      () => stopped.log.some(({ msg }) => msg === "another worker took this delivery over"),
      "the late result",
    );
    assert.deepEqual(await scene.readDelivery("endpoint"), before);
    assert.deepEqual(await scene.readOutcomes(before.id), ["interrupted", "delivered"]);
    scene.assertHeard(before.id, 2);
  });

  test("stopped for longer than its lease does not count its late failure against the endpoint", async (t) => {
    const held: ServerResponse[] = [];
    const scene = await setUpWebhook(
      t,
      inTurn((response) => held.push(response), answerOk),
    );
    await scene.create();
    const stopped = await scene.startDoomed();
    await until(() => held.length === 1, "the request to hang");
    stopped.signal("SIGSTOP");
    await scene.endLeases();
    const next = scene.startNext();
    await scene.untilState("endpoint", "delivered");
    await next.stop();
    for (const response of held) response.writeHead(500).end("too late");
    stopped.signal("SIGCONT");
    await until(() => stopped.log.some(({ msg }) => msg === "webhook"), "the late result");
    // It ends only when it has done all that follows from the result.
    stopped.signal("SIGTERM");
    assert.equal(await stopped.ended, null);
    const { rows } = await scene.db.query("select failing_since from endpoints");
    assert.deepEqual(rows, [{ failing_since: null }]);
  });

  test("killed inside the claim, with its connection, has claimed nothing, and another need not wait", async (t) => {
    const scene = await setUpWebhook(t);
    const claims = await holdUpClaims(scene.database.url);
    await scene.create();
    const doomed = await scene.startDoomed();
    const pid = await claims.untilHeld();
    doomed.signal("SIGKILL");
    await assertKilled(doomed);
    await claims.terminate(pid);
    await claims.letGo();
    const { id, attempts, leased_until } = await scene.readDelivery("endpoint");
    assert.deepEqual([attempts, leased_until], [0, null]);
    assert.deepEqual(await scene.readOutcomes(id), []);
    await scene.assertTakenOver(["delivered"], 1);
  });

  test("killed inside a claim that PostgreSQL commits nevertheless is taken over", async (t) => {
    const scene = await setUpWebhook(t);
    const claims = await holdUpClaims(scene.database.url);
    await scene.create();
    const doomed = await scene.startDoomed();
    await claims.untilHeld();
    doomed.signal("SIGKILL");
    await assertKilled(doomed);
    await claims.letGo();
    const { attempts } = await scene.readDelivery("endpoint");
    assert.equal(attempts, 1);
    await scene.assertTakenOver(["interrupted", "delivered"], 1);
  });

  for (const at of ["claimed", "before_sending"] as const) {
    test(`killed at the point "${at}" is taken over, and the receiver hears it once`, async (t) => {
      const scene = await setUpWebhook(t);
      await scene.create();
      const doomed = await scene.startDoomed(webhookKill(at));
      await assertKilled(doomed);
      assert.equal(scene.receiver.heard.length, 0);
      const { id } = await scene.readDelivery("endpoint");
      assert.deepEqual(await scene.readOutcomes(id), [null]);
      await scene.assertTakenOver(["interrupted", "delivered"], 1);
    });
  }

  test("killed between request and answer is taken over, and the receiver hears the same again", async (t) => {
    let kill = () => {};
    const scene = await setUpWebhook(
      t,
      inTurn(() => kill(), answerOk),
    );
    const doomed = await scene.startDoomed();
    kill = () => doomed.signal("SIGKILL");
    await scene.create();
    await assertKilled(doomed);
    await scene.assertTakenOver(["interrupted", "delivered"], 2);
  });

  test("killed after the answer, before it is recorded, is taken over, and the receiver hears the same again", async (t) => {
    const scene = await setUpWebhook(t);
    await scene.create();
    await assertKilled(await scene.startDoomed(webhookKill("answered")));
    await scene.assertTakenOver(["interrupted", "delivered"], 2);
  });

  test("killed at two attempts leaves a receiver that only fails three whole ones, with their waits", async (t) => {
    const hang: Answer = () => {};
    const scene = await setUpWebhook(t, inTurn(hang, hang, answerBroken));
    await scene.create();
    for (let killed = 0; killed < 2; killed += 1) {
      const doomed = await scene.startDoomed();
      await until(() => scene.receiver.heard.length > killed, "the webhook to hang");
      doomed.signal("SIGKILL");
      await assertKilled(doomed);
      await scene.endLeases();
    }
    const webhookRetryDelaysMs = [200, 400];
    const retryDelays = webhookRetryDelaysMs.map((ms) => (ms / 1_000) * (1 - retryJitter));
    scene.startNext({ webhookRetryDelaysMs });
    const { id } = await until(async () => {
      const delivery = await scene.readDelivery("endpoint");
      return delivery?.leased_until === null && delivery;
    }, "the crashes to be noticed");
    assertSpread((await scene.readWaits(id)).next, crashDelaysSeconds[1] as number);
    await scene.endWaits();
    const failed = await scene.untilState("endpoint", "failed");
    const whole = Array(3).fill("http_status");
    assert.deepEqual(await scene.readOutcomes(id), ["interrupted", "interrupted", ...whole]);
    scene.assertHeard(id, 5);
    const { waited } = await scene.readWaits(id);
    for (const [at, delay] of retryDelays.entries()) {
      assert.ok((waited.at(at - 2) ?? 0) >= delay - millisecond, `waits of ${waited} s`);
    }

    // The command line and the dashboard show this of it.
    assert.equal(failed.attempts, 5);
    const shown = await deliveries.find(scene.db, id);
    assert.deepEqual(
      [shown?.state, shown?.attempts, shown?.last],
      ["failed", 5, { outcome: "http_status", httpStatus: 500 }],
    );
    const attempts = await deliveries.listAttempts(scene.db, {
      workspaceId: scene.workspaceId,
      id,
    });
    assert.deepEqual(
      attempts.map(({ number, outcome, durationMs }) => [number, outcome, durationMs === null]),
      [
        [1, "interrupted", true],
        [2, "interrupted", true],
        [3, "http_status", false],
        [4, "http_status", false],
        [5, "http_status", false],
      ],
    );
    const figures = await readEndpointDays(scene.db, {
      workspaceId: scene.workspaceId,
      endpointId: scene.endpoint.id,
      days: 2,
    });
    const sum = (key: "succeeded" | "failed") => figures.reduce((all, day) => all + day[key], 0);
    assert.deepEqual([sum("succeeded"), sum("failed")], [0, 3]);
  });

  test("restarted seven times while the receiver hangs gives nothing up, and one that lives long enough delivers", async (t) => {
    let answer: Answer = () => {};
    const scene = await setUpWebhook(t, (...args) => answer(...args));
    await scene.create();
    for (let restarts = 0; restarts < 7; restarts += 1) {
      const doomed = await scene.startDoomed();
      await until(async () => {
        await scene.endWaits();
        return scene.receiver.heard.length > restarts;
      }, "the webhook to hang");
      const isKilled = restarts % 2 === 1;
      doomed.signal(isKilled ? "SIGKILL" : "SIGTERM");
      assert.equal(await doomed.ended, isKilled ? "SIGKILL" : null);
      if (isKilled) {
        await scene.endLeases();
        continue;
      }
      // The worker gave it back in good order: it is due at once, after any number of crashes.
      const { id, state, leased_until } = await scene.readDelivery("endpoint");
      assert.deepEqual([state, leased_until], ["due", null]);
      assert.ok(Math.abs((await scene.readWaits(id)).next) <= millisecond);
    }
    answer = answerOk;
    scene.startNext();
    const { id, attempts } = await scene.untilState("endpoint", "delivered");
    assert.equal(attempts, 8);
    assert.deepEqual(await scene.readOutcomes(id), [...Array(7).fill("interrupted"), "delivered"]);
    scene.assertHeard(id, 8);
  });

  test("killed at the third attempt leaves a fourth, because nobody knows of the third, and no fifth", async (t) => {
    let kill = () => {};
    const scene = await setUpWebhook(
      t,
      inTurn(answerBroken, answerBroken, () => kill(), answerBroken),
    );
    const doomed = await scene.startDoomed();
    kill = () => doomed.signal("SIGKILL");
    await scene.create();
    await assertKilled(doomed);
    await scene.endLeases();
    scene.startNext();
    const { id } = await scene.untilState("endpoint", "failed");
    const outcomes = await scene.readOutcomes(id);
    assert.deepEqual(outcomes, ["http_status", "http_status", "interrupted", "http_status"]);
    scene.assertHeard(id, 4);
  });

  test("is killed by the same delivery less and less often, and only crashes in a row count", async (t) => {
    const scene = await setUpWebhook(t);
    await scene.create();
    const { id } = await scene.readDelivery("endpoint");
    const tx = inOneStatement(scene.db);
    const claim = () => dueWebhooks.claim(tx, { limit: 1, quickEndpointIds: [] });
    /** Claims and dies: time passes, and nothing is recorded. Returns the wait that follows. */
    const crash = async () => {
      const { webhooks } = await claim();
      assert.equal(webhooks.length, 1);
      await scene.endLeases();
      const after = await claim();
      if (after.webhooks[0] === undefined) {
        assert.equal(after.postponedMs.length, 1);
        const { leased_until } = await scene.readDelivery("endpoint");
        assert.equal(leased_until, null);
        assert.deepEqual((await claim()).webhooks, [], "it is not due before its time");
      } else {
        // Nothing of this was sent: it is due again.
        await attempts.completeAttempts(tx, [givenBack(after.webhooks[0], performance.now())]);
      }
      const { next } = await scene.readWaits(id);
      await scene.endWaits();
      return next;
    };
    for (const seconds of crashDelaysSeconds) assertSpread(await crash(), seconds);
    assertSpread(await crash(), crashDelaysSeconds.at(-1) as number);

    const [claimed] = (await claim()).webhooks;
    assert.ok(claimed);
    assert.equal(claimed.numberInRound, 1);
    const answer = { outcome: "http_status", httpStatus: 500, responseStart: "" } as const;
    const end = { lease: claimed, ...answer, durationMs: 5 };
    await attempts.completeAttempts(tx, [{ ...end, next: { state: "due", delayMs: 0 } }]);
    assertSpread(await crash(), 0);
    assertSpread(await crash(), crashDelaysSeconds[1] as number);
    const [second] = (await claim()).webhooks;
    assert.equal(second?.numberInRound, 2);
  });

  test("gives up a delivery only after hundreds of crashes in a row, says so, and resending begins anew", async (t) => {
    const scene = await setUpWebhook(t);
    await scene.create();
    const { id } = await scene.readDelivery("endpoint");
    await scene.addCrashes(id, crashesInRowMax - 1);
    const next = scene.startNext();
    await until(async () => {
      const { leased_until } = await scene.readDelivery("endpoint");
      return leased_until === null;
    }, "the last crash but one to be noticed");
    const { state } = await scene.readDelivery("endpoint");
    assert.equal(state, "due");
    await next.stop();

    await scene.endWaits();
    const doomed = await scene.startDoomed(webhookKill("before_sending"));
    await assertKilled(doomed);
    await scene.endLeases();
    const last = scene.startNext();
    const { attempts } = await scene.untilState("endpoint", "failed");
    await last.stop();
    const outcomes = await scene.readOutcomes(id);
    assert.equal(attempts, outcomes.length);
    assert.deepEqual(outcomes.slice(-2), ["interrupted", "given_up"]);
    assert.equal(scene.receiver.heard.length, 0);
    const { rows } = await scene.db.query("select failing_since from endpoints");
    assert.deepEqual(rows, [{ failing_since: null }], "it was no fault of the endpoint's");

    await resendDelivery(scene.db, id);
    await assertKilled(await scene.startDoomed(webhookKill("before_sending")));
    await scene.endLeases();
    scene.startNext();
    await scene.untilState("endpoint", "delivered");
    scene.assertHeard(id, 1);
  });

  test("told to stop during a claim gives back what it has claimed, and sends nothing", async (t) => {
    const scene = await setUpWebhook(t);
    const claims = await holdUpClaims(scene.database.url);
    await scene.create();
    const worker = scene.startNext();
    await claims.untilHeld();
    const stopped = worker.stop();
    await claims.letGo();
    await stopped;
    const { id, state, leased_until } = await scene.readDelivery("endpoint");
    assert.deepEqual([state, leased_until], ["due", null]);
    assert.deepEqual(await scene.readOutcomes(id), ["interrupted"]);
    assert.equal(scene.receiver.heard.length, 0);
    await scene.assertTakenOver(["interrupted", "delivered"], 1);
  });
});

type Reply = (refusal?: Error) => void;

/** A real mail server. It calls `onMessage` when it has a whole message, before it says so. */
async function setUpMail(t: TestContext, onMessage: (reply: Reply) => void) {
  const scene = await setUp(t);
  const received: string[] = [];
  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    disableReverseLookup: true,
    hideSTARTTLS: true,
    closeTimeout: 10,
    onData: (stream, _session, callback) => {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        received.push(Buffer.concat(parts).toString());
        onMessage(callback);
      });
    },
  });
  // A client that is killed leaves a broken connection.
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  const smtpUrl = `smtp://localhost:${port}`;
  scene.cleanUp(() => new Promise<void>((resolve) => server.close(resolve)));
  const startNext = () => {
    const from = { name: "", address: "approvals@countersign.example" };
    const sender = new MailSender({ smtpUrl, from });
    scene.cleanUp(() => sender.close());
    const origin = { keyring: testKeyring, publicUrl: testPublicUrl };
    const send = (composed: Parameters<MailSender["send"]>[0]) => sender.send(composed);
    return scene.startNext({ mail: { send, origin, onKept: () => {} } });
  };
  return {
    ...scene,
    received,
    startDoomed: (crash?: Crash) => scene.startDoomed(crash, smtpUrl),
    startNext,
    /** Another worker finds the lease run out and sends the mail, which arrives `times` times in all. */
    async assertTakenOver(times: number): Promise<void> {
      await scene.endLeases();
      startNext();
      const delivery = await scene.untilState("mailbox", "delivered");
      const outcomes = await scene.readOutcomes(delivery.id);
      assert.deepEqual(outcomes, ["interrupted", "delivered"]);
      assert.equal(received.length, times);
      for (const raw of received) {
        assert.match(raw, /^Message-ID: <rev_\w+\.review@approvals\.example>\r$/m);
        assert.equal(raw, received[0]);
      }
    },
  };
}

describe("a worker that sends mail", { concurrency: 2 }, () => {
  const accept = (reply: Reply) => reply();

  for (const at of ["claimed", "before_sending"] as const) {
    test(`killed at the point "${at}" is taken over, and the mail arrives once`, async (t) => {
      const scene = await setUpMail(t, accept);
      await scene.create();
      await assertKilled(await scene.startDoomed(mailKill(at)));
      assert.equal(scene.received.length, 0);
      await scene.assertTakenOver(1);
    });
  }

  test("killed when the server has the message, before it says so, is taken over, and the same mail comes again", async (t) => {
    let onMessage = (_reply: Reply) => kill();
    let kill = () => {};
    const scene = await setUpMail(t, (reply) => onMessage(reply));
    const doomed = await scene.startDoomed();
    kill = () => {
      onMessage = accept;
      doomed.signal("SIGKILL");
    };
    await scene.create();
    await assertKilled(doomed);
    await scene.assertTakenOver(2);
  });

  test("killed when the server has accepted, before that is recorded, is taken over, and the same mail comes again", async (t) => {
    const scene = await setUpMail(t, accept);
    await scene.create();
    await assertKilled(await scene.startDoomed(mailKill("answered")));
    await scene.assertTakenOver(2);
  });

  test("killed at two attempts leaves all of the mail's own, and the first of its waits", async (t) => {
    const defer = (reply: Reply) =>
      reply(Object.assign(new Error("4.2.1 not now"), { responseCode: 451 }));
    const scene = await setUpMail(t, defer);
    await scene.create();
    for (let killed = 0; killed < 2; killed += 1) {
      await assertKilled(await scene.startDoomed(mailKill("before_sending")));
      await scene.endLeases();
    }
    scene.startNext();
    const { id } = await until(async () => {
      const delivery = await scene.readDelivery("mailbox");
      return delivery?.leased_until === null && delivery;
    }, "the crashes to be noticed");
    assertSpread((await scene.readWaits(id)).next, crashDelaysSeconds[1] as number);
    await scene.endWaits();
    await until(async () => (await scene.readOutcomes(id)).at(-1) === "deferred", "a whole one");
    assert.deepEqual(await scene.readOutcomes(id), ["interrupted", "interrupted", "deferred"]);
    assertSpread((await scene.readWaits(id)).next, (mailRetryDelaysMs[0] as number) / 1_000);
  });

  test("is killed by the same mail less and less often, and gives it up only after hundreds of crashes, which owners are told", async (t) => {
    const scene = await setUpMail(t, accept);
    await scene.db.query(
      "insert into members (workspace_id, email, role, joined_at) values ($1, 'owner@example.com', 'owner', now_ms())",
      [scene.workspaceId],
    );
    await scene.create();
    const { id } = await scene.readDelivery("mailbox");
    const tx = inOneStatement(scene.db);
    for (const seconds of crashDelaysSeconds.slice(1)) {
      for (let claims = 0; claims < (seconds === crashDelaysSeconds[1] ? 2 : 1); claims += 1) {
        assert.equal((await dueMails.claim(tx, 1)).mails.length, 1);
        await scene.endLeases();
      }
      const { mails, waitMs } = await dueMails.claim(tx, 1);
      assert.deepEqual([mails.length, waitMs.length], [0, 1]);
      assertSpread((await scene.readWaits(id)).next, seconds);
      await scene.endWaits();
    }
    await scene.db.query("delete from attempts");
    await scene.addCrashes(id, crashesInRowMax);
    scene.startNext();
    await scene.untilState("mailbox", "failed");
    assert.equal((await scene.readOutcomes(id)).at(-1), "given_up");
    const { rows } = await scene.db.query<{ kind: string }>(
      "select kind from events order by kind",
    );
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ["mail.failed", "request.created", "request.unreachable"],
    );
    await until(() => scene.received.length === 1, "the notice");
    assert.match(scene.received[0] ?? "", /^To: owner@example\.com\r$/m);
  });

  test("killed before and after it gives a webhook up loses neither that nor the owners' mail, and sends one", async (t) => {
    const scene = await setUpMail(t, accept);
    const receiver = await startReceiver(answerBroken);
    scene.cleanUp(() => receiver.close());
    await scene.db.query(
      "insert into members (workspace_id, email, role, joined_at) values ($1, 'owner@example.com', 'owner', now_ms())",
      [scene.workspaceId],
    );
    await scene.create();
    const first = scene.startNext();
    await scene.untilState("mailbox", "delivered");
    await first.stop();
    const endpoint = await makeEndpoint(scene.db, scene.workspaceId, receiver.url);
    // Its last attempt is left.
    await scene.db.query(
      `insert into deliveries (workspace_id, event_id, channel, endpoint_id, attempts)
       select workspace_id, id, 'webhook', $1, 2 from events`,
      [endpoint.id],
    );
    const kinds = async () => {
      const { rows } = await scene.db.query("select kind from events order by id");
      return rows.map(({ kind }) => kind);
    };
    await assertKilled(await scene.startDoomed(webhookKill("answered")));
    assert.deepEqual(await kinds(), ["request.created"]);
    await scene.endLeases();
    await assertKilled(await scene.startDoomed(mailKill("before_sending")));
    assert.equal((await scene.readDelivery("endpoint")).state, "failed");
    assert.equal(scene.received.length, 1);
    await scene.endLeases();
    scene.startNext();
    await until(() => scene.received.length === 2, "the owner's mail");
    assert.match(scene.received[1] ?? "", /^To: owner@example\.com\r$/m);
    assert.deepEqual(await kinds(), ["request.created", "endpoint.delivery_failed"]);
    await until(async () => {
      const { rows } = await scene.db.query("select from deliveries where state = 'due'");
      return rows.length === 0;
    }, "nothing else to be due");
    assert.equal(scene.received.length, 2);
  });

  test("stopped for longer than its lease changes nothing when it goes on, and tells no owner of its late refusal", async (t) => {
    const held: Reply[] = [];
    const scene = await setUpMail(t, (reply) => {
      if (held.length === 0) held.push(reply);
      else reply();
    });
    await scene.db.query(
      "insert into members (workspace_id, email, role) values ($1, 'owner@example.com', 'owner')",
      [scene.workspaceId],
    );
    await scene.create();
    const stopped = await scene.startDoomed();
    await until(() => held.length === 1, "the mail to hang");
    stopped.signal("SIGSTOP");
    await scene.assertTakenOver(2);
    const before = await scene.readDelivery("mailbox");
    for (const reply of held) reply(Object.assign(new Error("too late"), { responseCode: 550 }));
    stopped.signal("SIGCONT");
    await until(
      () => stopped.log.some(({ msg }) => msg === "another worker took this delivery over"),
      "the late result",
    );
    assert.deepEqual(await scene.readDelivery("mailbox"), before);
    assert.deepEqual(await scene.readOutcomes(before.id), ["interrupted", "delivered"]);
    const { rows } = await scene.db.query("select kind from events");
    assert.deepEqual(rows, [{ kind: "request.created" }]);
  });
});
