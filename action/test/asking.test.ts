// The packed action in a fresh folder, run by its own entry point with what the runner gives it, against the real service.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { serve } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { folder, runPost, runStep, type StepOptions, unpack } from "./stub-runner.ts";

const served = await serve();
const { db } = served.service;
const place = await unpack();
after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

const exact = '{"id": 9007199254740993, "amount": 1.0, "__proto__": 1E400}';

async function makeRun(inputs: Record<string, string> = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const runId = randomUUID();
  const listed = async () => {
    const { rows } = await db.query<{ id: string; status: string; redeemed: boolean }>(
      `select approvals.id, status, approval_id is not null as redeemed
       from approvals left join redemptions on approval_id = approvals.id
       where approvals.workspace_id = $1 order by approvals.id`,
      [workspaceId],
    );
    return rows;
  };
  const options = (more: Partial<StepOptions> = {}): StepOptions => ({
    runId,
    with: {
      url: served.url,
      "api-key": key,
      summary: "Deploy 1.4.0 to production",
      payload: exact,
      notify: "ann@example.com",
      ...inputs,
    },
    ...more,
  });
  return {
    key,
    workspaceId,
    options,
    listed,
    step: (more: Partial<StepOptions> = {}) => runStep(place, options(more)),
    /** The id of the question that was asked as this many. */
    asked: (count = 1) => until(async () => (await listed())[count - 1]?.id, "a question"),
  };
}

