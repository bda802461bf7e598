import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import {
  type AddressInfo,
  createServer as createRawServer,
  type Server,
  type Socket,
} from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import ipaddr from "ipaddr.js";
import {
  loopbackCidrs,
  makeAddressPolicy,
  makeCallbackPolicies,
  parseCidrs,
} from "../src/domain/access/network-address.ts";
import { systemLookupsMax } from "../src/domain/limits.ts";
import {
  examineMembersWebhookUrl,
  examineWebhookUrl,
  type NameSources,
  resolveHost,
} from "../src/outbound/resolve-host.ts";
import {
  type WebhookAnswer,
  WebhookSender,
  type WebhookSenderOptions,
} from "../src/outbound/send-webhook.ts";
import { hangMs, until } from "./patience.ts";

const nobodyElse = makeAddressPolicy([]);
const loopback = makeAddressPolicy(loopbackCidrs);
const ca = certificate("ca.pem");
const key = certificate("localhost-key.pem");
const cert = certificate("localhost.pem");
const shortMs = 300;
/** The timeout of an attempt that is to end by itself, on any machine. */
const longMs = hangMs;

const cleanups: (() => void)[] = [];
after(() => {
  for (const cleanup of cleanups) cleanup();
});

test("the receiver gets the very bytes and headers, and the answer tells what it said", async () => {
  const body = Buffer.from('{"a":1.0,"ü":"\\u0000"}\n');
  const received: { headers: string[]; body: Buffer; request: string }[] = [];
  const { url } = await receive(async (request, response) => {
    const bytes = await bodyOf(request);
    const line = `${request.method} ${request.url}`;
    received.push({ headers: request.rawHeaders, body: bytes, request: line });
    response.writeHead(201).end("thank you");
  });
  const headers = { "content-type": "application/json", "webhook-id": "dlv_1" };
  const answer = await send(`${url}/a%20b?c=d`, { headers, body });
  const { durationMs, ...rest } = answer;
  assert.deepEqual(rest, {
    outcome: "delivered",
    status: 201,
    responseStart: "thank you",
    retryAfterSeconds: null,
  });
  assert.ok(Number.isInteger(durationMs));
  assert.equal(received.length, 1);
  assert.equal(received[0]?.request, "POST /a%20b?c=d");
  assert.deepEqual(received[0]?.body, body);
  assert.deepEqual(pairsOf(received[0]?.headers ?? []), {
    "content-type": "application/json",
    "webhook-id": "dlv_1",
    host: new URL(url).host,
    "content-length": String(body.length),
    Connection: "keep-alive",
  });
});

test("every answer is classed by its status alone", async () => {
  const { url } = await receive((request, response) => {
    response.writeHead(Number(request.url?.slice(1))).end();
  });
  for (const [status, outcome] of [
    [200, "delivered"],
    [204, "delivered"],
    [299, "delivered"],
    [300, "redirected"],
    [304, "redirected"],
    [400, "http_status"],
    [410, "http_status"],
    [500, "http_status"],
    [999, "http_status"],
  ] as const) {
    const answer = await send(`${url}/${status}`);
    assert.deepEqual([answer.outcome, answer.status], [outcome, status]);
    assert.equal(answer.responseStart, "");
  }
});

test("a redirect is not followed, wherever it leads", async () => {
  const target = await receive((_request, response) => void response.end());
  for (const location of ["http://169.254.169.254/latest/meta-data/", target.url]) {
    const { url } = await receive((_request, response) => {
      response.writeHead(302, { location }).end();
    });
    const answer = await send(url);
    assert.deepEqual([answer.outcome, answer.status], ["redirected", 302]);
  }
  assert.equal(target.connections(), 0);
});

test("Retry-After of 429 and 503 is read in both forms, and ignored when invalid or elsewhere", async () => {
  const { url } = await receive((request, response) => {
    const [status, retryAfter = ""] = decodeURIComponent(request.url ?? "")
      .slice(1)
      .split("|");
    response.writeHead(Number(status), { "retry-after": retryAfter }).end();
  });
  const clock = () => Date.UTC(2026, 0, 1, 12, 0, 0);
  for (const [status, retryAfter, seconds] of [
    [429, "120", 120],
    [503, "0", 0],
    [503, "Thu, 01 Jan 2026 12:01:30 GMT", 90],
    [429, "Thu, 01 Jan 2026 11:00:00 GMT", 0],
    [429, "soon", null],
    [429, "-5", null],
    [429, "1.5", null],
    [429, "2026", 2026],
    [429, "Jan 2027", null],
    [429, "9".repeat(400), null],
    [503, "", null],
    [500, "120", null],
    [200, "120", null],
  ] as const) {
    const answer = await send(`${url}/${status}|${retryAfter}`, { clock });
    assert.equal(answer.retryAfterSeconds, seconds, `${status} ${retryAfter}`);
  }
});

