// Many deliveries at once, while workers come and go, connections are cut and nobody wakes anybody: everything
// promised arrives, and nothing arrives more often than crashes explain. Each test has a database of its own.

import assert from "node:assert/strict";
import { createHmac, randomInt } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { loopbackCidrs, makeAddressPolicy } from "../src/domain/access/network-address.ts";
import { makeAnnounceDue } from "../src/operations/approvals/announce-due.ts";
import { WebhookSender } from "../src/outbound/send-webhook.ts";
import { type CrashingWorker, startCrashingWorker } from "./crashing-worker.ts";
import {
  type Audit,
  type AuditedDelivery,
  countInterrupted,
  countRepeats,
  flawsOf,
  readDeliveries,
} from "./delivery-audit.ts";
import { hangMs, until } from "./patience.ts";
import { insist, makeWorkspace, minimalBody, startService, testKeyring } from "./test-service.ts";
import {
  makeEndpoint,
  startReceiver,
  startWorker,
  type TestWorker,
  type TestWorkerOptions,
  testPublicUrl,
} from "./test-worker.ts";

type Answer = NonNullable<Parameters<typeof startReceiver>[0]>;

const answerOk: Answer = (response) => response.end("ok");
const answerLater =
  (chooseMs: () => number): Answer =>
  (response) =>
    void setTimeout(() => response.end("ok"), chooseMs());

type SceneOptions = { endpoints?: number; answer?: Answer; isAnnounced?: boolean };

