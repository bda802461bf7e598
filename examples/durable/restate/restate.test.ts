// The workflow on a real Restate server, where `npm run engines` has installed one. The callback goes straight to the
// server's ingress, which believes everybody, so these guarantees are listed here and not in guarantees.ts.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "../../../server/test/patience.ts";
import type { Refund } from "../refund.ts";
import { type Stage, startStage } from "../stage.ts";
import { freePort, type Started, start, startNode } from "../started.ts";

const folder = import.meta.dirname;
const platform = `restate-server-${process.platform}-${process.arch}`;
const program = join(folder, "node_modules", "@restatedev", platform, "bin", "restate-server");
const refund: Refund = { orderId: "1042", amount: "49.00" };

if (existsSync(program)) describe("Restate", keepsItsGuarantees);
// A suite that is skipped isn't counted.
else test("Restate", { skip: "Restate's server is not installed here: npm run engines" });

function keepsItsGuarantees(): void {
  let stage: Stage;
  let engine: Engine;
  before(async () => {
    stage = await startStage();
    engine = await startEngine(stage.environment);
  });
  after(async () => {
    await engine?.stop();
    await stage?.stop();
  });

  async function begin(lookAfter = { hours: 1 } as object) {
    const run = `run-${randomUUID()}`;
    await engine.begin(run, { ...refund, lookAfter });
    const id = await stage.requestOf(run);
    const { rows } = await stage.served.service.db.query(
      "select callback_url from approvals where id = $1",
      [id],
    );
    return { run, id, address: rows[0].callback_url as string };
  }

  const outcomeOf = (run: string) => until(() => engine.outcomeOf(run), `the end of ${run}`);

  const looksAt = (id: string) =>
    stage.served.calls.filter((call) => call === `GET /v1/requests/${id}`).length;

  test("is woken by the callback, and pays exactly what the approver made of it", async () => {
    const { run, id } = await begin();
    const amount = "9007199254740993.10";
    await stage.served.approve(id, JSON.stringify({ ...refund, amount }));
    assert.equal(await outcomeOf(run), `paid ${amount} EUR of order 1042`);
    const body = JSON.stringify({ ...refund, amount });
    assert.deepEqual(stage.paymentsOf(id), [{ key: id, body }]);
    assert.ok(await stage.isRedeemed(id));
  });

  test("ends without paying when it is rejected, expires or is cancelled", async () => {
    const runs = await Promise.all([begin(), begin(), begin()]);
    const [rejected, expired, cancelled] = runs;
    await stage.served.reject(rejected.id, "Refunded in May");
    await stage.expire(expired.id);
    await stage.cancel(cancelled.id);
    const outcomes = await Promise.all(runs.map(({ run }) => outcomeOf(run)));
    assert.deepEqual(outcomes, ["REJECTED", "EXPIRED", "CANCELLED"]);
    for (const { id } of runs) assert.deepEqual(stage.paymentsOf(id), []);
  });

  test("neither pays nor uses up an approval that it can't carry out exactly", async () => {
    for (const edit of [
      '{"orderId": "1042", "amount": 9007199254740993}',
      '{"orderId": "1042", "amount": "49.00", "currency": "JPY"}',
    ]) {
      const { run, id } = await begin();
      await stage.served.approve(id, edit);
      assert.equal(await outcomeOf(run), "not paid: what was approved is no refund");
      assert.deepEqual(stage.paymentsOf(id), []);
      assert.ok(!(await stage.isRedeemed(id)));
    }
  });

  test("believes no call: a lie, bytes that aren't JSON and a rejection only make it look", async () => {
    const lieAbout = (id: string) =>
      JSON.stringify({ event: "request.approved", data: { id, status: "APPROVED" } });
    const calls = [
      { action: "resolve", bodyFor: lieAbout },
      { action: "resolve", bodyFor: () => "\u0000{not json" },
      { action: "reject", bodyFor: () => "no" },
    ];
    for (const { action, bodyFor } of calls) {
      const { run, id, address } = await begin();
      assert.equal(looksAt(id), 0);
      assert.equal(await forge(address.replace(/resolve$/, action), bodyFor(id)), 202);
      await until(() => looksAt(id) > 0, "it looks");
      assert.equal(await engine.outcomeOf(run), null);
      assert.deepEqual(stage.paymentsOf(id), []);
    }
  });

  test("finds the decision after somebody else has used up the address", async () => {
    const { run, id, address } = await begin({ seconds: 1 });
    assert.equal(await forge(address, "{}"), 202);
    await until(() => looksAt(id) > 1, "it looks again");
    await stage.served.approve(id);
    assert.equal(await outcomeOf(run), "paid 49.00 EUR of order 1042");
    // The callback and later calls find nobody, and that is no failure of the sender.
    assert.equal(await forge(address, "{}"), 202);
    assert.equal(stage.paymentsOf(id).length, 1);
  });

  test("finds a decision whose callback was lost", async () => {
    const { run, id } = await begin({ seconds: 1 });
    await stage.served.service.db.query(
      "update approvals set callback_url = 'http://127.0.0.1:9/' where id = $1",
      [id],
    );
    await stage.served.approve(id);
    assert.equal(await outcomeOf(run), "paid 49.00 EUR of order 1042");
  });

  test("started again under a used key, it pays nothing on the old approval", async () => {
    const { run, id } = await begin({ seconds: 1 });
    await stage.served.approve(id);
    const outcome = await outcomeOf(run);
    // Restate keeps a workflow for a day. So long its key can't be used again.
    const { invocationId } = await engine.begin(run, refund);
    assert.equal(await outcomeOf(run), outcome);
    await engine.forget(invocationId);
    await engine.begin(run, { ...refund, lookAfter: { seconds: 1 } });
    assert.match(await outcomeOf(run), /^not paid/);
    assert.equal(stage.paymentsOf(id).length, 1);
  });

  test("killed with its server while it waits and after it has paid, it has asked once and pays once", async () => {
    const { run, id } = await begin();
    await engine.kill();
    stage.provider.isSilent = true;
    await engine.boot();
    await stage.served.approve(id);
    await until(() => stage.paymentsOf(id).length === 1, "the first payment");
    await engine.kill();
    stage.provider.isSilent = false;
    await engine.boot();
    assert.equal(await outcomeOf(run), "paid 49.00 EUR of order 1042");
    // One key and one text, however often: the provider pays once. `requestOf` counts the requests.
    const kinds = new Set(stage.paymentsOf(id).map(({ body }) => body));
    assert.deepEqual([...kinds], [JSON.stringify(refund)]);
    assert.equal(await stage.requestOf(run), id);
  });
}