test("an answer is kept as text that PostgreSQL takes, cut between characters", async () => {
  const bodies: Record<string, Buffer> = {
    "/zero": Buffer.from("a\0b"),
    "/binary": Buffer.from([0x61, 0xff, 0xfe, 0x62]),
    "/cut": Buffer.from("ü".repeat(5_000)).subarray(1),
    "/whole": Buffer.from("x".repeat(4_096)),
  };
  const { url } = await receive((request, response) => {
    response.end(bodies[request.url ?? ""]);
  });
  assert.equal((await send(`${url}/zero`)).responseStart, "a\ufffdb");
  assert.equal((await send(`${url}/binary`)).responseStart, "a\ufffd\ufffdb");
  assert.equal((await send(`${url}/cut`)).responseStart, `\ufffd${"ü".repeat(2_047)}`);
  assert.equal((await send(`${url}/whole`)).responseStart, "x".repeat(4_096));
});

test("connections are reused, and closed when idle", async () => {
  const receiver = await receive((_request, response) => void response.end("ok"));
  const sender = makeSender();
  for (let n = 0; n < 5; n += 1) {
    assert.equal((await sendBy(sender, receiver.url)).outcome, "delivered");
  }
  assert.equal(receiver.connections(), 1);
  sender.close();
  await receiver.untilClosed();
});

test("no answer ends at the deadline", async () => {
  const { url } = await receiveRaw(() => {});
  await endsAtDeadline(() => send(url, { timeoutMs: shortMs }), { status: null });
});

test("headers that drip in end at the deadline", async () => {
  const { url } = await receiveRaw((socket) => {
    drip(socket, "HTTP/1.1 200 OK\r\nx-a: ".padEnd(5_000, "b"));
  });
  await endsAtDeadline(() => send(url, { timeoutMs: shortMs }), { status: null });
});

test("a body that drips in ends at the deadline, with the status and what came of it", async () => {
  const { url } = await receiveRaw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4000\r\n\r\n");
    drip(socket, "z".repeat(4_000));
  });
  // Long enough for the status to come, on any machine.
  const timeoutMs = hangMs / 100;
  const answer = await endsAtDeadline(() => send(url, { timeoutMs }), { status: 200 });
  assert.match(answer.responseStart ?? "", /^z+$/);
});

test("a receiver that does not read ends at the deadline", async () => {
  const { url } = await receiveRaw((socket) => void socket.pause());
  const body = Buffer.alloc(32 * 1024 * 1024);
  await endsAtDeadline(() => send(url, { timeoutMs: shortMs, body }), { status: null });
});

test("a connection that is refused, reset or closed without an answer is a failed connection", async () => {
  const closed = await receiveRaw(() => {});
  closed.server.close();
  await once(closed.server, "close");
  const ways: ((socket: Socket) => void)[] = [
    (socket) => socket.resetAndDestroy(),
    (socket) => void socket.end(),
    (socket) => void socket.once("data", () => socket.resetAndDestroy()),
    (socket) => void socket.once("data", () => socket.end()),
    (socket) => void socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nx-a:")),
  ];
  const urls = [closed.url, ...(await Promise.all(ways.map(receiveRaw))).map(({ url }) => url)];
  for (const url of urls) {
    const answer = await send(url);
    assert.deepEqual([answer.outcome, answer.status], ["connection_failed", null]);
  }
});

test("an answer that is cut off half-way is a failed connection, with the status that came", async () => {
  const start = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
  for (const cut of [
    (socket: Socket) => socket.resetAndDestroy(),
    (socket: Socket) => void socket.end(),
  ]) {
    const { url } = await receiveRaw((socket) => {
      socket.once("data", () => socket.write(start, () => setTimeout(() => cut(socket), 20)));
    });
    // A reset may overtake what was sent before it.
    const answer = await until(async () => {
      const each = await send(url);
      return each.status !== null && each;
    }, "an answer that came before the cut");
    assert.deepEqual([answer.outcome, answer.status], ["connection_failed", 200]);
    assert.equal(answer.responseStart, "half");
  }
});

