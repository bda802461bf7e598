// The program as a person runs it: real processes, real signals, a DATA_DIR of its own for each test. Most
// are copies of the one that the first tests make, because making one takes longer than all the rest.

import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { openDatabase } from "../src/database/database.ts";
import type { Me } from "../src/wire/dashboard-contract.ts";
import { hangMs, testHangMs, until } from "./patience.ts";
import { isAlive, postmasterPid } from "./postmaster.ts";
import { makeTestDatabase, testDatabaseUrl, withDatabase } from "./test-database.ts";
import { makeWorkspace, minimalBody } from "./test-service.ts";

const root = join(import.meta.dirname, "..", "..");
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

const folder = mkdtempSync(join(tmpdir(), "cs-start-"));
const template = join(folder, "template");
const dataDirs = [template];
const programs: Program[] = [];
/** The first start's key and request, for the later ones to find again. */
let kept: { key: string; requestId: string; requestText: string };

before(() => chmodSync(folder, 0o755)); // PostgreSQL is another user's when this is root's

after(async () => {
  for (const { child } of programs) child.kill("SIGKILL");
  const left = dataDirs.filter((dataDir) => postmasterPid(dataDir) !== null);
  for (const dataDir of left) process.kill(postmasterPid(dataDir) ?? 0, "SIGQUIT");
  await until(() => dataDirs.every((dataDir) => postmasterPid(dataDir) === null));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  assert.deepEqual(left, [], "a PostgreSQL was left running");
});

