// Trigger.dev's own client against the stand-in for its API that every `npm test` uses (server/test/trigger-api.ts), and
// the recipe for its wait tokens with it. `wait.forToken` runs only on their platform; `wait.retrieveToken` reads the same.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "../../../server/test/patience.ts";
import { startTriggerApi, type TriggerApi } from "../../../server/test/trigger-api.ts";
import { type Stage, startStage } from "../stage.ts";

const isInstalled = existsSync(join(import.meta.dirname, "node_modules", "@trigger.dev"));
const refund = { orderId: "1042", amount: "49.00" };

if (isInstalled) describe("Trigger.dev", checksTheRecipe);
// A suite that is skipped isn't counted.
else test("Trigger.dev", { skip: "Trigger.dev's client is not installed here: npm run engines" });

function checksTheRecipe(): void {
  let stage: Stage;
  let api: TriggerApi;
  let steps: typeof import("../refund.ts");
  let vendor: typeof import("@trigger.dev/sdk");
  before(async () => {
    stage = await startStage();
    api = await startTriggerApi();
    // The steps read it when they are loaded, as in a task.
    Object.assign(process.env, stage.environment);
    steps = await import("../refund.ts");
    vendor = await import("@trigger.dev/sdk");
    vendor.configure({ baseURL: api.url, accessToken: api.key });
  });
  after(async () => {
    api?.stop();
    await stage?.stop();
  });

  test("its client accepts what the stand-in answers, and the stand-in what its client sends", async () => {
    const { wait } = vendor;
    const token = await wait.createToken({ idempotencyKey: "one", tags: ["refund"] });
    assert.ok(token.url.startsWith(api.url) && token.url.includes(token.id), token.url);
    assert.equal((await wait.createToken({ idempotencyKey: "one" })).id, token.id);
    const waiting = await wait.retrieveToken(token);
    assert.deepEqual([waiting.status, waiting.output], ["WAITING", undefined]);
    assert.deepEqual([waiting.url, waiting.tags], [token.url, ["refund"]]);
    assert.deepEqual(await wait.completeToken(token, { amount: 49 }), { success: true });
    assert.deepEqual(await wait.completeToken(token, { amount: 50 }), { success: true });
    const completed = await wait.retrieveToken(token);
    assert.deepEqual([completed.status, completed.output], ["COMPLETED", { amount: 49 }]);
    assert.ok(completed.completedAt instanceof Date);
    await assert.rejects(wait.retrieveToken("waitpoint_unknown"), { status: 404 });
    vendor.configure({ baseURL: api.url, accessToken: "tr_dev_another" });
    await assert.rejects(wait.retrieveToken(token), { status: 401 });
    vendor.configure({ baseURL: api.url, accessToken: api.key });
  });

  test("the callback completes a token, its client reads our event, and what is paid is the exact edit", async () => {
    const { wait } = vendor;
    const token = await wait.createToken();
    const id = await steps.ask(refund, token.id, token.url);
    const amount = "9007199254740993.10";
    await stage.served.approve(id, JSON.stringify({ ...refund, amount }));
    const { output } = await untilCompleted(token);
    assert.deepEqual([output?.event, output?.data.id], ["request.approved", id]);
    assert.equal(await steps.statusOf(id), "APPROVED");
    assert.equal(await steps.pay(id, token.id), `paid ${amount} EUR of order 1042`);
    // The step that runs again after a crash has the same keys.
    await steps.pay(id, token.id);
    const kinds = new Set(stage.paymentsOf(id).map(({ body }) => body));
    assert.deepEqual([...kinds], [JSON.stringify({ ...refund, amount })]);
  });

  test("a stranger who knows the address completes the token, and nothing is paid", async () => {
    const { wait } = vendor;
    const token = await wait.createToken();
    const id = await steps.ask(refund, token.id, token.url);
    const data = { id, status: "APPROVED", effectivePayload: refund };
    const body = JSON.stringify({ event: "request.approved", data });
    const guessed = await fetch(`${token.url.slice(0, -4)}0000`, { method: "POST", body });
    assert.equal(guessed.status, 401);
    assert.equal((await fetch(token.url, { method: "POST", body })).status, 200);
    // Their client hands out the lie. Our service doesn't.
    assert.equal((await untilCompleted(token)).output?.data.status, "APPROVED");
    assert.equal(await steps.statusOf(id), "PENDING");
    await assert.rejects(steps.pay(id, token.id), { code: "not_approved" });
    assert.deepEqual(stage.paymentsOf(id), []);
    assert.ok(!(await stage.isRedeemed(id)));
  });

  type Event = { event: string; data: { id: string; status: string } };

  function untilCompleted(token: { id: string }) {
    return until(async () => {
      const retrieved = await vendor.wait.retrieveToken<Event>(token);
      return retrieved.status === "COMPLETED" && retrieved;
    }, "the token to be completed");
  }
}