test("of an endless answer only the start is read, and the connection is closed", async () => {
  const bytes = 100 * 1024 * 1024;
  const receiver = await receiveRaw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`);
    const piece = Buffer.alloc(64 * 1024, "x");
    const pour = () => {
      while (!socket.destroyed && socket.bytesWritten < bytes && socket.write(piece));
    };
    socket.on("drain", pour);
    pour();
  });
  const answer = await send(receiver.url);
  assert.deepEqual([answer.outcome, answer.status], ["delivered", 200]);
  assert.equal(answer.responseStart, "x".repeat(4_096));
  await receiver.untilClosed();
  // The bytes that did not reach us lie in the buffers of two kernels.
  assert.ok(receiver.bytesWritten() < bytes / 4, `${receiver.bytesWritten()} bytes were written`);
});

test("an answer that is not HTTP is a broken response", async () => {
  for (const text of [
    "SSH-2.0-OpenSSH_9.6\r\n",
    "\0\x01\x02\x03",
    "HTTP/9.9 200 OK\r\n\r\n",
    "HTTP/1.1 abc OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a chunk\r\n",
    `HTTP/1.1 200 OK\r\nx-a: ${"b".repeat(100_000)}\r\n\r\n`,
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    "HTTP/1.1 199 Unheard of\r\n\r\n",
    "HTTP/1.1 099 Unheard of\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n".repeat(100_000),
  ]) {
    const { url } = await receiveRaw(
      (socket) => void socket.once("data", () => socket.write(text)),
    );
    const answer = await send(url);
    assert.equal(answer.outcome, "broken_response", text.slice(0, 60));
  }
});

test("interim answers are passed over", async () => {
  const { url } = await receive((_request, response) => {
    response.writeContinue();
    response.writeProcessing();
    response.writeEarlyHints({ link: "</a>; rel=preload" });
    response.end("done");
  });
  const answer = await send(url);
  assert.deepEqual([answer.outcome, answer.responseStart], ["delivered", "done"]);
});

test("an answer that comes before everything was sent counts", async () => {
  const body = Buffer.alloc(4 * 1024 * 1024);
  for (const status of [413, 200]) {
    for (const hangUp of [
      (socket: Socket) => void socket.end(),
      (socket: Socket) => socket.destroySoon(),
    ]) {
      const { url } = await receiveRaw((socket) => {
        socket.once("data", () => {
          socket.pause();
          socket.write(`HTTP/1.1 ${status} Early\r\ncontent-length: 5\r\n\r\nenough`.slice(0, -1));
          hangUp(socket);
        });
      });
      const answer = await send(url, { body });
      assert.equal(answer.status, status);
      assert.equal(answer.outcome, status === 200 ? "delivered" : "http_status");
    }
  }
});

for (const secure of [false, true]) {
  const scheme = secure ? "https" : "http";
  test(`a kept connection that fails when it is used again costs no failure (${scheme})`, async () => {
    const requests: number[] = [];
    let served = 0;
    const receiver = await receive(
      async (request, response) => {
        requests.push(served);
        await bodyOf(request);
        // The second request of a connection finds it closed.
        if (connectionsSeen.has(request.socket)) return void request.socket.destroy();
        connectionsSeen.add(request.socket);
        served += 1;
        response.end(String(served));
      },
      { secure },
    );
    const connectionsSeen = new WeakSet<Socket>();
    const sender = makeSender({ ca });
    assert.equal((await sendBy(sender, receiver.url)).responseStart, "1");
    const answer = await sendBy(sender, receiver.url);
    assert.deepEqual([answer.outcome, answer.responseStart], ["delivered", "2"]);
    assert.equal(requests.length, 3);
    assert.equal(receiver.connections(), 2);
    sender.close();
  });
}

test("a new connection that fails is not repeated, and a kept one only once", async () => {
  let isWorking = true;
  const receiver = await receive((request, response) => {
    if (isWorking) response.end();
    else request.socket.destroy();
  });
  const sender = makeSender();
  await sendBy(sender, receiver.url);
  isWorking = false;
  assert.equal((await sendBy(sender, receiver.url)).outcome, "connection_failed");
  assert.equal(receiver.connections(), 2);
  assert.equal((await sendBy(sender, receiver.url)).outcome, "connection_failed");
  assert.equal(receiver.connections(), 3);
  sender.close();
});

test("over TLS the certificate must be for the name, or for the address without a server name", async () => {
  const names: unknown[] = [];
  const receiver = await receive(
    (request, response) => {
      names.push("servername" in request.socket && request.socket.servername);
      response.end();
    },
    { secure: true },
  );
  const { port } = new URL(receiver.url);
  for (const host of ["localhost", "localhost.", "127.0.0.1"]) {
    assert.equal((await send(`https://${host}:${port}/`, { ca })).outcome, "delivered", host);
  }
  assert.deepEqual(names, ["localhost", "localhost", false]);
  for (const host of ["other.localhost", "127.0.0.2", "[::ffff:127.0.0.1]"]) {
    const answer = await send(`https://${host}:${port}/`, { ca });
    assert.notEqual(answer.outcome, "delivered", host);
  }
  assert.equal((await send(`https://other.localhost:${port}/`, { ca })).outcome, "tls_failed");
  assert.equal(names.length, 3);
});