describe("the first start", () => {
  let first: Program;
  let address: string;

  before(async () => {
    first = start({ DATA_DIR: template });
    address = await addressOf(first);
  });

  test("prints its address, an API key that works, and a curl line with both", async () => {
    const key = /^ {2}API key {3}(cs_[0-9A-Za-z]{49}) /m.exec(first.output)?.[1] ?? "";
    const created = await call(address, key, "POST", "/v1/requests", minimalBody);
    assert.equal(created.status, 201, first.output);
    kept = { key, requestId: idIn(created.text), requestText: created.text };
    assert.match(curlLineOf(first), new RegExp(`^curl ${address}/v1/requests .*${key}`));
    assert.equal(first.output.split(key).length - 1, 2, "the key is shown there and nowhere else");
    assert.equal(first.errors, "");
  });

  test("the printed curl line, pasted into a shell as it is, creates a request", async (t) => {
    if (!hasCurl) return t.skip("curl is not installed here");
    // The status is asked for beside the line, not in it: the line has to work as it was printed.
    writeFileSync(join(folder, ".curlrc"), 'silent\nwrite-out = "\\n%{http_code}"\n');
    const { stdout } = await promisify(execFile)("bash", ["-c", curlLineOf(first)], {
      env: { PATH: process.env.PATH, CURL_HOME: folder },
    });
    const [body = "", status] = stdout.split("\n");
    assert.equal(status, "201", stdout);
    const read = await call(address, kept.key, "GET", `/v1/requests/${idIn(body)}`);
    assert.equal(read.text, body);
  });

  test("prints a link that signs its owner in at the dashboard, once", async () => {
    const [, link = "", token = ""] =
      /(http:\S+\/app\/sign-in)#token=(\S+)/.exec(first.output) ?? [];
    assert.equal(link, `${address}/app/sign-in`);
    const follow = () =>
      fetch(`${address}/app/api/sign-in/link`, {
        method: "POST",
        headers: { origin: address, "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ token }),
      });
    const followed = await follow();
    assert.equal(followed.status, 200, first.output);
    const { email, workspaces } = (await followed.json()) as Me;
    assert.equal(email, "owner@localhost");
    assert.deepEqual(
      workspaces.map(({ role }) => role),
      ["owner"],
    );
    assert.equal((await follow()).status, 401);
  });

  test("a second start on its DATA_DIR is refused in one line that names the process", async () => {
    const second = start({ DATA_DIR: template });
    const { code } = await second.ended;
    assert.notEqual(code, 0);
    assertOneLine(second.errors, new RegExp(`process ${first.pid} already serves`));
    assert.equal(second.output, "");
    const { status } = await call(address, kept.key, "GET", `/v1/requests/${kept.requestId}`);
    assert.equal(status, 200, "the first one goes on");
  });

  test("SIGINT stops it and its PostgreSQL, with exit code 0", async () => {
    const pid = postmasterPid(template);
    assert.notEqual(pid, null);
    await stop(first, "SIGINT");
    assert.equal(postmasterPid(template), null);
    // PostgreSQL removes its last file a moment before it ends.
    await until(() => !isAlive(pid ?? 0));
    assert.equal(first.errors, "");
  });
});

describe("every later start", { concurrency: 2 }, () => {
  test("finds the data again, and prints no key", async (t) => {
    const dataDir = copyOfTemplate();
    const begun = performance.now();
    const program = start({ DATA_DIR: dataDir });
    const address = await addressOf(program);
    t.diagnostic(`ready ${Math.round(performance.now() - begun)} ms after the second start`);
    assert.doesNotMatch(program.output, /cs_[0-9A-Za-z]/);
    await assertKept(address);
    await stop(program, "SIGINT");
    assert.equal(postmasterPid(dataDir), null);
  });

  test("SIGINT sent twice in a row stops as cleanly as once", async () => {
    const dataDir = copyOfTemplate();
    const program = start({ DATA_DIR: dataDir });
    await addressOf(program);
    program.child.kill("SIGINT");
    await stop(program, "SIGINT");
    assert.equal(postmasterPid(dataDir), null);
    assert.equal(program.errors, "");
  });

  test("SIGINT while it is still starting leaves no PostgreSQL behind", async () => {
    const dataDir = copyOfTemplate();
    const program = start({ DATA_DIR: dataDir });
    await until(() => postmasterPid(dataDir) !== null);
    const pid = postmasterPid(dataDir) ?? 0;
    program.child.kill("SIGINT");
    await program.ended;
    // It was told to stop and has said that it did; its process may take a moment more to be gone.
    const wasLeft = await until(() => !isAlive(pid)).then(
      () => false,
      () => true,
    );
    if (wasLeft) process.kill(pid, "SIGQUIT");
    assert.equal(wasLeft, false, "PostgreSQL outlived the program that had started it");
  });

  test("after kill -9 it serves the same data", async () => {
    const dataDir = copyOfTemplate();
    const killed = start({ DATA_DIR: dataDir });
    const created = await createRequest(await addressOf(killed));
    await kill(killed);
    const next = start({ DATA_DIR: dataDir });
    const address = await addressOf(next);
    await assertKept(address);
    const read = await call(address, kept.key, "GET", `/v1/requests/${idIn(created)}`);
    assert.equal(read.text, created);
    await stop(next, "SIGINT");
    assert.equal(postmasterPid(dataDir), null);
  });

  test("after kill -9 of PostgreSQL too it recovers and serves the same data", async () => {
    const dataDir = copyOfTemplate();
    const killed = start({ DATA_DIR: dataDir });
    const created = await createRequest(await addressOf(killed));
    const pid = postmasterPid(dataDir) ?? 0;
    await kill(killed);
    process.kill(pid, "SIGKILL");
    const next = start({ DATA_DIR: dataDir });
    const address = await addressOf(next);
    await assertKept(address);
    const read = await call(address, kept.key, "GET", `/v1/requests/${idIn(created)}`);
    assert.equal(read.text, created);
    await stop(next, "SIGINT");
    assert.equal(postmasterPid(dataDir), null);
  });

  test("SIGTERM answers a caller who waits, and then ends with exit code 0", async () => {
    const dataDir = copyOfTemplate();
    const program = start({ DATA_DIR: dataDir });
    const address = await addressOf(program);
    const waiting = call(address, kept.key, "GET", `/v1/requests/${kept.requestId}?wait=30`);
    // Answered after the waiting call has arrived, because the process reads one call after the other.
    await assertKept(address);
    await stop(program, "SIGTERM");
    const { status, text } = await waiting;
    assert.equal(status, 200);
    assert.equal(text, kept.requestText);
    assert.match(text, /"status":"PENDING"/);
    assert.equal(postmasterPid(dataDir), null);
  });

  test("SIGTERM to npm start, as process managers send it, stops the service with it", async () => {
    const dataDir = copyOfTemplate();
    // Its set-up finds everything installed and built.
    const npm = start({ DATA_DIR: dataDir, HOME: folder }, ["npm", "start"]);
    const address = await addressOf(npm);
    npm.child.kill("SIGTERM");
    // The service holds npm's output too, so this is its end as well.
    await npm.ended;
    await assert.rejects(fetch(`${address}/healthz`));
    await until(() => postmasterPid(dataDir) === null);
  });

  test("requests that never arrive whole do not hold up a stop", async () => {
    const dataDir = copyOfTemplate();
    const program = start({ DATA_DIR: dataDir });
    const address = await addressOf(program);
    const port = Number(new URL(address).port);
    const half = ["POST /v1/requests HTTP/1.1\r\nHo", "POST /v1/requests HTTP/1.1\r\nHost: x\r\n"];
    const body = `${half[1]}Authorization: Bearer ${kept.key}\r\nContent-Length: 99\r\n\r\n{"su`;
    let answers = "";
    const sockets = [...half, body].map((text) => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.on("data", (data) => {
        answers += data;
      });
      socket.write(text);
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    // Answered after those have arrived, because the process reads one call after the other.
    await assertKept(address);
    await stop(program, "SIGTERM");
    assert.equal(answers, "", "it did not wait until their time was over, which is a 408");
    assert.equal(postmasterPid(dataDir), null);
    for (const socket of sockets) socket.destroy();
  });

  test("it stops as cleanly when nobody reads its output any more", async () => {
    const dataDir = copyOfTemplate();
    const program = start({ DATA_DIR: dataDir });
    const address = await addressOf(program);
    program.child.stdout?.destroy();
    // The next line it writes finds out, be it about this call or about a mail; then the call may come too late.
    await fetch(`${address}/healthz`).catch(() => {});
    await until(() => hasEnded(program));
    assert.equal(program.child.exitCode, 0, program.errors);
    assert.equal(program.errors, "");
    assert.equal(postmasterPid(dataDir), null);
  });

  test("a first start that finds its port in use leaves the first key for the next one to show", async () => {
    const dataDir = newDataDir();
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    const refused = start({ DATA_DIR: dataDir, PORT: String(port) });
    assert.notEqual((await refused.ended).code, 0);
    holder.close();
    const program = start({ DATA_DIR: dataDir });
    await addressOf(program);
    assert.match(program.output, /API key {3}cs_/);
    await stop(program, "SIGINT");
  });

  test("a port in use is told in one line, and leaves no PostgreSQL behind", async () => {
    const dataDir = copyOfTemplate();
    const holder = createServer().listen(0, "127.0.0.1");
    try {
      await once(holder, "listening");
      const { port } = holder.address() as AddressInfo;
      const program = start({ DATA_DIR: dataDir, PORT: String(port) });
      const { code } = await program.ended;
      assert.notEqual(code, 0);
      assertOneLine(program.errors, new RegExp(`Port ${port} .*in use`));
      assert.doesNotMatch(program.output, /countersign is running/);
      assert.equal(postmasterPid(dataDir), null);
    } finally {
      holder.close();
    }
  });

  test("a wrong setting is told in one line that names it, before anything is started", async () => {
    const databaseUrl = "postgres://nobody@127.0.0.1:1/nothing";
    const wrong: [name: string, environment: Record<string, string>][] = [
      ["PORT", { PORT: "abc" }],
      ["SECRET_KEY", { SECRET_KEY: "short" }],
      ["SECRET_KEY", { DATABASE_URL: databaseUrl }],
      ["PUBLIC_URL", { PUBLIC_URL: "nonsense" }],
      ["DATABASE_URL", { DATABASE_URL: "mysql://localhost/x", SECRET_KEY: newSecretKey() }],
    ];
    for (const [name, environment] of wrong) {
      const dataDir = newDataDir();
      const program = start({ DATA_DIR: dataDir, ...environment });
      const { code } = await program.ended;
      assert.notEqual(code, 0, name);
      assertOneLine(program.errors, new RegExp(`\\b${name}\\b`));
      assert.equal(program.output, "");
      assert.equal(existsSync(dataDir), false, "nothing was started");
    }
  });
});

describe("a start on an external database", { concurrency: 2 }, () => {
  test("migrates it and serves, and logs nothing but lines of JSON", async () => {
    await withEmptyDatabase(async (environment) => {
      const program = start(environment);
      const address = await addressOf(program);
      const key = await makeKey(environment.DATABASE_URL);
      const created = await call(address, key, "POST", "/v1/requests", minimalBody);
      assert.equal(created.status, 201);
      await stop(program, "SIGTERM");
      for (const line of program.output.trim().split("\n")) JSON.parse(line);
      assert.equal(program.errors, "");
      assert.equal(existsSync(environment.DATA_DIR), false, "nothing was started beside it");
    });
  });

  test("with a public URL of plain http warns that nothing can be decided, and with https does not", async () => {
    await withEmptyDatabase(async (environment) => {
      const urls = ["http://approvals.example:3000", "https://approvals.example"];
      const programs = urls.map((PUBLIC_URL) => start({ ...environment, PUBLIC_URL }));
      await Promise.all(programs.map(addressOf));
      await Promise.all(programs.map((program) => stop(program, "SIGTERM")));
      const warnings = programs.map(({ output }) =>
        output.split("\n").filter((line) => line.includes("nothing can be decided")),
      );
      assert.deepEqual(
        warnings.map(({ length }) => length),
        [1, 0],
      );
      const { level, msg } = JSON.parse(warnings[0]?.[0] ?? "");
      assert.equal(level, "warn");
      assert.match(msg, /http:\/\/approvals\.example:3000 .*Put TLS in front, and set PUBLIC_URL/);
    });
  });

  test("two nodes at once on one empty database both come up, and work on the same data", async () => {
    await withEmptyDatabase(async (environment) => {
      const nodes = [start(environment), start(environment)];
      const addresses = await Promise.all(nodes.map(addressOf));
      const [one = "", other = ""] = addresses;
      const key = await makeKey(environment.DATABASE_URL);
      const created = await call(one, key, "POST", "/v1/requests", minimalBody);
      assert.equal(created.status, 201);
      const read = await call(other, key, "GET", `/v1/requests/${idIn(created.text)}`);
      assert.equal(read.text, created.text);
      await Promise.all(nodes.map((node) => stop(node, "SIGTERM")));
      const migrated = nodes.filter(({ output }) => output.includes("migrated the database"));
      assert.equal(migrated.length, 1, "one of them migrates, the other waits for it");
    });
  });

  test("that refuses or cannot be named fails in one line that says what to look at", async () => {
    const refused = {
      "no such database": withDatabase(testDatabaseUrl(), "nowhere"),
      "not a URL": "postgres://nobody@ho:st:x/y",
    };
    const said: Record<string, string> = {};
    for (const [what, url] of Object.entries(refused)) {
      const dataDir = newDataDir();
      const program = start({ DATABASE_URL: url, SECRET_KEY: newSecretKey(), DATA_DIR: dataDir });
      const { code } = await program.ended;
      assert.notEqual(code, 0, what);
      said[what] = program.errors;
    }
    for (const [what, errors] of Object.entries(said)) {
      assert.match(errors, /^[^\n]*DATABASE_URL[^\n]*\n$/, what);
    }
  });
});

describe("the code that Node has compiled of the program", { concurrency: 2 }, () => {
  test("is found by the next start, which then strips no types", async () => {
    const run = makeTree();
    assert.deepEqual(await run("one"), { text: "one", isStripperLoaded: true });
    assert.deepEqual(await run("one"), { text: "one", isStripperLoaded: false });
  });

  test("is never run in place of a source that has changed since", async () => {
    const run = makeTree();
    await run("one");
    await run("one");
    assert.deepEqual(await run("two"), { text: "two", isStripperLoaded: true });
    assert.deepEqual(await run("two"), { text: "two", isStripperLoaded: false });
  });

  test("need not be kept: where the folder cannot be written, the program runs as well", async () => {
    const run = makeTree();
    // Not even root makes a folder below a file.
    writeFileSync(join(run.tree, "node_modules/.cache"), "");
    assert.equal((await run("one")).text, "one");
    assert.deepEqual(await run("one"), { text: "one", isStripperLoaded: true });
  });

  test("is kept where nobody writes who may not change the program, and never with temporary files", async () => {
    const run = makeTree();
    const temporary = join(run.tree, "tmp");
    mkdirSync(temporary);
    await run("one", { TMPDIR: temporary });
    assert.deepEqual(readdirSync(temporary), []);
    assert.notDeepEqual(readdirSync(join(run.tree, "node_modules/.cache/countersign")), []);
  });

  test("ahead of the first start is all that a start needs", async () => {
    const cache = { NODE_COMPILE_CACHE: join(folder, "warmed") };
    const warming = start(cache, [process.execPath, "server/bin/warm-compile-cache.mjs"]);
    assert.deepEqual(await warming.ended, { code: 0, signal: null }, warming.errors);
    const told = `data:text/javascript,process.on("exit", () => console.log(${stripperLoaded}))`;
    const program = start({ DATA_DIR: copyOfTemplate(), ...cache }, [
      process.execPath,
      `--import=${told}`,
      "server/bin/countersign.mjs",
      "serve",
    ]);
    await addressOf(program);
    await stop(program, "SIGTERM");
    assert.match(program.output, /\nfalse\n$/);
  });
});

/** Whether Node had to load its type stripper. */
const stripperLoaded = `process.moduleLoadList.some((name) => name.includes("amaro"))`;

/** The command in a tree of its own, with a program that only tells about itself. Each run writes it anew. */
function makeTree() {
  const tree = mkdtempSync(join(folder, "tree-"));
  cpSync(join(root, "server/bin"), join(tree, "server/bin"), { recursive: true });
  for (const name of ["server/src", "node_modules"]) mkdirSync(join(tree, name));
  // As the project's own: without it Node takes the program for CommonJS, whatever lies above the tree.
  writeFileSync(join(tree, "package.json"), JSON.stringify({ type: "module" }));
  const run = async (text: string, environment: Record<string, string> = {}) => {
    const told = `const text: string = "${text}", isStripperLoaded = ${stripperLoaded};`;
    const source = `${told}\nconsole.log(JSON.stringify({ text, isStripperLoaded }));`;
    writeFileSync(join(tree, "server/src/main.ts"), source);
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [join(tree, "server/bin/countersign.mjs")],
      { env: environment },
    );
    assert.equal(stderr, "");
    return JSON.parse(stdout);
  };
  return Object.assign(run, { tree });
}

type Program = {
  child: ChildProcess;
  pid: number;
  /** All that it has written so far. */
  output: string;
  errors: string;
  ended: Promise<{ code: number | null; signal: string | null }>;
};

function start(
  environment: Record<string, string>,
  [command = "", ...args]: string[] = [process.execPath, "server/src/main.ts", "serve"],
): Program {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(command, args, {
    cwd: root,
    // The program gets only PATH and Node's compile cache of the test run's own environment.
    env: { PATH, NODE_COMPILE_CACHE, PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close", { signal: AbortSignal.timeout(testHangMs) });
  const program: Program = {
    child,
    pid: child.pid ?? 0,
    output: "",
    errors: "",
    ended: ended.then(([code, signal]) => ({ code, signal })),
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    program.output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    program.errors += text;
  });
  programs.push(program);
  return program;
}

/** The address at which the program says that it listens, once it is ready there. */
async function addressOf(program: Program): Promise<string> {
  const find = () =>
    /^ {2}Address {3}(http:\S+)$/m.exec(program.output)?.[1] ??
    /"address":"(http:[^"]+)"/.exec(program.output)?.[1];
  await until(() => find() !== undefined || hasEnded(program));
  const address = find();
  assert.ok(address !== undefined, `it ended while it started: ${program.errors}`);
  const deadline = performance.now() + hangMs;
  while ((await fetch(`${address}/readyz`)).status !== 200) {
    assert.ok(performance.now() < deadline, `it never became ready: ${program.output}`);
    await pause(20);
  }
  return address;
}

async function stop(program: Program, signal: "SIGINT" | "SIGTERM"): Promise<void> {
  program.child.kill(signal);
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
}

async function kill(program: Program): Promise<void> {
  program.child.kill("SIGKILL");
  await program.ended;
}

function hasEnded({ child }: Program): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function curlLineOf({ output }: Program): string {
  return /^ {2}(curl .*)$/m.exec(output)?.[1] ?? "";
}

function assertOneLine(text: string, pattern: RegExp): void {
  assert.match(text, /^[^\n]+\n$/, "exactly one line");
  assert.match(text, pattern);
}

async function assertKept(address: string): Promise<void> {
  const { status, text } = await call(address, kept.key, "GET", `/v1/requests/${kept.requestId}`);
  assert.equal(status, 200);
  assert.equal(text, kept.requestText);
}

async function createRequest(address: string): Promise<string> {
  const { status, text } = await call(address, kept.key, "POST", "/v1/requests", minimalBody);
  assert.equal(status, 201);
  return text;
}

async function call(address: string, key: string, method: string, path: string, body?: object) {
  const response = await fetch(address + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

function idIn(text: string): string {
  return /"id":"(req_[0-9a-f]+)"/.exec(text)?.[1] ?? "";
}

type ExternalEnvironment = Record<
  "DATABASE_URL" | "SECRET_KEY" | "DATA_DIR" | "DRAIN_SECONDS",
  string
>;

async function withEmptyDatabase(
  work: (environment: ExternalEnvironment) => Promise<void>,
): Promise<void> {
  const database = await makeTestDatabase({ isEmpty: true });
  const dataDir = newDataDir();
  try {
    await work({
      ...{ DATABASE_URL: database.url, SECRET_KEY: newSecretKey(), DATA_DIR: dataDir },
      DRAIN_SECONDS: "0",
    });
  } finally {
    await database.drop();
  }
}

async function makeKey(url: string): Promise<string> {
  const connection = { connectionString: url };
  const db = openDatabase({ connection, connectionsMax: 2, onIdleFault: () => {} });
  try {
    return (await makeWorkspace(db)).key;
  } finally {
    await db.end();
  }
}

function newSecretKey(): string {
  return randomBytes(32).toString("base64");
}

function newDataDir(): string {
  const path = join(folder, randomBytes(3).toString("hex"));
  dataDirs.push(path);
  return path;
}

function copyOfTemplate(): string {
  const dataDir = newDataDir();
  execFileSync("cp", ["-a", template, dataDir]);
  return dataDir;
}
