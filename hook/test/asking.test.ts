// The hook between a stub of each harness and the real service: a tool that asks runs once a person has approved, with
// exactly the approved input, once.

import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { Countersign } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import { hangMs, until } from "../../server/test/patience.ts";
import { harnesses } from "../src/harnesses.ts";
import type { HarnessName } from "../src/tool-call.ts";
import { folder, guard } from "./guarded.ts";
import { endGroup, type StubRun } from "./stub-harness.ts";

const served = await serve();
after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

const names = Object.keys(harnesses) as HarnessName[];
const push = "git push origin main";
/** The least in which a machine as busy as this one starts Node twice, and asks and cancels. */
const waitSeconds = Math.ceil((5 * hangMs) / 120_000);

for (const name of names) {
  describe(harnesses[name].title, { concurrency: 2 }, () => {
    test("an approved call runs as it is, and the approval is redeemed", async () => {
      const guarded = await guard(served);
      const run = guarded.run(name, push);
      const id = await guarded.asked();
      assert.equal(run.child.exitCode, null);
      await served.approve(id);
      const outcome = await run.outcome;
      assert.deepEqual([outcome.ran, outcome.ran && outcome.input], [true, { command: push }]);
      assert.deepEqual(await guarded.requests(), [{ id, status: "APPROVED", redeemed: true }]);
    });

    test("a rejected call doesn't run, and the model hears the note", async () => {
      const guarded = await guard(served);
      const run = guarded.run(name, push);
      await served.reject(await guarded.asked(), "Not on a Friday");
      const { ran, told } = await run.outcome;
      assert.equal(ran, false);
      assert.match(told, /rejected.*Not on a Friday/s);
    });

    test("an edit runs in place of the call, and the model hears the note where the harness passes it on", async () => {
      const guarded = await guard(served);
      const run = guarded.run(name, push);
      const edit = '{"command": "git push origin review"}';
      await served.approve(await guarded.asked(), edit, "To a branch, please");
      const outcome = await run.outcome;
      assert.deepEqual(outcome.ran && outcome.input, JSON.parse(edit));
      if (name !== "gemini") assert.match(outcome.told, /To a branch, please/);
    });

    test("an edit that the harness would not run exactly is handed back, and not redeemed", async () => {
      const guarded = await guard(served);
      const run = guarded.run(name, push);
      const id = await guarded.asked();
      await served.approve(id, name === "codex" ? '{"command": "ls", "cwd": "/"}' : "[1]", "No");
      const { ran, told } = await run.outcome;
      assert.equal(ran, false);
      assert.match(told, /approved this action with changes.*This is the input they want.*"No"/s);
      assert.deepEqual(await guarded.requests(), [{ id, status: "APPROVED", redeemed: false }]);
    });

    test("if nobody decides, the call is denied before the harness's limit, and the question withdrawn", async () => {
      const guarded = await guard(served);
      const { ran, told } = await guarded.run(name, push, { more: `--wait ${waitSeconds}` })
        .outcome;
      assert.equal(ran, false);
      assert.match(told, /Nobody decided/);
      assert.equal((await guarded.requests())[0]?.status, "CANCELLED");
    });

    test("a call that the rules let pass gets no decision, and nobody is asked", async () => {
      const guarded = await guard(served, { rules: [] });
      const { code, stdout, stderr } = await guarded.run(name, push).finished;
      assert.deepEqual([code, stdout.trim(), stderr], [0, name === "cursor" ? "{}" : "", ""]);
      assert.deepEqual(await guarded.requests(), []);
    });

    test("a second hook for the same call never lets it run again", async () => {
      const guarded = await guard(served);
      const id = "2026-11-18T00:00:00.000Z";
      const runs = [guarded.run(name, push, { id }), guarded.run(name, push, { id })];
      await served.approve(await guarded.asked());
      const outcomes = await Promise.all(runs.map((run) => run.outcome));
      assert.equal(outcomes.filter(({ ran }) => ran).length, 1);
      const late = await guarded.run(name, push, { id }).outcome;
      assert.match(late.told, /handed out to run at .* may have been carried out/s);
      assert.equal((await guarded.requests()).length, 1);
    });
  });
}

test("a long edit runs as it is, and one that is too long for the harness is handed back and not redeemed", async () => {
  const runOf = async (characters: number) => {
    const guarded = await guard(served);
    const run = guarded.run("claude", "x".repeat(characters));
    const edit = { command: "y".repeat(characters) };
    await served.approve(await guarded.asked(), JSON.stringify(edit));
    return { guarded, edit, outcome: await run.outcome };
  };
  const [long, tooLong] = await Promise.all([runOf(40_000), runOf(60_000)]);
  assert.deepEqual(long.outcome.ran && long.outcome.input, long.edit);
  assert.equal(tooLong.outcome.ran, false);
  assert.match(tooLong.outcome.told, /too long/);
  const [request] = await tooLong.guarded.requests();
  assert.deepEqual([request?.status, request?.redeemed], ["APPROVED", false]);
});