test("broken TLS is told apart from a failed connection", async () => {
  const selfSigned = await receive(() => assert.fail(), {
    secure: true,
    cert: certificate("self-signed.pem"),
  });
  const unknownAuthority = await receive(() => assert.fail(), { secure: true });
  const plain = await receiveRaw((socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\n"));
  const reset = await receiveRaw(
    (socket) => void socket.once("data", () => socket.resetAndDestroy()),
  );
  for (const [url, options] of [
    [selfSigned.url, { ca }],
    [unknownAuthority.url, {}],
    [plain.url.replace("http:", "https:"), { ca }],
    [reset.url.replace("http:", "https:"), { ca }],
  ] as const) {
    assert.equal((await send(url, options)).outcome, "tls_failed", url);
  }
});

test("a TLS handshake that hangs ends at the deadline", async () => {
  const { url } = await receiveRaw(() => {});
  const secureUrl = url.replace("http:", "https:");
  await endsAtDeadline(() => send(secureUrl, { timeoutMs: shortMs }), { status: null });
});

test("an address inside is refused in every spelling, and nothing connects to it", async () => {
  const receiver = await receiveRaw(() => {});
  const { port } = new URL(receiver.url);
  for (const host of [
    "127.0.0.1",
    "127.1",
    "127.0.0.1.",
    "0x7f000001",
    "0177.0.0.1",
    "2130706433",
    "①②⑦.0.0.1",
    "0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "any.localhost",
    "169.254.169.254",
  ]) {
    for (const scheme of ["http", "https"]) {
      const answer = await send(`${scheme}://${host}:${port}/`, { policy: nobodyElse });
      assert.deepEqual([answer.outcome, answer.status], ["address_not_allowed", null], host);
    }
  }
  assert.equal(receiver.connections(), 0);
});

test("a name is connected to by the addresses that its name server gave, one after the other", async () => {
  const { url } = await receive((request, response) => void response.end(request.headers.host));
  const { port } = new URL(url);
  const names = await serveNames({ "hooks.test": ["127.0.0.9", "127.0.0.1"] });
  const answer = await send(`http://hooks.test:${port}/`, { names });
  assert.deepEqual([answer.outcome, answer.responseStart], ["delivered", `hooks.test:${port}`]);
});

test("a name with one answer inside is refused, whatever the others are", async () => {
  const receiver = await receiveRaw(() => {});
  const { port } = new URL(receiver.url);
  const names = await serveNames({
    "inside.test": ["127.0.0.1"],
    "inside6.test": ["::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "mixed.test": ["93.184.215.14", "127.0.0.1"],
    "mixed6.test": ["93.184.215.14", "2606:4700::1111", "fd00::1"],
  });
  for (const name of ["inside", "inside6", "mapped", "mixed", "mixed6"]) {
    const answer = await send(`http://${name}.test:${port}/`, { names, policy: nobodyElse });
    assert.equal(answer.outcome, "address_not_allowed", name);
  }
  assert.equal(receiver.connections(), 0);
});

test("a name that turns inside between two attempts is refused at the second", async () => {
  const answers = { "turning.test": ["127.0.0.1"] };
  const receiver = await receive((_request, response) => {
    response.writeHead(200, { connection: "close" }).end();
  });
  const url = `http://turning.test:${new URL(receiver.url).port}/`;
  const sender = makeSender({
    names: await serveNames(answers),
    policy: makeAddressPolicy(parseCidrs("127.0.0.1/32") ?? []),
  });
  assert.equal((await sendBy(sender, url)).outcome, "delivered");
  answers["turning.test"] = ["127.0.0.2"];
  assert.equal((await sendBy(sender, url)).outcome, "address_not_allowed");
  assert.equal(receiver.connections(), 1);
  sender.close();
});

test("a name that nobody knows, or whose name server fails, is not resolved", async () => {
  const names = await serveNames({ "broken.test": "fail" });
  for (const name of [
    "unknown.test",
    "broken.test",
    `${"a".repeat(64)}.test`,
    'a".test',
    "a..test",
  ]) {
    assert.equal((await send(`http://${name}/`, { names })).outcome, "name_not_resolved", name);
  }
});

test("a name server that does not answer is given up at the deadline", async () => {
  const names = await serveNames({ "hanging.test": "hang" });
  await endsAtDeadline(() => send("http://hanging.test/", { names, timeoutMs: shortMs }), {
    status: null,
  });
});

test("one family's addresses do when the name server never answers for the other", async () => {
  const { url } = await receive((_request, response) => void response.end());
  const names = await serveNames({ "half.test": ["127.0.0.1", "hang6"] });
  const answer = await send(`http://half.test:${new URL(url).port}/`, { names });
  assert.equal(answer.outcome, "delivered");
});

test("many hanging names do not delay a healthy one", async () => {
  const { url } = await receive((_request, response) => void response.end());
  const names = await serveNames({ "healthy.test": ["127.0.0.1"] }, "hang");
  const sender = makeSender({ names });
  const hanging = Array.from({ length: 50 }, (_, n) => sendBy(sender, `http://hanging${n}.test/`));
  const healthy = sendBy(sender, `http://healthy.test:${new URL(url).port}/`);
  assert.equal((await Promise.race([healthy, ...hanging])).outcome, "delivered");
  sender.close();
});

test("names that only the system knows are looked up there, a few at a time, and hang for nobody else", async () => {
  const { url } = await receive((_request, response) => void response.end());
  const { dnsServers } = await serveNames({ "healthy.test": ["127.0.0.1"] });
  const release = Promise.withResolvers<string[]>();
  let running = 0;
  const lookUpInSystem = () => {
    running += 1;
    return release.promise;
  };
  // The hanging sends are given up at the deadline. Only the healthy one has a long deadline.
  const sender = makeSender({ names: { dnsServers, lookUpInSystem }, timeoutMs: shortMs });
  const patient = makeSender({ names: { dnsServers, lookUpInSystem } });
  const hanging = Array.from({ length: 10 }, (_, n) => sendBy(sender, `http://hosts${n}.test/`));
  const healthy = await sendBy(patient, `http://healthy.test:${new URL(url).port}/`);
  assert.equal(healthy.outcome, "delivered");
  for (const answer of await Promise.all(hanging)) assert.equal(answer.outcome, "timed_out");
  assert.equal(running, systemLookupsMax);
  release.resolve(["127.0.0.1"]);
  const known = await sendBy(patient, `http://hosts.test:${new URL(url).port}/`);
  assert.equal(known.outcome, "delivered");
  sender.close();
  patient.close();
});

test("at registration an address inside is refused with what to do, and an unknown name is not", async () => {
  const names = await serveNames({ "inside.test": ["10.0.0.5"], "public.test": ["93.184.215.14"] });
  const examine = (url: string) => examineWebhookUrl(url, nobodyElse, names);
  assert.equal(await examine("https://public.test/hook"), null);
  assert.equal(await examine("https://unknown.test/hook"), null);
  assert.equal(await examine("https://8.8.8.8/hook"), null);
  assert.match(
    (await examine("https://10.0.0.5/")) ?? "",
    /^10\.0\.0\.5 is a private address, and /,
  );
  assert.match((await examine("http://[::1]:4000/")) ?? "", /^::1 is a loopback address, and /);
  assert.match(
    (await examine("https://inside.test/hook")) ?? "",
    /^inside\.test resolves to 10\.0\.0\.5, which is a private address, .*add 10\.0\.0\.5\/32 to the list in WEBHOOK_ALLOW_CIDRS/,
  );
});

test("at registration a member learns nothing about names inside", async () => {
  // The system knows this machine by its own name, at an address inside.
  const examine = (url: string) => examineMembersWebhookUrl(url, nobodyElse);
  for (const host of [hostname(), "unknown.test", "example.com"]) {
    assert.equal(await examine(`https://${host}/hook`), null, host);
  }
  // The address itself says this, so it is no secret.
  for (const host of ["10.0.0.5", "[::1]", "localhost", "a.localhost"]) {
    assert.match((await examine(`https://${host}/`)) ?? "", /^must lead to a public address/, host);
  }
});

test("a resolution that is given up before it began finds nothing", async () => {
  const sources = await serveNames({}, "hang");
  const resolved = await resolveHost("a.test", loopback, { signal: AbortSignal.abort(), sources });
  assert.deepEqual(resolved, { kind: "name_not_resolved" });
});

test("closing ends what is under way", async () => {
  const hanging = await receiveRaw(() => {});
  const names = await serveNames({}, "hang");
  const sender = makeSender({ names });
  const sendings = [sendBy(sender, hanging.url), sendBy(sender, "http://hanging.test/")];
  await hanging.untilConnected();
  sender.close();
  for (const answer of await Promise.all(sendings)) {
    assert.equal(answer.outcome, "connection_failed");
  }
});

test("the environment adds no proxy and no trust", async () => {
  const receiver = await receive((_request, response) => void response.end());
  const untrusted = await receive(() => assert.fail(), { secure: true });
  const proxy = await receiveRaw((socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n"));
  });
  const program = `
    import { WebhookSender } from "./server/src/outbound/send-webhook.ts";
    import { loopbackCidrs, makeAddressPolicy, makeCallbackPolicies } from "./server/src/domain/access/network-address.ts";
    const sender = new WebhookSender({ policy: makeAddressPolicy(loopbackCidrs), timeoutMs: 120_000 });
    for (const url of process.argv.slice(1)) {
      const answer = await sender.send({ url, headers: {}, body: Buffer.from("{}") });
      console.log(answer.outcome);
    }
    const { status } = await fetch(process.argv[1]).catch(() => ({ status: 502 }));
    console.log("others get", status);
    sender.close();`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module-typescript", "--eval", program, receiver.url, untrusted.url],
    {
      cwd: join(import.meta.dirname, "..", ".."),
      env: {
        NODE_USE_ENV_PROXY: "1",
        HTTP_PROXY: proxy.url,
        HTTPS_PROXY: proxy.url,
        NODE_TLS_REJECT_UNAUTHORIZED: "0",
      },
    },
  );
  assert.deepEqual(stdout.trim().split("\n"), ["delivered", "tls_failed", "others get 502"]);
  assert.equal(receiver.connections(), 1);
});

test("callbacks leave no idle connection behind, to however many hosts they went", async () => {
  const asked: (string | undefined)[] = [];
  const receivers = await Promise.all(
    Array.from({ length: 50 }, () =>
      receive(
        ({ headers }, response) => {
          asked.push(headers.connection);
          response.end();
        },
        { secure: true },
      ),
    ),
  );
  const sender = makeSender({ ca, callbacks: makeCallbackPolicies(loopbackCidrs) });
  const answers = await Promise.all(
    receivers.map(({ url }) =>
      sender.send({ url, headers: {}, body: Buffer.from("{}"), isCallback: true }),
    ),
  );
  assert.ok(answers.every(({ outcome }) => outcome === "delivered"));
  assert.ok(asked.every((connection) => connection === "close"));
  for (const receiver of receivers) await receiver.untilClosed();
  sender.close();
});

test("callbacks go where they may, whatever webhooks may reach, also on a connection that webhooks keep", async () => {
  const receiver = await receive((_request, response) => response.end(), { secure: true });
  const sender = makeSender({ ca, callbacks: makeCallbackPolicies([]) });
  assert.equal((await sendBy(sender, receiver.url)).outcome, "delivered");
  const message = { headers: {}, body: Buffer.from("{}"), isCallback: true };
  for (const url of [receiver.url, receiver.url.replace("https:", "http:")]) {
    assert.equal((await sender.send({ ...message, url })).outcome, "address_not_allowed", url);
  }
  assert.equal(receiver.connections(), 1);
  sender.close();
});

type SendOptions = Partial<WebhookSenderOptions> & {
  headers?: Record<string, string>;
  body?: Buffer;
};

function makeSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  return new WebhookSender({ policy: loopback, timeoutMs: longMs, ...options });
}

function sendBy(sender: WebhookSender, url: string): Promise<WebhookAnswer> {
  return sender.send({ url, headers: {}, body: Buffer.from("{}") });
}

/** Sends with a sender of its own, so that no test meets a connection of another. */
async function send(url: string, options: SendOptions = {}): Promise<WebhookAnswer> {
  const { headers = {}, body = Buffer.from("{}"), ...rest } = options;
  const sender = makeSender(rest);
  try {
    return await sender.send({ url, headers, body });
  } finally {
    sender.close();
  }
}

async function endsAtDeadline(
  begin: () => Promise<WebhookAnswer>,
  { status }: { status: number | null },
): Promise<WebhookAnswer> {
  const startedAt = performance.now();
  const answer = await begin();
  const tookMs = performance.now() - startedAt;
  assert.deepEqual([answer.outcome, answer.status], ["timed_out", status]);
  assert.ok(tookMs > shortMs * 0.9, `${tookMs} ms`);
  return answer;
}

type Receiver = {
  url: string;
  server: Server;
  connections(): number;
  bytesWritten(): number;
  untilConnected(): Promise<void>;
  /** Resolves when every connection there was is closed. */
  untilClosed(): Promise<void>;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

function receive(
  handler: Handler,
  options: { secure?: boolean; cert?: string } = {},
): Promise<Receiver> {
  if (options.secure !== true) return listen(createServer(handler), "http://127.0.0.1");
  const server = createSecureServer({ key, cert: options.cert ?? cert }, handler);
  return listen(server, "https://localhost");
}

function receiveRaw(onConnection: (socket: Socket) => void): Promise<Receiver> {
  return listen(createRawServer(onConnection), "http://127.0.0.1");
}

async function listen(server: Server, origin: string): Promise<Receiver> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `${origin}:${(server.address() as AddressInfo).port}`,
    server,
    connections: () => sockets.size,
    bytesWritten: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    untilConnected: async () => {
      if (sockets.size === 0) await once(server, "connection");
    },
    untilClosed: async () => {
      for (const socket of sockets) {
        if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
      }
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray());
}

function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(at++)), 10);
  socket.on("close", () => clearInterval(timer));
}