/** A service on a database of its own, one workspace with some endpoints, and what was promised to it. */
async function setUp(
  t: TestContext,
  { endpoints = 5, answer = answerOk, isAnnounced = false }: SceneOptions = {},
) {
  let announce = () => {};
  const service = await startService({ onDue: () => announce() });
  const { db, database } = service;
  if (isAnnounced) announce = makeAnnounceDue(db);
  const { id: workspaceId, key } = await makeWorkspace(db);
  const cleanups: (() => unknown)[] = [() => service.stop()];
  const over = new AbortController();
  t.after(async () => {
    over.abort();
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  const addEndpoint = async () => {
    const receiver = await startReceiver((...args) => scene.answer(...args));
    cleanups.push(() => receiver.close());
    const { id: endpointId, secret } = await makeEndpoint(db, workspaceId, receiver.url);
    return { endpointId, secret, heard: receiver.heard };
  };
  const approvalIds: string[] = [];
  const scene = {
    db,
    database,
    /** Aborted when the test has ended, also one that failed. */
    over: over.signal,
    approvalIds,
    answer,
    receivers: [] as Awaited<ReturnType<typeof addEndpoint>>[],
    cleanUp: (cleanup: () => unknown) => void cleanups.push(cleanup),
    async create(payload: unknown = null): Promise<void> {
      const body = { ...minimalBody, payload };
      const { status, json } = await insist(service, "POST", "/v1/requests", { key, body });
      assert.equal(status, 201);
      approvalIds.push(json.id);
    },
    startWorker(options: TestWorkerOptions = {}): TestWorker {
      const started = startWorker(database, options);
      cleanups.push(() => started.stop());
      return started;
    },
    async startProcess(): Promise<CrashingWorker> {
      const started = await startCrashingWorker({
        databaseUrl: database.url,
        keyring: testKeyring,
        publicUrl: testPublicUrl,
      });
      if (over.signal.aborted) started.signal("SIGKILL");
      cleanups.push(() => started.signal("SIGKILL"));
      return started;
    },
    countHeard: () => scene.receivers.reduce((sum, { heard }) => sum + heard.length, 0),
    /** Until no delivery to an endpoint is due, under way or open any more. */
    async untilDone(): Promise<void> {
      await until(async () => {
        const { rows } = await db.query(
          "select from deliveries where endpoint_id is not null and state = 'due' limit 1",
        );
        return rows.length === 0;
      }, "everything to be delivered");
    },
    audit: async (): Promise<Audit> => ({
      approvalIds,
      deliveries: await readDeliveries(db),
      receivers: scene.receivers,
    }),
  };
  for (let count = 0; count < endpoints; count += 1) scene.receivers.push(await addEndpoint());
  return scene;
}

type Scene = Awaited<ReturnType<typeof setUp>>;

/**
 * Time passes faster for leases than for anything else: one that is four seconds old has run out. Receivers answer
 * sooner, so that it is nearly always one whose holder is gone; if not, the holder is fenced off. After several crashes
 * in a row a delivery waits: that passes at once.
 */
function hurryLeases(scene: Scene): () => Promise<void> {
  const stopping = new AbortController();
  const hurrying = (async () => {
    while (!stopping.signal.aborted && !scene.over.aborted) {
      await scene.db
        .query(
          `update deliveries
           set leased_until = case when leased_until is not null then now() - interval '1 second' end,
             due_at = least(due_at, now_ms())
           where leased_until between now() and now() + interval '26 seconds'
             or (state = 'due' and leased_until is null and due_at > now())`,
        )
        .catch(() => {}); // the connection may be one of those that were cut
      await pause(200);
    }
  })();
  return () => {
    stopping.abort();
    return hurrying;
  };
}

async function createMany(scene: Scene, count: number): Promise<void> {
  // Some are large, and take another way through the worker.
  const payloadOf = (n: number) => (n % 20 === 0 ? "p".repeat(100_000) : { n });
  await Promise.all(Array.from({ length: count }, (_, n) => scene.create(payloadOf(n))));
}

async function hasInterrupted(db: Scene["db"]): Promise<boolean> {
  const { rows } = await db.query("select from attempts where outcome = 'interrupted' limit 1");
  return rows.length > 0;
}

/** A connection that tests cut others with, and that is not cut itself. */
async function openAxe(scene: Scene) {
  const client = new pg.Client({
    connectionString: scene.database.url,
    application_name: "test axe",
  });
  await client.connect();
  scene.cleanUp(() => client.end());
  return async (applications: string): Promise<number> => {
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like $1`,
      [applications],
    );
    return rowCount ?? 0;
  };
}

describe("many deliveries", () => {
  test("are each delivered exactly once by two workers on one database", async (t) => {
    const scene = await setUp(t, { isAnnounced: true, answer: answerLater(() => 20) });
    const other = await scene.startProcess();
    scene.startWorker();
    await createMany(scene, 60);
    await scene.untilDone();
    const audit = await scene.audit();
    assert.deepEqual(flawsOf(audit), []);
    assert.equal(audit.deliveries.length, 300);
    assert.ok(audit.deliveries.every(({ attempts }) => attempts === 1));
    assert.equal(scene.countHeard(), 300);
    const ofOther = other.log.filter(({ msg }) => msg === "webhook").length;
    t.diagnostic(`${ofOther} of 300 by the one, ${300 - ofOther} by the other`);
  });

  test("all arrive while random ones of six workers are killed and started again, and no more come twice than were interrupted", async (t) => {
    const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31));
    t.diagnostic(`seed: repeat with CRASH_SEED=${seed}`);
    const random = makeRandom(seed);
    const answer = answerLater(() => 50 + random() * 250);
    const scene = await setUp(t, { isAnnounced: true, answer });
    const workers = await Promise.all(Array.from({ length: 6 }, () => scene.startProcess()));
    const stopHurrying = hurryLeases(scene);
    let isKilling = true;
    const killing = (async () => {
      // Ten deaths, and on a busy machine more, until one of them was at work.
      const isEnough = async (kills: number) => kills >= 10 && (await hasInterrupted(scene.db));
      for (let kills = 0; kills < 50 && !(await isEnough(kills)); kills += 1) {
        if (scene.over.aborted) break;
        await pause(random() * 300);
        const at = Math.floor(random() * workers.length);
        workers[at]?.signal("SIGKILL");
        await workers[at]?.ended;
        workers[at] = await scene.startProcess();
      }
      isKilling = false;
    })();
    // As long as workers are killed there is something to do.
    while (isKilling || scene.approvalIds.length < 60) {
      await scene.create({ n: scene.approvalIds.length });
      await pause(random() * 200);
    }
    await killing;
    await scene.untilDone();
    await stopHurrying();
    const audit = await scene.audit();
    assert.deepEqual(flawsOf(audit), []);
    const interrupted = countInterrupted(audit.deliveries);
    const repeats = countRepeats(audit.receivers);
    t.diagnostic(
      `${audit.deliveries.length} deliveries, ${interrupted} interrupted, ${repeats} repeated`,
    );
    assert.ok(interrupted > 0, "nobody was killed at work");
    assert.ok(repeats <= interrupted);
  });

  test("all arrive while the worker's connections to PostgreSQL are cut again and again", async (t) => {
    const scene = await setUp(t, { answer: answerLater(() => 30) });
    await createMany(scene, 60);
    const cut = await openAxe(scene);
    const worker = await scene.startProcess();
    const stopHurrying = hurryLeases(scene);
    let cuts = 0;
    for (let round = 1; round <= 8; round += 1) {
      const before = scene.countHeard();
      await until(() => scene.countHeard() >= before + 10, "the worker to go on");
      cuts += await cut("countersign worker");
      if (scene.countHeard() > 250) break;
    }
    await scene.untilDone();
    await stopHurrying();
    const audit = await scene.audit();
    assert.deepEqual(flawsOf(audit), []);
    assert.ok(cuts >= 5, `${cuts} connections were cut`);
    t.diagnostic(`${cuts} cuts, ${countInterrupted(audit.deliveries)} interrupted`);
    // It is the same process that has come through all of this.
    worker.signal("SIGTERM");
    assert.equal(await worker.ended, null);
    assert.deepEqual(
      worker.log.filter(({ level }) => level === "error"),
      [],
    );
  });
});

describe("workers", { concurrency: true }, () => {
  test("whose connection is cut in the middle of a transaction live on", async (t) => {
    const scene = await setUp(t, {
      endpoints: 1,
      answer: (response) => response.writeHead(500).end(),
    });
    const cut = await openAxe(scene);
    await scene.create();
    // The first failure leads to a transaction, which waits for this one.
    const blocker = await scene.db.connect();
    await blocker.query("begin");
    await blocker.query("select from endpoints for update");
    const worker = await scene.startProcess();
    await until(async () => {
      const { rows } = await scene.db.query(
        `select from pg_stat_activity where datname = current_database()
         and application_name = 'countersign worker' and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    }, "a transaction to be under way");
    await cut("countersign worker");
    await blocker.query("rollback");
    blocker.release();
    scene.answer = answerOk;
    await scene.create();
    const outcome = await Promise.race([
      worker.ended.then(() => "the process has ended"),
      scene.untilDone().then(() => "all is delivered"),
    ]);
    assert.equal(outcome, "all is delivered");
  });

  test("that nobody wakes find what is due by polling", async (t) => {
    const scene = await setUp(t, { endpoints: 1 });
    scene.startWorker();
    await untilListening(scene);
    for (let count = 1; count <= 2; count += 1) {
      await untilAtRest(scene);
      await scene.create();
      await until(() => scene.countHeard() === count, "the webhook");
    }
  });

  test("that nobody wakes and whose listening connection is cut all the time poll more often", async (t) => {
    const calm = await setUp(t, { endpoints: 1 });
    const calmLooks = countLooks(calm.startWorker());
    await untilListening(calm);
    const scene = await setUp(t, { endpoints: 1 });
    const cut = await openAxe(scene);
    const looks = countLooks(scene.startWorker());
    await untilListening(scene);
    // The service listens too, and is cut as well.
    const timer = setInterval(() => void cut("countersign listen").catch(() => {}), 20);
    scene.cleanUp(() => clearInterval(timer));
    await until(() => looks() > 0, "the worker to look though nothing is due");
    const before = { deaf: looks(), calm: calmLooks() };
    await until(() => calmLooks() >= before.calm + 2, "a worker that listens to look twice");
    assert.ok(looks() > before.deaf + 4, `it looked ${looks() - before.deaf} times`);
    await scene.create();
    await until(() => scene.countHeard() === 1, "the webhook");
  });

  test("that stop while 50 webhooks hang give them back, and the next delivers them", async (t) => {
    const scene = await setUp(t, { answer: () => {} });
    const sender = new WebhookSender({ policy, timeoutMs: hangMs });
    scene.cleanUp(() => sender.close());
    await createMany(scene, 10);
    let answers = 0;
    const first = scene.startWorker({
      sendWebhook: (message) => sender.send(message).finally(() => (answers += 1)),
    });
    await until(() => scene.countHeard() === 50, "50 webhooks to hang");
    await first.worker.stop();
    assert.equal(answers, 0, "it waited for none of them");
    const { rows } = await scene.db.query(
      `select count(*)::int as given_back from deliveries d
       join attempts a on a.workspace_id = d.workspace_id and a.delivery_id = d.id
       where d.endpoint_id is not null and d.state = 'due' and d.leased_until is null
         and d.due_at <= now() and a.outcome = 'interrupted'`,
    );
    assert.deepEqual(rows, [{ given_back: 50 }]);

    scene.answer = answerOk;
    scene.startWorker();
    await scene.untilDone();
    const audit = await scene.audit();
    assert.deepEqual(flawsOf(audit), []);
    assert.ok(audit.deliveries.every(({ attempts }) => attempts === 2));
  });

  test("that stop while a webhook hangs do not count that against the endpoint", async (t) => {
    const scene = await setUp(t, { endpoints: 1, answer: () => {} });
    const sender = new WebhookSender({ policy, timeoutMs: hangMs });
    await scene.create();
    const { worker } = scene.startWorker({ sendWebhook: (message) => sender.send(message) });
    await until(() => scene.countHeard() === 1, "the webhook to hang");
    await worker.stop();
    // As the service does next. A second stop waits for what follows from that.
    sender.close();
    await worker.stop();
    const { rows } = await scene.db.query("select failing_since from endpoints");
    assert.deepEqual(rows, [{ failing_since: null }]);
  });
});

