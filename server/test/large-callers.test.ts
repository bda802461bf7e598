// One caller must not stop another: what large pages, bodies and answers cost, and whom they cost it.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { inTransaction } from "../src/database/database.ts";
import { apiKeyRandomBytes, formatApiKey } from "../src/domain/access/api-key.ts";
import {
  answersBytesPerHolderMax,
  bodiesBytesPerHolderMax,
  bodyBytesMax,
  callsPerConnectionMax,
  largeReviewsPerLinkMax,
  listBytesMax,
  reviewLinkCallsBurstMax,
  reviewNetworkCallsBurstMax,
  tinyBodyBytesMax,
  waitersPerWorkspaceMax,
} from "../src/domain/limits.ts";
import { hangMs, until } from "./patience.ts";
import { decide, findReviewer, getReview, postReview, sameOriginHeaders } from "./test-review.ts";
import { makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";
import { watchThread } from "./watch-thread.ts";

let nowMs = 0;
const service = await startService({ clock: () => nowMs, answerStallMs: hangMs });
const { db, app } = service;
const port = Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
after(() => service.stop());

const mebibyte = 1024 * 1024;
const unknownKey = formatApiKey(randomBytes(apiKeyRandomBytes));

const connections = new Set<Connection>();
after(() => {
  for (const each of connections) each.close();
});

/** A caller with a socket of its own, who sends and reads what it likes. */
class Connection {
  readonly socket: Socket;
  received = "";
  isClosed = false;

  constructor({ reads = true } = {}) {
    this.socket = connect(port, "127.0.0.1");
    if (reads) this.socket.on("data", (chunk) => this.#add(chunk));
    else this.socket.pause();
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
    connections.add(this);
  }

  #add(chunk: Buffer): void {
    this.received += chunk.toString("latin1");
  }

  send(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  async until(pattern: RegExp): Promise<string> {
    await until(() => pattern.test(this.received), `${pattern} in ${this.received.slice(0, 300)}`);
    return this.received;
  }

  /** The first answer, whole. */
  async answer(): Promise<string> {
    await until(() => this.#isAnswered(), `an answer after ${this.received.slice(0, 300)}`);
    return this.received;
  }

  #isAnswered(): boolean {
    const start = this.received.indexOf("\r\n\r\n") + 4;
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(this.received.slice(0, start)) ?? [];
    return length !== undefined && this.received.length >= start + Number(length);
  }

  close(): void {
    connections.delete(this);
    this.socket.destroy();
  }
}

function head(path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ host: "x", ...headers }).map(([name, text]) => `${name}: ${text}`);
  return [`POST ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n");
}

const asKey = (key: string) => ({ authorization: `Bearer ${key}` });

/** Asks whether a large body may be sent, and sends none of it: "100 Continue" tells that there is room for it. */
function announce(key: string, bytes = bodyBytesMax): Connection {
  const headers = { ...asKey(key), "content-length": bytes, expect: "100-continue" };
  return new Connection().send(head("/v1/requests", headers));
}

const isInvited = ({ received }: Connection) => received.startsWith("HTTP/1.1 100 Continue");

async function create(key: string, payload: unknown = null): Promise<string> {
  const body = { ...minimalBody, payload };
  const { status, json } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201);
  return json.id;
}

async function makeLink(payload: unknown, edit: string | null = null) {
  const { key } = await makeWorkspace(db);
  const { token } = await findReviewer(db, await create(key, payload));
  if (edit !== null)
    assert.equal((await decide(app, token, { verdict: "approve", edit })).status, 200);
  return { key, token, url: `/review/${token}` };
}

const angles = "<".repeat(4 * mebibyte - 1_000);

test("a HEAD of a large page costs about as much as one of a small page, and reads nothing of it", async (t) => {
  const [small, large] = [await makeLink("<"), await makeLink(angles, `"${angles}"`)];
  const cost = async (url: string) => {
    const costs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const { user, system } = process.cpuUsage();
      for (let n = 0; n < 10; n += 1) {
        assert.equal((await app.inject({ method: "HEAD", url })).statusCode, 200);
      }
      const used = process.cpuUsage({ user, system });
      costs.push(used.user + used.system);
    }
    return Math.min(...costs);
  };
  await cost(small.url);
  const [ofSmall, ofLarge] = [await cost(small.url), await cost(large.url)];
  assert.ok(ofLarge < 5 * ofSmall, `${ofLarge} µs, ${ofSmall} µs for the small page`);
  const query = t.mock.method(service.servicePool, "query");
  await app.inject({ method: "HEAD", url: large.url, headers: { "accept-encoding": "br" } });
  const names = query.mock.calls.map((call) => Object(call.arguments[0]).name);
  assert.deepEqual(names, ["reviews.weigh"]);
  nowMs += 120_000;
});

test("while a page of megabytes is made the process goes on with other work", async () => {
  const { token } = await makeLink(angles, `"${angles}"`);
  await getReview(app, token);
  const busy = watchThread();
  const started = performance.now();
  const page = await app.inject({ url: `/review/${token}`, headers: { "accept-encoding": "br" } });
  const wholeMs = performance.now() - started;
  const longestMs = busy.stop();
  assert.equal(page.statusCode, 200);
  assert.ok(longestMs < wholeMs / 2, `${longestMs} ms at a stretch of ${wholeMs} ms`);
});

test("large pages are made one at a time, for one link only so many, and small ones never wait", async () => {
  const [large, other, small] = [await makeLink(angles), await makeLink(angles), await makeLink(1)];
  const made: string[] = [];
  const get = async (name: string, url: string) => {
    const reply = await app.inject({ url, headers: { "accept-encoding": "br" } });
    if (reply.statusCode === 200) made.push(name);
    return reply;
  };
  const greedy = Array.from({ length: largeReviewsPerLinkMax + 3 }, () => get("greedy", large.url));
  const others = [get("other", other.url), get("small", small.url)];
  for (const { statusCode } of await Promise.all(others)) assert.equal(statusCode, 200);
  const refused = (await Promise.all(greedy)).filter(({ statusCode }) => statusCode === 503);
  assert.equal(refused.length, 3);
  for (const { headers, body } of refused) {
    assert.match(String(headers["retry-after"]), /^\d+$/);
    assert.match(String(headers["content-type"]), /^text\/html/);
    assert.match(body, /<h1>.*<\/h1>/);
  }
  assert.equal(made.length, largeReviewsPerLinkMax + 2);
  assert.ok(made.indexOf("other") < largeReviewsPerLinkMax, `not after all the others: ${made}`);
  assert.equal((await getReview(app, large.token)).status, 200, "all turns came back");
});

test("a link that is called too often answers 429 with a page, and other links go on", async () => {
  nowMs += 120_000;
  const [hammered, other] = [await makeLink(1), await makeLink(1)];
  const get = (url: string, method: "GET" | "HEAD" = "GET") => app.inject({ method, url });
  for (let n = 0; n < reviewLinkCallsBurstMax; n += 1) {
    const { statusCode } = await get(hammered.url, n % 2 === 0 ? "HEAD" : "GET");
    assert.equal(statusCode, 200, `call ${n + 1}`);
  }
  const page = await get(hammered.url);
  assert.equal(page.statusCode, 429);
  assert.equal(page.headers["retry-after"], "1");
  assert.match(String(page.headers["content-type"]), /^text\/html/);
  assert.match(page.body, /<h1>Please wait a moment<\/h1>/);
  assert.match(page.body, /Nothing was decided/);
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  const call = await postReview(app, `${hammered.token}/status`, "{}");
  assert.deepEqual([call.status, call.json.error.code], [429, "rate_limited"]);
  assert.equal(call.headers["retry-after"], "1");
  assert.equal((await get(other.url)).statusCode, 200);
  nowMs += 1_000;
  assert.equal((await get(hammered.url)).statusCode, 200);
});

test("a network that tries links out is told to wait, and others are not", async () => {
  nowMs += 120_000;
  const { url } = await makeLink(1);
  const get = (path: string, address: string) =>
    app.inject({ url: path, headers: { "x-forwarded-for": address } });
  for (let n = 0; n < reviewNetworkCallsBurstMax; n += 50) {
    const guesses = Array.from({ length: 50 }, (_, at) =>
      get(`/review/guess${n + at}`, "203.0.113.7"),
    );
    for (const { statusCode } of await Promise.all(guesses)) assert.equal(statusCode, 404);
  }
  assert.equal((await get("/review/another/guess", "203.0.113.7")).statusCode, 429);
  assert.equal((await get(url, "203.0.113.7")).statusCode, 429);
  assert.equal((await get(url, "203.0.113.8")).statusCode, 200);
  nowMs += 1_000;
  assert.equal((await get(url, "203.0.113.7")).statusCode, 200);
});

test("a stranger is answered before its large body is sent, announced or not, and invited to send none", async () => {
  const length = { "content-length": bodyBytesMax };
  const post = (path: string, headers: Record<string, string | number>, sent = "{") =>
    new Connection().send(head(path, headers)).send(sent);
  const chunk = `${(16 * 1024).toString(16)}\r\n${"a".repeat(16 * 1024)}\r\n`;
  const chunked = { "transfer-encoding": "chunked" };
  const toLink = sameOriginHeaders();
  const path = "/v1/requests";
  const refused: [number, Connection][] = [
    [401, post(path, { ...asKey(unknownKey), ...length })],
    [401, post(path, { ...asKey(unknownKey), ...chunked }, chunk.repeat(3))],
    [401, announce(unknownKey)],
    [401, announce("cs_nonsense")],
    [401, post("/mcp", { ...asKey(unknownKey), "content-length": mebibyte })],
    [401, post(`${path}/req_1/cancel`, { ...asKey(unknownKey), ...length })],
    [404, post(`/review/${"A".repeat(43)}/decision`, { ...toLink, ...length })],
    [404, post(`/review/${"A".repeat(43)}/status`, { ...toLink, ...length })],
    [404, post("/nowhere", length)],
    [404, post("/nowhere", chunked, chunk.repeat(3))],
    [405, post("/v1/requests/req_1", { ...asKey(unknownKey), ...length })],
  ];
  for (const [status, connection] of refused) {
    const answer = await connection.answer();
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.match(answer, /x-request-id: /i);
    connection.close();
  }
});

test("the answer reaches a stranger who sends all of a large body before reading, and the next call too", async () => {
  const body = Buffer.alloc(bodyBytesMax, "x");
  const connection = new Connection()
    .send(head("/v1/requests", { ...asKey(unknownKey), "content-length": body.length }))
    .send(body);
  await connection.until(/"unauthorized".*\}\}$/);
  connection.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  await connection.until(/"status":"ok"/);
  connection.close();
});

test("a caller that asks before it sends is told to go on, and its body is taken", async () => {
  const { key } = await makeWorkspace(db);
  for (const payload of ["small", "x".repeat(3 * mebibyte)]) {
    const body = JSON.stringify({ ...minimalBody, payload });
    const connection = announce(key, body.length);
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    await connection.send(body).until(/HTTP\/1\.1 201 /);
    connection.close();
  }
});

test("calls that need little take little, from any caller", async () => {
  const { key, token } = await makeLink({ a: 1 });
  const id = await create(key);
  const body = "x".repeat(tinyBodyBytesMax + 1);
  const cancel = await service.call("POST", `/v1/requests/${id}/cancel`, { key, body });
  assert.deepEqual([cancel.status, cancel.json.error.code], [413, "body_too_large"]);
  for (const action of ["open", "status"]) {
    const reply = await postReview(app, `${token}/${action}`, body);
    assert.deepEqual([reply.status, reply.json.error.code], [413, "body_too_large"]);
  }
  const signIn = await app.inject({
    method: "POST",
    url: "/app/api/sign-in/code",
    headers: sameOriginHeaders(),
    payload: "x".repeat(100_000),
  });
  assert.equal(signIn.statusCode, 413);
});

/** How many bodies of 4 MiB one workspace may have under way. */
const share = bodiesBytesPerHolderMax / bodyBytesMax;

/** All of a share is free when as many as fit are invited, and the next one is not. */
async function assertWholeShareIsFree(key: string): Promise<void> {
  const held = Array.from({ length: share }, () => announce(key));
  await until(() => held.every(isInvited), "room for a whole share");
  const next = announce(key);
  await service.call("GET", "/healthz");
  await pause(50);
  assert.equal(next.received, "", "one more has to wait");
  held[0]?.close();
  await next.until(/^HTTP\/1\.1 100 Continue/);
  for (const each of [...held, next]) each.close();
  await until(async () => {
    const again = announce(key, bodiesBytesPerHolderMax / share);
    await pause(5);
    const isFree = isInvited(again);
    again.close();
    return isFree;
  }, "room again");
}

test("a workspace holds its share of large bodies and no more; small calls and other workspaces go on", async () => {
  const [greedy, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  const held = Array.from({ length: share + 20 }, () => announce(greedy.key));
  await until(() => held.filter(isInvited).length === share, "a share of them");
  await create(greedy.key, "small");
  const large = announce(other.key);
  await large.until(/^HTTP\/1\.1 100 Continue/);
  const body = JSON.stringify({ ...minimalBody, payload: "x".repeat(mebibyte) });
  const sent = new Connection().send(
    head("/v1/requests", { ...asKey(other.key), "content-length": body.length }),
  );
  await sent.send(body).until(/^HTTP\/1\.1 201 /);
  assert.equal(held.filter(isInvited).length, share);
  for (const each of [...held, large, sent]) each.close();
  await assertWholeShareIsFree(greedy.key);
});

test("bodies that are cut off at any moment give back what they held", async () => {
  const { key } = await makeWorkspace(db);
  const part = Buffer.alloc(200_000, "x");
  const chunk = `${part.length.toString(16)}\r\n${part}\r\n`;
  const starts = [
    () => announce(key),
    () => announce(key).send(part),
    () =>
      new Connection()
        .send(head("/v1/requests", { ...asKey(key), "content-length": bodyBytesMax }))
        .send(part),
    () =>
      new Connection()
        .send(head("/v1/requests", { ...asKey(key), "transfer-encoding": "chunked" }))
        .send(chunk),
    // Broken, too long, and complete but of no use.
    () =>
      new Connection()
        .send(head("/v1/requests", { ...asKey(key), "transfer-encoding": "chunked" }))
        .send(`${chunk}no length\r\n`),
    () =>
      new Connection()
        .send(head("/v1/requests", { ...asKey(key), "transfer-encoding": "chunked" }))
        .send(chunk.repeat(25)),
    () =>
      new Connection()
        .send(head("/v1/requests", { ...asKey(key), "content-length": part.length }))
        .send(part),
  ];
  for (let round = 0; round < 6; round += 1) {
    const begun = starts.flatMap((start) => Array.from({ length: 5 }, start));
    await pause(round * 10);
    for (const each of begun) each.close();
  }
  await assertWholeShareIsFree(key);
});

test("a body that never ends gives back what it held when its time is over", async () => {
  const node = await startNode(service.database, { requestTimeoutMs: 1_000 });
  const { key } = await makeWorkspace(db);
  const nodePort = Number(new URL(await node.app.listen({ port: 0, host: "127.0.0.1" })).port);
  const drip = () => {
    const socket = connect(nodePort, "127.0.0.1", () =>
      socket.write(head("/v1/requests", { ...asKey(key), "content-length": bodyBytesMax })),
    );
    socket.on("error", () => {}).resume();
    return socket;
  };
  const dripping = Array.from({ length: share }, drip);
  const body = JSON.stringify({ ...minimalBody, payload: "x".repeat(mebibyte) });
  await until(async () => {
    const response = await fetch(`http://127.0.0.1:${nodePort}/v1/requests`, {
      method: "POST",
      headers: asKey(key),
      body,
    });
    await response.text();
    return response.status === 201;
  }, "room again");
  for (const each of dripping) each.destroy();
  await node.stop();
});

