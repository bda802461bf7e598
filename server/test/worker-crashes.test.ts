// A worker that is killed or stopped at any point loses nothing and repeats no more than the one attempt of which
// nobody knows how it went. Each test has a database of its own, since any worker takes whatever is due.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import pg from "pg";
import { SMTPServer } from "smtp-server";
import { leaseSeconds, webhookTimeoutMs } from "../src/domain/limits.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
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

/** A service and a workspace on a database of their own, and the workers that come and go on it. */
async function setUp(t: TestContext) {
  const service = await startService();
  const { db, database } = service;
  const { id: workspaceId, key } = await makeWorkspace(db);
  const cleanups: (() => unknown)[] = [() => service.stop()];
  t.after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  /** The one delivery to an endpoint, or else to a mailbox. */
  const readDelivery = async (to: "endpoint" | "mailbox") => {
    const { rows } = await db.query(
      `select id, state, attempts, due_at, finished_at, leased_until from deliveries
       where (endpoint_id is not null) = $1 order by id limit 1`,
      [to === "endpoint"],
    );
    return rows[0];
  };
  let alive = 0;
  return {
    db,
    database,
    workspaceId,
    cleanUp: (cleanup: () => unknown) => void cleanups.push(cleanup),
    async create(): Promise<string> {
      const { status, json } = await service.call("POST", "/v1/requests", {
        key,
        body: minimalBody,
      });
      assert.equal(status, 201);
      return json.id as string;
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
    untilState: (to: "endpoint" | "mailbox", state: string) =>
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
    /** As if the lease's time had passed, for whoever holds it and for everybody else. */
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
  };
}

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
  test("killed after the answer is replaced when its lease has run out, within a minute and without help", async (t) => {
    const scene = await setUpWebhook(t);
    await scene.create();
    const doomed = await scene.startDoomed(webhookKill("answered"));
    await assertKilled(doomed);
    const killedAtMs = performance.now();
    scene.startNext();
    const delivery = await scene.untilState("endpoint", "delivered");
    const seconds = (performance.now() - killedAtMs) / 1_000;
    assert.ok(seconds > leaseSeconds - 10, `taken over after ${seconds} s, before the lease's end`);
    assert.ok(seconds < 60, `taken over after ${seconds} s`);
    assert.deepEqual(await scene.readOutcomes(delivery.id), ["interrupted", "delivered"]);
    scene.assertHeard(delivery.id, 2);
  });

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
    // It lives and works: what comes now it delivers. What it had claimed it has passed by then.
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

  test("killed at the first attempt leaves three in all to a receiver that only fails", async (t) => {
    let kill = () => {};
    const scene = await setUpWebhook(
      t,
      inTurn(() => kill(), answerBroken),
    );
    const doomed = await scene.startDoomed();
    kill = () => doomed.signal("SIGKILL");
    await scene.create();
    await assertKilled(doomed);
    await scene.endLeases();
    scene.startNext();
    const { id } = await scene.untilState("endpoint", "failed");
    const outcomes = await scene.readOutcomes(id);
    assert.deepEqual(outcomes, ["interrupted", "http_status", "http_status"]);
    scene.assertHeard(id, 3);
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

  test("is not killed for ever by the same delivery: it fails in the end, with every attempt recorded", async (t) => {
    const scene = await setUpWebhook(t);
    await scene.create();
    const interruptions = 6;
    for (let number = 1; number <= interruptions; number += 1) {
      await assertKilled(await scene.startDoomed(webhookKill("before_sending")));
      await scene.endLeases();
    }
    scene.startNext();
    const { id } = await scene.untilState("endpoint", "failed");
    const outcomes = await scene.readOutcomes(id);
    assert.deepEqual(new Set(outcomes), new Set(["interrupted"]));
    assert.equal(outcomes.length, interruptions + 1);
    assert.equal(scene.receiver.heard.length, 0);
  });
});

type Reply = (refusal?: Error) => void;

/** A real mail server. What happens when it has a whole message is up to `onMessage`, before it says so. */
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
  return {
    ...scene,
    received,
    startDoomed: (crash?: Crash) => scene.startDoomed(crash, smtpUrl),
    /** Another worker finds the lease run out and sends the mail, which arrives `times` times in all. */
    async assertTakenOver(times: number): Promise<void> {
      const from = { name: "", address: "approvals@countersign.example" };
      const sender = new MailSender({ smtpUrl, from });
      scene.cleanUp(() => sender.close());
      await scene.endLeases();
      const origin = { keyring: testKeyring, publicUrl: testPublicUrl };
      const mail = {
        send: (composed: Parameters<MailSender["send"]>[0]) => sender.send(composed),
        origin,
        onKept: () => {},
      };
      scene.startNext({ mail });
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