const policy = makeAddressPolicy(loopbackCidrs);

/** How often a worker has looked for something due. What it does for the log goes by a clock of its own. */
function countLooks({ db }: TestWorker): () => number {
  let looks = 0;
  const query = db.query.bind(db) as (...parts: unknown[]) => unknown;
  const counting = (...parts: unknown[]) => {
    const [statement] = parts as [{ name?: string }];
    if (statement.name === "approvals.msUntilNext") looks += 1;
    return query(...parts);
  };
  db.query = counting as typeof db.query;
  return () => looks;
}

/** A worker that has just ended something looks for the next by itself. At rest, it asks the database for nothing. */
async function untilAtRest(scene: Scene): Promise<void> {
  await until(async () => {
    const { rows } = await scene.db.query(
      `select bool_and(state = 'idle' and state_change < clock_timestamp() - interval '300 ms') as at_rest
       from pg_stat_activity
       where datname = current_database() and application_name = 'countersign worker'`,
    );
    return rows[0].at_rest === true;
  }, "the worker to rest");
}

async function untilListening(scene: Scene): Promise<void> {
  await until(async () => {
    // The service listens, and so does the worker. Each has heard itself, and is asked now and then whether it lives.
    const { rows } = await scene.db.query(
      `select from pg_stat_activity where datname = current_database()
       and application_name = 'countersign listen' and state = 'idle'
       and query in ('unlisten countersign_self_test', 'select')`,
    );
    return rows.length === 2;
  }, "the worker to listen");
}

