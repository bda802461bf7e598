// Everything that can go wrong between a harness and a decision. The stubs' own gate lets everything pass, so the tool runs
// wherever the hook fails to say no. It must not, unless a person has approved and the approval was redeemed.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { serve } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { harnesses } from "../src/harnesses.ts";
import type { HarnessName } from "../src/tool-call.ts";
import { descendants, folder, type Guarded, guard } from "./guarded.ts";
import { endGroup, type StubRun } from "./stub-harness.ts";

const served = await serve();
const certificates = join(import.meta.dirname, "..", "..", "server", "test", "certificates");
const closing: (() => void)[] = [];
after(async () => {
  for (const close of closing) close();
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

const names = Object.keys(harnesses) as HarnessName[];
const push = "git push origin main";
const skip = existsSync("/proc/self/task")
  ? false
  : "only Linux tells which processes a process has";

type Which = "hook" | "asking";

/** The hook's own process, or the one that asks for it. */
async function find(run: StubRun, which: Which): Promise<number> {
  const name = which === "hook" ? "countersign-hook.mjs" : "asking-program";
  const look = () =>
    descendants(run.child.pid ?? 0).find(({ command }) => command.includes(name))?.pid;
  return until(() => look() ?? (run.child.exitCode === null ? null : -1), `${which} runs`);
}

/** Points of a run, each with what holds once it is reached. */
const points: Record<string, (guarded: Guarded, run: StubRun) => Promise<unknown>> = {
  "before it has read": async () => {},
  "when it has begun to ask": (_guarded, run) => find(run, "asking"),
  "while a person decides": (guarded) => guarded.asked(),
};

for (const name of names) {
  describe(`${harnesses[name].title}: a killed or starved hook`, { skip, concurrency: 2 }, () => {
    for (const [point, reached] of Object.entries(points)) {
      for (const which of ["hook", "asking"] as const) {
        if (which === "asking" && point === "before it has read") continue;
        test(`${which} killed ${point}: the tool doesn't run, also if it is approved then`, async () => {
          const guarded = await guard(served);
          const run = guarded.run(name, push);
          const victim = await find(run, which);
          await reached(guarded, run);
          process.kill(victim, "SIGKILL");
          const outcome = await run.outcome;
          for (const { id, status } of await guarded.requests()) {
            if (status === "PENDING") await served.approve(id);
          }
          assert.equal(outcome.ran, false);
          // Codex and Gemini CLI block only if there is a reason.
          assert.notEqual((await run.finished).stderr, "");
          assert.ok((await guarded.requests()).every(({ redeemed }) => !redeemed));
        });
      }
    }

    test("a process that asks and stands still is given up in time", async () => {
      const guarded = await guard(served);
      const run = guarded.run(name, push, { more: "--wait 5" });
      const victim = await find(run, "asking");
      process.kill(victim, "SIGSTOP");
      assert.equal((await run.outcome).ran, false);
      assert.match((await run.finished).stderr, /the time is over/);
    });

    test("if all of its processes stand still, the harness's own limit decides", async () => {
      const guarded = await guard(served);
      const run = guarded.run(name, push, { more: "--wait 300", timeoutMs: 3_000 });
      await find(run, "hook");
      endGroup(run.child, "SIGSTOP");
      const { ran } = await run.outcome;
      // Nothing of ours runs then. docs/hooks.md says so in its table.
      assert.equal(ran, name === "codex" || name === "gemini");
    });
  });
}

test("a hook whose program or Node isn't there is a no, by the end of the documented command", async () => {
  const guarded = await guard(served);
  for (const name of names) {
    for (const command of ["/nowhere/countersign-hook", `"${process.execPath}" /nowhere.mjs`]) {
      const { ran } = await guarded.run(name, push, { command, timeoutMs: 60_000 }).outcome;
      assert.equal(ran, false, `${name}: ${command}`);
    }
  }
});

test("a call is read to its end before it is denied, because a harness that can't write it may let it pass", async () => {
  const guarded = await guard(served);
  const large = "x".repeat(9 * 1_048_576);
  const runs = [
    guarded.run("codex", large),
    guarded.run("codex", large, { command: guarded.command("--wait forever") }),
    guarded.run("codex", large, { command: `${guarded.command()} >&-` }),
    guarded.run("codex", large, { command: "/nowhere/countersign-hook" }),
  ];
  for (const run of runs) assert.equal((await run.outcome).ran, false);
});

test("without the end of the documented command, a missing program lets calls pass in some harnesses", async () => {
  const guarded = await guard(served);
  const ran: HarnessName[] = [];
  for (const name of names) {
    const options = { command: "/nowhere/countersign-hook", hasNoShellGuard: true };
    if ((await guarded.run(name, push, { ...options, isUnguarded: true }).outcome).ran)
      ran.push(name);
  }
  assert.deepEqual(ran, ["claude", "codex", "cursor"]);
});

test("a redeem whose answer never comes lets nothing run, and neither does a hook killed there", {
  skip,
}, async () => {
  for (const isKilled of [false, true]) {
    const hanging = await answering((request, response) => {
      if (!request.url?.endsWith("/redeem")) pass(request, response);
    });
    const guarded = await guard(served, {}, hanging.url);
    const run = guarded.run("codex", push, { more: "--wait 10" });
    await served.approve(await guarded.asked());
    if (isKilled) {
      await until(() => hanging.paths.some((path) => path.endsWith("/redeem")));
      process.kill(await find(run, "hook"), "SIGKILL");
    }
    assert.equal((await run.outcome).ran, false);
  }
});

test("answers that are cut off at any place let nothing run that wasn't redeemed", async () => {
  // Nothing, within the status line, within a header, after the headers, within the body, near its end.
  const cuts = [0, 9, 60, 700, 1_200, 1_990];
  await Promise.all(
    cuts.map(async (bytes) => {
      const url = await cutting(bytes);
      const guarded = await guard(served, {}, url);
      const run = guarded.run("codex", push, { more: "--wait 12" });
      const approving = until(async () => (await guarded.requests())[0]?.id ?? run.child.exitCode);
      const id = await approving;
      if (typeof id === "string") await served.approve(id);
      const { ran } = await run.outcome;
      const requests = await guarded.requests();
      if (ran)
        assert.ok(requests.every(({ status, redeemed }) => status === "APPROVED" && redeemed));
      assert.ok(requests.length <= 1, `${bytes}: ${requests.length} were asked`);
    }),
  );
});

/** Answers that no Countersign gives, each as a harness's user would meet it. */
const liars: Record<
  string,
  (request: http.IncomingMessage, response: http.ServerResponse) => void
> = {
  "an empty 200": (_request, response) => void response.end(),
  "a page": (_request, response) => void response.end("<html>Welcome</html>"),
  "a 500": (_request, response) => void response.writeHead(500).end("{}"),
  "a redirect": (_request, response) =>
    void response.writeHead(302, { location: "https://elsewhere.example/" }).end(),
  "another request's approval": (request, response) => {
    const status = request.method === "POST" ? "PENDING" : "APPROVED";
    const id = request.method === "POST" ? "req_1" : "req_2";
    response.end(JSON.stringify({ id, status, payload: { command: push } }));
  },
  "an approval of another payload": (_request, response) => {
    const facts = { redeemedAt: "now", redeemedBy: { id: "key_1" } };
    response.end(JSON.stringify({ id: "req_1", status: "APPROVED", payload: {}, ...facts }));
  },
  "an approval that isn't redeemed": (_request, response) => {
    const payload = { command: push };
    const shown = {
      payload,
      effectivePayload: payload,
      resolvedByEmail: null,
      resolutionNote: null,
    };
    response.end(JSON.stringify({ id: "req_1", status: "APPROVED", ...shown }));
  },
  "an endless answer": (_request, response) => endless(response),
  "one byte at a time": (_request, response) => {
    const timer = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(timer));
  },
};

describe("a service that isn't one", { concurrency: 3 }, () => {
  for (const [what, answer] of Object.entries(liars)) {
    test(`${what} lets nothing run`, async () => {
      const { url } = await answering(answer);
      const guarded = await guard(served, {}, url);
      const outcome = await guarded.run("gemini", push, { more: "--wait 9" }).outcome;
      assert.equal(outcome.ran, false);
      assert.match(outcome.told, /Not approved/);
    });
  }
});

test("a wrong key, a service that is away, and unreadable input or rules are a no", async () => {
  const guarded = await guard(served);
  const away = await guard(served, {}, "http://127.0.0.1:9");
  const flawed = await guard(served, { rulez: [] });
  const runs = [
    guarded.run("codex", push, { env: { ...guarded.env, COUNTERSIGN_API_KEY: "cs_wrong" } }),
    guarded.run("codex", push, { env: { ...guarded.env, COUNTERSIGN_API_KEY: "" } }),
    guarded.run("codex", push, { command: `echo not json | ${guarded.command()}` }),
    guarded.run("codex", push, { command: `${guarded.command()} </dev/null` }),
    guarded.run("codex", push, { command: guarded.command("--format gemini") }),
    guarded.run("codex", push, { command: guarded.command("--wait forever") }),
    guarded.run("codex", push, { command: guarded.command("--rules /nowhere.json") }),
    guarded.run("codex", push, { command: `${guarded.command()} >&-` }),
    away.run("codex", push),
    flawed.run("codex", "ls"),
  ];
  for (const run of runs) {
    const { ran, told } = await run.outcome;
    assert.equal(ran, false);
    assert.match(told, /Not approved/);
    assert.ok(!told.includes(guarded.key));
  }
});

test("a harness that doesn't read the answer any more gets exit code 2 with it", async () => {
  const guarded = await guard(served);
  const run = guarded.run("claude", push, { more: "--wait 5" });
  run.child.stdout?.destroy();
  assert.equal((await run.finished).code, 2);
});

test("a shell that prints a text of its own lets no call pass, and no edit run as if there were none", async () => {
  for (const name of names) {
    const guarded = await guard(served);
    const shell = join(folder, "noisy-shell");
    await writeFile(shell, "#!/bin/sh\necho Welcome\n", { mode: 0o755 });
    const env = { ...guarded.env, SHELL: shell };
    const noisy = { env, command: `echo Welcome; ${guarded.command()}` };
    const rejected = guarded.run(name, push, noisy);
    await served.reject(await guarded.asked(), "No");
    assert.equal((await rejected.outcome).ran, false, name);
    const other = await guard(served);
    const command = `echo Welcome; ${other.command()}`;
    const edited = other.run(name, push, { env: { ...other.env, SHELL: shell }, command });
    await served.approve(await other.asked(), '{"command": "ls"}');
    assert.equal((await edited.outcome).ran, false, name);
    assert.ok((await other.requests()).every(({ redeemed }) => !redeemed));
  }
});

test("a number that nobody would see exactly is asked about by nobody", async () => {
  const guarded = await guard(served);
  const command = `printf '%s' '{"hook_event_name":"BeforeTool","session_id":"s","timestamp":"t","tool_name":"run_shell_command","tool_input":{"command":"pay","amount":9007199254740993}}' | ${guarded.command()}`;
  const { ran, told } = await guarded.run("gemini", push, { command }).outcome;
  assert.equal(ran, false);
  assert.match(told, /9007199254740993/);
  assert.deepEqual(await guarded.requests(), []);
});

test("a call that another reader would read otherwise is asked about by nobody", async () => {
  const guarded = await guard(served);
  const common = {
    conversation_id: "c",
    generation_id: "g",
    hook_event_name: "beforeMCPExecution",
  };
  const twice = { ...common, tool_name: "pay", tool_input: '{"amount": 1, "amount": 1000}' };
  const outer =
    '{"hook_event_name":"BeforeTool","session_id":"s","timestamp":"t","tool_name":"run_shell_command","tool_input":{"command":"ls","command":"rm"}}';
  for (const text of [JSON.stringify(twice), outer]) {
    const command = `printf '%s' '${text}' | ${guarded.command()}`;
    const { code, stderr } = await guarded.run("gemini", push, { command }).finished;
    assert.equal(code, 2);
    assert.match(stderr, /"(amount|command)" twice/);
  }
  assert.deepEqual(await guarded.requests(), []);
});

test("a certificate that nobody vouches for lets nothing run, whatever NODE_TLS_REJECT_UNAUTHORIZED says", async () => {
  const paths: string[] = [];
  const pem = readFileSync(join(certificates, "localhost.pem"));
  const key = readFileSync(join(certificates, "localhost-key.pem"));
  const server = https.createServer({ cert: pem, key }, (request, response) => {
    paths.push(request.url ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const guarded = await guard(served, {}, `https://localhost:${port}`);
  const env = { ...guarded.env, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  const { ran } = await guarded.run("codex", push, { env, more: "--wait 9" }).outcome;
  assert.equal(ran, false);
  assert.deepEqual(paths, [], "the key was shown to nobody");
});

/** A server in the service's place; it remembers what it was asked. */
async function answering(answer: http.RequestListener): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const server = http.createServer((request, response) => {
    paths.push(request.url ?? "");
    response.on("error", () => {});
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

function pass(incoming: http.IncomingMessage, outgoing: http.ServerResponse): void {
  const { method, url, headers } = incoming;
  const passed = http.request(`${served.url}${url}`, { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(outgoing);
  });
  passed.on("error", () => incoming.socket.destroy());
  outgoing.on("close", () => passed.destroy());
  incoming.pipe(passed);
}

/** Passes connections on, and cuts each after so many bytes of its answers. */
async function cutting(bytesMax: number): Promise<string> {
  const { port, hostname } = new URL(served.url);
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    let bytes = 0;
    near.pipe(far);
    far.on("data", (chunk) => {
      near.write(chunk.subarray(0, Math.max(0, bytesMax - bytes)));
      bytes += chunk.length;
      if (bytes >= bytesMax) near.destroySoon();
    });
    far.on("error", () => near.destroy());
    near.on("error", () => far.destroy());
    near.on("close", () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function endless(response: http.ServerResponse): void {
  const chunk = Buffer.alloc(1_048_576, " ");
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more);
  more();
}