test("a caller that does not read its answers gets no more of them; its small calls and others go on", async () => {
  const [silent, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  for (const { key } of [silent, other]) {
    for (let n = 0; n < 3; n += 1) await create(key, "y".repeat(3 * mebibyte));
  }
  const small = await create(silent.key, "small");
  const list = (key: string) =>
    `GET /v1/requests?limit=3 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`;
  const unread = Array.from({ length: (2 * answersBytesPerHolderMax) / listBytesMax }, () =>
    new Connection({ reads: false }).send(list(silent.key)),
  );
  const ask = () => new Connection().send(list(silent.key));
  let refused = "";
  await until(async () => {
    const connection = ask();
    refused = await connection.answer();
    connection.close();
    return refused.startsWith("HTTP/1.1 429 ");
  }, "a refusal");
  assert.match(refused, /retry-after: \d+/i);
  assert.match(refused, /"rate_limited"/);
  const read = await service.call("GET", `/v1/requests/${small}`, { key: silent.key });
  assert.equal(read.status, 200);
  const others = new Connection().send(list(other.key));
  assert.match(await others.answer(), /^HTTP\/1\.1 200 /);
  for (const each of unread) each.close();
  await until(async () => {
    const connection = ask();
    const answer = await connection.answer();
    connection.close();
    return answer.startsWith("HTTP/1.1 200 ");
  }, "room again");
});

test("a caller that takes nothing of a large answer is cut off", async () => {
  const node = await startNode(service.database, { answerStallMs: 200 });
  const { key } = await makeWorkspace(db);
  const id = await create(key, "y".repeat(4 * mebibyte - 1_000));
  const nodePort = Number(new URL(await node.app.listen({ port: 0, host: "127.0.0.1" })).port);
  const silent = connect(nodePort, "127.0.0.1").pause();
  silent.on("error", () => {});
  silent.write(
    `GET /v1/requests/${id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`,
  );
  const [connection] = (await once(node.app.server, "connection")) as [Socket];
  await once(connection, "close");
  assert.ok(connection.bytesWritten > 0, "while the answer was under way");
  silent.destroy();
  await node.stop();
});

test("a connection with many calls and no reader is told to read first, and is closed", async () => {
  const connection = new Connection();
  connection.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".repeat(20 * callsPerConnectionMax));
  await until(() => connection.isClosed, "the end of the connection");
  const answers = [...connection.received.matchAll(/HTTP\/1\.1 ([0-9]{3})/g)].map(
    ([, code]) => code,
  );
  assert.equal(answers[0], "200");
  assert.ok(answers.includes("503"), `nobody is refused: ${answers.join()}`);
  assert.ok(answers.length < 20 * callsPerConnectionMax, "all were carried out");
});

test("a chunked body that is refused is dropped as it comes, and the next call is answered", async () => {
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const headers = { ...asKey(unknownKey), "transfer-encoding": "chunked" };
  const connection = new Connection().send(head("/v1/requests", headers));
  for (let sent = 0; sent < 4 * mebibyte; sent += 0x10000) connection.send(chunk);
  connection.send("0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  const received = await connection.until(/ 401 .* 200 /s);
  assert.match(received, /^HTTP\/1\.1 401/);
  connection.close();
});

test("lists with invented keys take no turn of a workspace", async () => {
  const { key } = await makeWorkspace(db);
  assert.equal((await service.call("GET", "/v1/requests", { key })).status, 200);
  const invented = Array.from({ length: 2_100 }, () =>
    formatApiKey(randomBytes(apiKeyRandomBytes)),
  );
  const [own, ...others] = await inTransaction(db, async (tx) => {
    await tx.query("lock table approvals in access exclusive mode");
    const strangers = invented.map((each) => service.call("GET", "/v1/requests", { key: each }));
    const list = service.call("GET", "/v1/requests", { key });
    await Promise.race(strangers);
    return [() => list, ...strangers.map((call) => () => call)];
  });
  assert.equal((await own?.())?.status, 200);
  await Promise.all(others.map((call) => call()));
});

test("callers of one workspace cannot take all places of those who wait", async () => {
  const [greedy, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  const { resolutions } = service;
  const gone = new AbortController();
  const sleep = (workspaceId: string) => {
    const waiting = resolutions.register("req_1");
    return waiting.sleep(workspaceId, hangMs, gone.signal).finally(() => waiting.close());
  };
  const sleeping = Array.from({ length: waitersPerWorkspaceMax }, () => sleep(greedy.id));
  assert.equal(resolutions.asleepIn(greedy.id), waitersPerWorkspaceMax);
  assert.equal(await sleep(greedy.id), "given_up");
  const { key, id } = { key: greedy.key, id: await create(greedy.key) };
  const answer = await service.call("GET", `/v1/requests/${id}?wait=60`, { key });
  assert.equal(answer.json.status, "PENDING", "answered at once, as things stand");
  const others = sleep(other.id);
  assert.equal(resolutions.asleepIn(other.id), 1);
  gone.abort();
  await Promise.all([...sleeping, others]);
  assert.deepEqual([resolutions.asleepIn(greedy.id), resolutions.waiting], [0, 0]);
});