test("a hook that is killed and started again for the same call waits for the same request", async () => {
  const guarded = await guard(served);
  const first = guarded.run("claude", push, { id: "toolu_1" });
  const id = await guarded.asked();
  endGroup(first.child);
  assert.equal((await first.outcome).ran, false);
  const second = guarded.run("claude", push, { id: "toolu_1" });
  await served.approve(id);
  assert.equal((await second.outcome).ran, true);
  assert.deepEqual(await guarded.requests(), [{ id, status: "APPROVED", redeemed: true }]);
});

test("another input under an approved call's id is denied", async () => {
  const guarded = await guard(served);
  const first = guarded.run("claude", push, { id: "toolu_1" });
  await served.approve(await guarded.asked());
  assert.equal((await first.outcome).ran, true);
  const { ran, told } = await guarded.run("claude", "rm -rf /", { id: "toolu_1" }).outcome;
  assert.equal(ran, false);
  assert.match(told, /Not approved/);
});

test("a request that expires or is cancelled runs nothing", async () => {
  for (const [end, said] of [
    [expire, /Nobody decided/],
    [cancel, /was cancelled/],
  ] as const) {
    const guarded = await guard(served);
    const first = guarded.run("codex", push, { id: "call_1" });
    const id = await guarded.asked();
    // A wait that is held is not woken by a row whose time was moved.
    endGroup(first.child);
    await end(id, guarded.key);
    const { ran, told } = await guarded.run("codex", push, { id: "call_1" }).outcome;
    assert.equal(ran, false);
    assert.match(told, said);
  }
});

async function expire(id: string): Promise<void> {
  const ended = "update approvals set expires_at = now_ms() where id = $1";
  await served.service.db.query(ended, [id]);
}

async function cancel(id: string, apiKey: string): Promise<void> {
  await new Countersign({ apiKey, baseUrl: served.url }).requests.cancel(id);
}

test("Claude Code defers while nobody has decided, and the resumed session runs the approved call", async () => {
  const guarded = await guard(served);
  const call = { id: "toolu_1", more: "--defer" };
  const first = await guarded.run("claude", push, call).outcome;
  assert.deepEqual(first, { ran: false, told: "", deferred: true });
  assert.deepEqual(await guarded.run("claude", push, call).outcome, first);
  await served.approve(await guarded.asked());
  assert.equal((await guarded.run("claude", push, call).outcome).ran, true);
  assert.equal((await guarded.requests()).length, 1);
});

test("Cursor's hooks without a call's id ask, take no edit, and run the same command once a turn", async () => {
  const guarded = await guard(served);
  const shell = { event: "beforeShellExecution" };
  const run = guarded.run("cursor", push, shell);
  await served.approve(await guarded.asked());
  assert.equal((await run.outcome).ran, true);
  assert.match((await guarded.run("cursor", push, shell).outcome).told, /handed out to run/);
  const other = await guard(served);
  const mcp = other.run("cursor", push, { event: "beforeMCPExecution" });
  await served.approve(await other.asked(), '{"input": {"command": "ls"}}');
  const { ran, told } = await mcp.outcome;
  assert.equal(ran, false);
  assert.match(told, /takes no changed input.*"ls"/s);
});

test("a call that the rules put before two people runs once both have approved", async () => {
  const people = { then: [{ notify: "ben@example.com" }], requestedBy: "eve@example.com" };
  const guarded = await guard(served, people);
  const run = guarded.run("claude", push);
  const id = await guarded.asked();
  await served.approve(id);
  assert.deepEqual(await guarded.requests(), [{ id, status: "PENDING", redeemed: false }]);
  assert.equal(run.child.exitCode, null);
  await served.approve(id);
  assert.equal((await run.outcome).ran, true);
});

test("a call that mentions the gate's own settings asks, whatever the rules let pass", async () => {
  const guarded = await guard(served, { rules: [] });
  const run = guarded.run("codex", "sed -i s/ask/pass/ ~/.countersign//hook.json");
  await served.reject(await guarded.asked(), "No");
  assert.equal((await run.outcome).ran, false);
});

test("a harness that gives up, with its shell alone or with the whole group, leaves no question behind", async () => {
  for (const end of [endGroup, endShell]) {
    const guarded = await guard(served);
    const run = guarded.run("gemini", push);
    await guarded.asked();
    end(run.child, "SIGTERM");
    await run.finished;
    await until(async () => (await guarded.requests())[0]?.status === "CANCELLED");
  }
});

function endShell(child: StubRun["child"], signal: NodeJS.Signals): void {
  child.kill(signal);
}