/** A small generator of random numbers from 0 to 1 that can be repeated (mulberry32). */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe("the audit", () => {
  const secret = "whsec_dGVzdA==";
  const endpointId = "ep_1";

  function hearing(deliveryId: string, text = `{"id":"${deliveryId}"}`) {
    const timestamp = Math.floor(Date.now() / 1_000);
    const hex = createHmac("sha256", secret).update(`${timestamp}.${text}`).digest("hex");
    const headers = {
      "x-service-delivery-id": deliveryId,
      "x-service-signature": `t=${timestamp},v1=${hex}`,
    };
    return { headers, body: Buffer.from(text) };
  }

  function delivery(n: number, outcomes: AuditedDelivery["outcomes"] = ["delivered"]) {
    const attempts = outcomes.length;
    return {
      id: `dlv_${n}`,
      approvalId: `req_${n}`,
      endpointId,
      state: "delivered",
      attempts,
      outcomes,
    };
  }

  /** Three deliveries. The last one was interrupted once and came twice. */
  function sound(): Audit {
    const heard = ["dlv_1", "dlv_2", "dlv_3", "dlv_3"].map((id) => hearing(id));
    return {
      approvalIds: ["req_1", "req_2", "req_3"],
      deliveries: [delivery(1), delivery(2), delivery(3, ["interrupted", "delivered"])],
      receivers: [{ endpointId, secret, heard }],
    };
  }

  /** The audit's findings after one change to a sound record. */
  function flawsAfter(
    change: (heard: Audit["receivers"][number]["heard"], audit: Audit) => unknown,
  ): string {
    const audit = sound();
    const [receiver] = audit.receivers;
    assert.ok(receiver);
    change(receiver.heard, audit);
    return flawsOf(audit).join("\n");
  }

  test("finds nothing where nothing is wrong", () => {
    assert.equal(
      flawsAfter(() => {}),
      "",
    );
    assert.equal(countInterrupted(sound().deliveries), 1);
    assert.equal(countRepeats(sound().receivers), 1);
  });

  test("notices what never arrived", () => {
    assert.equal(
      flawsAfter((heard) => heard.splice(0, 1)),
      "dlv_1: was never heard",
    );
  });

  test("notices what arrived more often than interruptions explain", () => {
    const twice = flawsAfter((heard) => heard.push(hearing("dlv_1")));
    assert.equal(twice, "dlv_1: came 2 times, with 0 interruptions");
    const thrice = flawsAfter((heard) => heard.push(hearing("dlv_3")));
    assert.equal(thrice, "dlv_3: came 3 times, with 1 interruptions");
  });

  test("notices one byte that is not as it was signed, or not as it was the first time", () => {
    const flipped = flawsAfter(([first]) => {
      if (first !== undefined) first.body[3] = (first.body[3] ?? 0) ^ 1;
    });
    assert.equal(flipped, "dlv_1: is not signed");
    const changed = flawsAfter((heard) => heard.splice(3, 1, hearing("dlv_3", '{"id":"dlv_4"}')));
    assert.equal(changed, "dlv_3: changed from one time to the next");
  });

  test("notices what was promised and not written, written twice, or heard by somebody else", () => {
    assert.match(
      flawsAfter((_heard, { deliveries }) => deliveries.splice(0, 1)),
      /req_1 to ep_1: promised, not there\ndlv_1: came from nowhere/,
    );
    assert.match(
      flawsAfter((heard, { deliveries }) => {
        deliveries.push({ ...delivery(4), approvalId: "req_1" });
        heard.push(hearing("dlv_4"));
      }),
      /two deliveries to one endpoint/,
    );
    assert.match(
      flawsAfter((_heard, { deliveries }) => {
        const [first] = deliveries;
        if (first !== undefined) first.endpointId = "ep_2";
      }),
      /came from nowhere/,
    );
  });

  test("notices attempts that are open, missing or of another kind, and deliveries that have no end", () => {
    const withRow = (change: Partial<AuditedDelivery>) =>
      flawsAfter((_heard, { deliveries }) => Object.assign(deliveries[2] ?? {}, change));
    assert.match(withRow({ outcomes: ["interrupted", null] }), /the last attempt is null/);
    assert.match(withRow({ outcomes: [null, "delivered"] }), /an attempt is null/);
    assert.match(withRow({ outcomes: ["http_status", "delivered"] }), /an attempt is http_status/);
    assert.match(withRow({ attempts: 3 }), /counts 3 of 2/);
    assert.match(withRow({ state: "due" }), /is due/);
  });
});
