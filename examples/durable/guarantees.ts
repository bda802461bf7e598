// What every engine's example must keep, tested on the engine itself: asked once, woken by the callback, paid once and
// exactly, whatever dies, is lost, repeated or forged.

import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { until } from "../../server/test/patience.ts";
import type { Refund } from "./refund.ts";
import { post, type Stage, startStage } from "./stage.ts";

export type Environment = Record<string, string>;

export type Engine = {
  /** Starts it, with what it kept of earlier times, and answers where it receives callbacks. */
  boot(environment: Environment): Promise<string>;
  begin(run: string, refund: Refund): Promise<void>;
  /** Whether an id that was used before is run again. */
  runsUsedIds: boolean;
  /** What the run answered in the end, or null while it goes on. */
  outcomeOf(run: string): Promise<string | null>;
  /** Without a warning. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

const refund: Refund = { orderId: "1042", amount: "49.00" };

export function keepsItsGuarantees(
  name: string,
  { engine, skip = false }: { engine: (stage: Stage) => Engine; skip?: string | false },
): void {
  if (skip !== false) {
    // A suite that is skipped isn't counted.
    test(name, { skip });
    return;
  }
  describe(name, () => {
    let stage: Stage;
    let running: Engine;
    before(async () => {
      stage = await startStage();
      running = engine(stage);
      await boot("1 hour");
    });
    after(async () => {
      await running?.stop();
      await stage?.stop();
    });

    async function boot(lookAfter: string): Promise<void> {
      const environment = { ...stage.environment, LOOK_AFTER: lookAfter };
      stage.receiver.url = await running.boot(environment);
    }

    async function begin(): Promise<{ run: string; id: string }> {
      const run = `run-${randomUUID()}`;
      await running.begin(run, refund);
      return { run, id: await stage.requestOf(run) };
    }

    const outcomeOf = (run: string) => until(() => running.outcomeOf(run), `the end of ${run}`);

    test("is woken by the callback, and pays exactly what the approver made of it", async () => {
      const { run, id } = await begin();
      const amount = "9007199254740993.10";
      await stage.served.approve(id, JSON.stringify({ ...refund, amount }));
      assert.equal(await outcomeOf(run), `paid ${amount} EUR of order 1042`);
      assert.deepEqual(stage.paymentsOf(id), [
        { key: id, body: JSON.stringify({ ...refund, amount }) },
      ]);
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

    test("started again under a used id, it pays nothing on the old approval", async () => {
      const { run, id } = await begin();
      await stage.served.approve(id);
      await outcomeOf(run);
      const callback = await stage.callbackOf(id);
      await running.begin(run, refund);
      const outcome = await until(async () => {
        await post(stage.receiver.url, callback);
        return running.outcomeOf(run);
      }, "the second end");
      assert.match(outcome, running.runsUsedIds ? /^not paid/ : /^paid/);
      // A provider forgets a payment's key some day.
      assert.equal(stage.paymentsOf(id).length, 1);
    });

    test("believes no callback: forged, early and repeated ones pay nothing", async () => {
      const { run, id } = await begin();
      const lie = JSON.stringify({
        event: "request.approved",
        createdAt: new Date().toISOString(),
        data: { id, status: "APPROVED", metadata: { run }, effectivePayload: refund },
      });
      const { url } = stage.receiver;
      assert.equal(await post(url, { headers: signed(lie, "whsec_another"), body: lie }), 400);
      assert.equal(await post(url, { headers: {}, body: lie }), 400);
      // Signed with the right secret, but not true: it looks, and goes on waiting.
      const looks = () => stage.served.calls.filter((call) => call === `GET /v1/requests/${id}`);
      const before = looks().length;
      const status = await post(url, { headers: signed(lie, stage.secret), body: lie });
      assert.ok(status >= 200 && status < 300, String(status));
      await until(() => looks().length > before, "it looks");
      assert.equal(await running.outcomeOf(run), null);
      assert.deepEqual(stage.paymentsOf(id), []);
      await stage.served.approve(id);
      const callback = await stage.callbackOf(id);
      await post(url, callback);
      await outcomeOf(run);
      // Once it has ended, nobody is there any more, and that is no failure of the sender.
      const late = await post(url, callback);
      assert.ok(late >= 200 && late < 300, String(late));
      assert.equal(stage.paymentsOf(id).length, 1);
    });

    test("killed while it waits and after it has paid, it has asked once and pays once", async () => {
      const { run, id } = await begin();
      await running.kill();
      stage.provider.isSilent = true;
      await boot("1 hour");
      await stage.served.approve(id);
      await until(() => stage.paymentsOf(id).length === 1, "the first payment");
      await running.kill();
      stage.provider.isSilent = false;
      await boot("1 hour");
      assert.equal(await outcomeOf(run), "paid 49.00 EUR of order 1042");
      // One key and one text, however often: the provider pays once. `requestOf` counts the requests.
      const kinds = new Set(stage.paymentsOf(id).map(({ body }) => body));
      assert.deepEqual([...kinds], [JSON.stringify(refund)]);
      assert.equal(await stage.requestOf(run), id);
    });

    test("finds a decision whose callback was lost", async () => {
      await running.kill();
      await boot("2 seconds");
      const { url } = stage.receiver;
      stage.receiver.url = "";
      const { run, id } = await begin();
      await stage.served.approve(id);
      await stage.callbackOf(id);
      assert.equal(await outcomeOf(run), "paid 49.00 EUR of order 1042");
      stage.receiver.url = url;
    });
  });
}

function signed(body: string, secret: string): Environment {
  const now = Math.floor(Date.now() / 1_000);
  const v1 = createHmac("sha256", secret).update(`${now}.${body}`).digest("hex");
  return { "x-service-signature": `t=${now},v1=${v1}` };
}