describe("the step", { concurrency: 2 }, () => {
  test("succeeds once a person approved, is redeemed, and outputs the exact text", async () => {
    const run = await makeRun();
    const { child, ended } = run.step();
    const id = await run.asked();
    assert.equal(child.exitCode, null);
    await served.approve(id);
    const { isSuccess, outputs, masks, log, summary } = await ended;
    assert.equal(isSuccess, true, log);
    assert.deepEqual(outputs, {
      status: "APPROVED",
      "request-id": id,
      edited: "false",
      "effective-payload": exact,
    });
    assert.deepEqual(masks, [run.key]);
    assert.equal(log.split(run.key).length, 2, "the key is in the log, but for its mask");
    assert.match(summary, /approved[\s\S]*Deploy 1\.4\.0/);
    assert.deepEqual(await run.listed(), [{ id, status: "APPROVED", redeemed: true }]);
  });

  test("outputs what the approver made of the payload, to the digit", async () => {
    const run = await makeRun();
    const { ended } = run.step();
    const edit = '{"id": 9007199254740995, "amount": 0.50}';
    await served.approve(await run.asked(), edit);
    const { outputs } = await ended;
    assert.deepEqual([outputs.edited, outputs["effective-payload"]], ["true", edit]);
  });

  test("fails when it is rejected, expires or is cancelled, and hands out no payload", async () => {
    const ends: [string, (id: string) => Promise<unknown>][] = [
      ["REJECTED", (id) => served.reject(id, "Not on a Friday")],
      [
        "EXPIRED",
        (id) =>
          db.query(
            "update approvals set expires_at = now_ms(), created_at = now_ms() - interval '1 hour' where id = $1",
            [id],
          ),
      ],
      [
        "CANCELLED",
        async (id) => {
          const key = await served.keyOf(id);
          await served.service.call("POST", `/v1/requests/${id}/cancel`, { key });
        },
      ],
    ];
    for (const [status, end] of ends) {
      const run = await makeRun();
      const { ended } = run.step();
      const id = await run.asked();
      await end(id);
      const { code, outputs, commands } = await ended;
      assert.deepEqual([code, outputs], [1, { status, "request-id": id, edited: "false" }]);
      const [error] = commands.filter(({ name }) => name === "error");
      assert.match(error?.data ?? "", status === "REJECTED" ? /Not on a Friday/ : /Not approved/);
    }
  });

  test("asks the workspace's default approver when nobody is named, and nobody when there is none", async () => {
    const run = await makeRun({ notify: "" });
    const { code, log } = await run.step().ended;
    assert.equal(code, 1);
    assert.match(log, /Nobody is set to be asked/);
    await db.query("update workspaces set default_approver = 'bob@example.com' where id = $1", [
      run.workspaceId,
    ]);
    const { ended } = run.step();
    await served.approve(await run.asked());
    assert.equal((await ended).isSuccess, true);
  });

  test("without what it needs it fails, and nobody is asked", async () => {
    const flawed: [Record<string, string>, RegExp][] = [
      [{ "api-key": "" }, /api-key is empty/],
      [{ "api-key": "cs_wrong" }, /API key/i],
      [{ summary: " " }, /summary is empty/],
      [{ url: "" }, /url is empty/],
      [{ payload: '{"a": 1,}' }, /payload is not JSON/],
      [{ payload: '{"a": 1, "a": 2}' }, /appears more than once/],
      [{ "timeout-minutes": "soon" }, /timeout-minutes/],
      [{ "timeout-minutes": "4" }, /timeout-minutes/],
    ];
    for (const [inputs, expected] of flawed) {
      const run = await makeRun(inputs);
      const { code, outputs, log } = await run.step().ended;
      assert.deepEqual([code, outputs], [1, {}], log);
      assert.match(log, expected);
      assert.deepEqual(await run.listed(), []);
    }
    const run = await makeRun();
    for (const name of ["GITHUB_OUTPUT", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"]) {
      const { code, log } = await run.step({ env: { [name]: "" } }).ended;
      assert.equal(code, 1);
      assert.match(log, new RegExp(name));
    }
    assert.deepEqual(await run.listed(), []);
  });
});

describe("a run that is run again", { concurrency: 2 }, () => {
  test("after a crash waits for the same question", async () => {
    const run = await makeRun();
    const first = run.step();
    const id = await run.asked();
    first.child.kill("SIGKILL");
    assert.equal((await first.ended).isSuccess, false);
    const second = run.step({ attempt: 2 });
    await served.approve(id);
    const { isSuccess, outputs } = await second.ended;
    assert.deepEqual([isSuccess, outputs["request-id"]], [true, id]);
    assert.equal((await run.listed()).length, 1);
  });

  test("uses an approval that came after the crash, until the request's own time is over", async () => {
    for (const isLate of [false, true]) {
      const run = await makeRun();
      const first = run.step();
      const id = await run.asked();
      first.child.kill("SIGKILL");
      await first.ended;
      if (isLate) {
        // Approved in time; the run is run again after it.
        await db.query(
          "update approvals set expires_at = now_ms() + interval '2 seconds' where id = $1",
          [id],
        );
      }
      await served.approve(id);
      if (isLate) {
        await until(async () => {
          const { rows } = await db.query(
            "select expires_at < now_ms() as over from approvals where id = $1",
            [id],
          );
          return rows[0].over;
        }, "its end");
      }
      const second = run.step({ attempt: 2 });
      if (isLate) await served.reject(await run.asked(2), "Too late");
      assert.equal((await second.ended).isSuccess, !isLate);
    }
  });

  test("asks anew after a rejection, and after an approval that was used", async () => {
    const run = await makeRun();
    const first = run.step();
    await served.reject(await run.asked(1), "Wait for the tests");
    assert.equal((await first.ended).isSuccess, false);
    const second = run.step({ attempt: 2 });
    await served.approve(await run.asked(2));
    assert.equal((await second.ended).isSuccess, true);
    // A later step failed.
    const third = run.step({ attempt: 3 });
    const id = await run.asked(3);
    assert.equal(third.child.exitCode, null);
    await served.approve(id);
    assert.equal((await third.ended).outputs["request-id"], id);
    assert.equal((await run.listed()).length, 3);
  });

  test("one approval is for one job, also where jobs ask the same", async () => {
    const run = await makeRun();
    const racing = [1, 2, 3].map(() => run.step());
    await served.approve(await run.asked());
    const ended = await Promise.all(racing.map((step) => step.ended));
    assert.equal(ended.filter(({ isSuccess }) => isSuccess).length, 1);
    assert.equal(ended.filter(({ outputs }) => "effective-payload" in outputs).length, 1);
    assert.equal((await run.listed()).length, 1);
  });

  test("each job of a matrix, each step and each run has a question of its own", async () => {
    const run = await makeRun();
    const steps = [
      run.step({ matrix: '{"os": "linux"}' }),
      run.step({ matrix: '{"os": "mac"}' }),
      run.step({ step: "__self_2" }),
      run.step({ runId: randomUUID() }),
    ];
    await run.asked(4);
    for (const { id } of await run.listed()) await served.approve(id);
    for (const { isSuccess } of await Promise.all(steps.map(({ ended }) => ended))) {
      assert.equal(isSuccess, true);
    }
    assert.equal((await run.listed()).length, 4);
  });
});

test("the documented workflow keeps a stranger's text one text, and its script can't be broken into", async () => {
  const version = '1.4.0", "force": "yes';
  const page = readFileSync(join(import.meta.dirname, "../../docs/automation.md"), "utf8");
  const [, workflow = ""] = /```yaml\n# deploy\.yml\n([\s\S]*?)```/.exec(page) ?? [];
  const [, withBlock = ""] = / {8}with:\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
  const inputs = Object.fromEntries(
    [...withBlock.matchAll(/^ {10}([\w-]+): (.*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value
        .replace(/^'(.*)'$/, "$1")
        .replace(/\$\{\{ inputs\.version \}\}/, () => version)
        .replace(/\$\{\{ toJSON\(inputs\.version\) \}\}/, () => JSON.stringify(version))
        .replace(/\$\{\{ vars\.COUNTERSIGN_URL \}\}/, served.url),
    ]),
  );
  assert.ok(Object.keys(inputs).length >= 5, workflow);
  assert.deepEqual(JSON.parse(inputs.payload ?? ""), { version });
  const run = await makeRun();
  const { ended } = runStep(place, {
    with: { ...inputs, "api-key": run.key },
    runId: randomUUID(),
  });
  const hostile = `{"version": "$(touch ${join(folder, "broken-into")})\`id\`'\\";exit 9"}`;
  await served.approve(await run.asked(), hostile);
  const { isSuccess, outputs, log } = await ended;
  assert.equal(isSuccess, true, log);
  const [, script = ""] = /PAYLOAD: .*\n {8}run: (.*)\n/.exec(workflow) ?? [];
  assert.match(script, /\$PAYLOAD/);
  assert.doesNotMatch(workflow.replaceAll(/^ {10}[\w-]+: .*$/gm, ""), /\$\{\{.*payload/i);
  const { PATH = "" } = process.env;
  const env = { PATH, PAYLOAD: outputs["effective-payload"] };
  const said = await promisify(execFile)("bash", ["-e", "-c", `deploy() { cat; }\n${script}`], {
    env,
  });
  assert.equal(said.stdout.trim(), hostile);
  await assert.rejects(promisify(execFile)("ls", [join(folder, "broken-into")]));
});

test("when the step ends well, the post step does nothing", async () => {
  const run = await makeRun();
  const step = run.step();
  await served.approve(await run.asked());
  const main = await step.ended;
  served.calls.length = 0;
  const { code } = await runPost(place, run.options(), main).ended;
  assert.deepEqual([code, served.calls], [0, []]);
});