function pairsOf(flat: string[]): Record<string, string> {
  const pairs = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ""]] : []));
  assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length);
  return Object.fromEntries(pairs);
}

function certificate(file: string): string {
  return readFileSync(join(import.meta.dirname, "certificates", file), "utf8");
}

/** Addresses of a name. "hang6" among them stands for an AAAA question that gets no answer. */
type NameAnswer = string[] | "hang" | "fail";

/** A name server of few words: it knows the names it is given and denies all others. */
async function serveNames(
  known: Record<string, NameAnswer>,
  others: "deny" | "hang" = "deny",
): Promise<Required<NameSources>> {
  const server = createSocket("udp4");
  server.on("message", (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    const answer = known[name] ?? others;
    if (answer === "hang" || (type === aaaa && answer.includes("hang6"))) return;
    const code = { deny: 3, fail: 2 }[String(answer)] ?? 0;
    const records = Array.isArray(answer) ? answer.flatMap((each) => recordOf(each, type)) : [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 + code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    server.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  const dnsServers = [`127.0.0.1:${server.address().port}`];
  return { dnsServers, lookUpInSystem: async () => [] };
}

const [a, aaaa] = [1, 28];

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** An address as a record that points to the name of the question, valid for no time at all. */
function recordOf(address: string, type: number): Buffer[] {
  if (!address.includes(type === aaaa ? ":" : ".") || (type === a && address.includes(":")))
    return [];
  const data =
    type === a
      ? Buffer.from(address.split(".").map(Number))
      : Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return [Buffer.concat([head, data])];
}