type Engine = Awaited<ReturnType<typeof startEngine>>;

async function startEngine(environment: Record<string, string>) {
  const data = mkdtempSync(join(tmpdir(), "countersign-restate-"));
  const [ingressPort, adminPort, fabricPort, port] = await freePorts(4);
  const ingress = `http://127.0.0.1:${ingressPort}`;
  const admin = `http://127.0.0.1:${adminPort}`;
  let server: Started | null = null;
  let worker: Started | null = null;

  /** The server and the handlers, with what they kept of earlier times. */
  async function boot(): Promise<void> {
    server = start(program, ["--base-dir", data, "--node-name", "test", "--no-logo"], {
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: `${fabricPort}`,
      RESTATE_INGRESS__BIND_PORT: `${ingressPort}`,
      RESTATE_ADMIN__BIND_PORT: `${adminPort}`,
    });
    const own = { PORT: `${port}`, RESTATE_INGRESS: ingress };
    worker = startNode(join(folder, "refunds.ts"), { ...environment, ...own });
    await worker.said(/listening on/);
    await until(() => isHealthy(`${admin}/health`), "the server's admin");
    await until(() => isHealthy(`${ingress}/restate/health`), "the server's ingress");
  }

  async function kill(): Promise<void> {
    await Promise.all([server?.kill(), worker?.kill()]);
  }

  async function stop(): Promise<void> {
    await kill();
    rmSync(data, { recursive: true, force: true });
  }

  try {
    await boot();
    const told = await postJson(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}` });
    assert.equal(told.status, 201, await told.text());
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    boot,
    kill,
    stop,
    begin: async (run: string, asked: object) => {
      const answer = await postJson(`${ingress}/refunds/${run}/run/send`, asked);
      const text = await answer.text();
      assert.ok(answer.ok, text);
      return JSON.parse(text) as { invocationId: string };
    },
    /** As the server does by itself when the retention is over. */
    forget: async (invocationId: string) => {
      const url = `${admin}/invocations/${invocationId}/purge`;
      const answer = await fetch(url, { method: "PATCH" });
      assert.ok(answer.ok, await answer.text());
    },
    /** What the run answered in the end, or null while it goes on. */
    outcomeOf: async (run: string): Promise<string | null> => {
      const answer = await fetch(`${ingress}/restate/workflow/refunds/${run}/output`);
      const text = await answer.text();
      if (answer.status === 470) return null;
      assert.equal(answer.status, 200, text);
      return JSON.parse(text);
    },
  };
}

async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = await freePort();
    if (!ports.includes(port)) ports.push(port);
  }
  return ports;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

function postJson(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** As a stranger who has learned the address. */
async function forge(url: string, body: string): Promise<number> {
  return (await fetch(url, { method: "POST", body })).status;
}
