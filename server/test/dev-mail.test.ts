// The inbox at /dev/mail: what it shows, and that it shows it to nobody but who sits at this machine.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import http from "node:http";
import { type AddressInfo, connect } from "node:net";
import { networkInterfaces } from "node:os";
import { text as readAll } from "node:stream/consumers";
import { after, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { parseKeyring } from "../src/domain/access/keyring.ts";
import { escapeHtml } from "../src/domain/mail/html-text.ts";
import type { DevMail } from "../src/http/dev-mail/dev-mail.ts";
import { composeMail } from "../src/operations/deliveries/compose-mail.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { buildRawMail } from "../src/outbound/send-mail.ts";
import { insertEndpointNotice } from "../src/storage/deliveries/new-deliveries.ts";
import { until } from "./patience.ts";
import { makeWorkspace, startNode, startService, testKeyring } from "./test-service.ts";
import { makeEndpoint, startWorker, testPublicUrl } from "./test-worker.ts";

const from = { name: "Countersign", address: "countersign@approvals.example" };
const origin = { keyring: testKeyring, publicUrl: testPublicUrl };
const devMail: DevMail = {
  compose: (mail) => composeMail(mail, origin),
  toRaw: (mail) => buildRawMail(mail, from),
};

let wake = () => {};
const service = await startService({ devMail, onDue: () => wake() });
const worker = startWorker(service.database);
wake = () => worker.worker.wake();
// Every address of this machine leads to it, as with HOST=0.0.0.0.
await service.app.listen({ host: "::", port: 0 });
const { port } = service.app.server.address() as AddressInfo;
after(async () => {
  await worker.stop();
  await service.stop();
});

const { id: workspaceId, key } = await makeWorkspace(service.db);
const hostile = `</title><script>alert(1)</script> & "quoted" \u202etxet`;
const requestId = await create({ summary: hostile, notify: "ann@example.com" });
const [mailId = ""] = await untilKept(1);

test("the list shows each kept mail to whom it goes, and is JSON for machines", async () => {
  const page = await get("/dev/mail");
  assert.equal(page.status, 200);
  assert.match(page.headers["content-type"] ?? "", /^text\/html/);
  assert.match(page.text, new RegExp(`href="/dev/mail/${mailId}"`));
  assert.match(page.text, /ann@example\.com/);
  assert.doesNotMatch(page.text, /<script|\u202e/);
  const csp = page.headers["content-security-policy"] ?? "";
  for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'"]) {
    assert.ok(csp.includes(rule), csp);
  }
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  assert.equal(page.headers["cache-control"], "no-store");
  assert.equal(page.headers["cross-origin-resource-policy"], "same-origin");

  const { data, nextBefore } = await listed();
  const fields = ["id", "to", "subject", "date", "messageId", "text", "html", "reviewUrl"];
  assert.deepEqual(Object.keys(data[0] ?? {}), fields);
  assert.equal(nextBefore, null);
  assert.equal(data[0]?.id, mailId);
});

test("the review link is PUBLIC_URL with 32 unguessable bytes, whose digest is all that is stored", async () => {
  const { data } = await listed();
  const { reviewUrl = "", text = "", html = "" } = data[0] ?? {};
  const token = reviewUrl.slice(`${testPublicUrl}/review/`.length);
  assert.equal(reviewUrl, `${testPublicUrl}/review/${token}`);
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  for (const part of [text, html]) assert.ok(part.includes(reviewUrl));
  const { rows } = await service.db.query<{ token_digest: Buffer; row: string }>(
    "select token_digest, reviewers::text as row from reviewers where approval_id = $1",
    [requestId],
  );
  assert.equal(rows.length, 1);
  assert.deepEqual(rows[0]?.token_digest, createHash("sha256").update(token).digest());
  assert.equal(rows[0]?.row.includes(token), false);
});

test("one mail is shown as its reader sees it, as text, and as it is sent", async () => {
  const path = `/dev/mail/${mailId}`;
  const [html, text, raw, odd] = await Promise.all(
    ["", "?view=text", "?view=raw", "?view=nonsense"].map((view) => get(path + view)),
  );
  for (const page of [html, text, raw, odd]) {
    assert.equal(page?.status, 200);
    assert.doesNotMatch(page?.text ?? "", /<script|\u202e/);
    assert.match(page?.text ?? "", /href="https:\/\/approvals\.example\/countersign\/review\//);
    assert.match(page?.text ?? "", /rel="noreferrer"/);
  }
  assert.match(html?.text ?? "", new RegExp(`<iframe [^>]*src="${path}/html"[^>]*sandbox="`));
  assert.match(html?.text ?? "", /href="\?view=html" aria-current="page"/);
  assert.equal(odd?.text, html?.text);
  assert.match(text?.text ?? "", /<pre [^>]*>An automated agent asks for your decision\./);
  assert.match(text?.text ?? "", /href="\?view=text" aria-current="page"/);
  assert.ok(raw?.text.includes(escapeHtml("\r\nMessage-ID: <rev_")));
});

test("the mail's own HTML can do nothing but be looked at, and its links open elsewhere", async () => {
  const { status, headers, text } = await get(`/dev/mail/${mailId}/html`);
  assert.equal(status, 200);
  assert.match(text, /<head>\s*<base target="_blank">/);
  const csp = headers["content-security-policy"] ?? "";
  assert.match(csp, /default-src 'none'; style-src 'unsafe-inline'; /);
  assert.match(csp, /; sandbox allow-popups allow-popups-to-escape-sandbox$/);
  assert.match(csp, /frame-ancestors 'self'/);
  assert.doesNotMatch(csp, /allow-scripts|allow-same-origin|script-src/);
  assert.doesNotMatch(text, /<script|<img|src=/i);
});

test("the raw mail is what a mail server would get", async () => {
  const { status, headers, text } = await get(`/dev/mail/${mailId}/raw`);
  assert.equal(status, 200);
  assert.equal(headers["content-type"], "text/plain; charset=utf-8");
  assert.equal(headers["x-content-type-options"], "nosniff");
  const [head = ""] = text.split("\r\n\r\n");
  assert.match(head, /^[A-Za-z-]+: /);
  assert.match(head, /^From: Countersign <countersign@approvals\.example>\r$/m);
  assert.match(head, /^To: ann@example\.com\r$/m);
  assert.match(head, /^Message-ID: <rev_[0-9a-f]{32}\.review@approvals\.example>\r$/m);
  assert.equal((await get(`/dev/mail/${mailId}/raw`)).text, text, "the same bytes each time");
});

test("an id of no kept mail is not found, however it is spelled", async () => {
  const unknown = [
    "nope",
    `dlv_${"0".repeat(32)}`,
    "%00",
    "%F0%9F%98%80",
    "dlv_%27",
    "x".repeat(5_000),
  ];
  for (const id of unknown) {
    for (const path of [`/dev/mail/${id}`, `/dev/mail/${id}/html`, `/dev/mail/${id}/raw`]) {
      const { status, text } = await get(path, { accept: "*/*" });
      assert.equal(status, 404, path);
      assert.equal(JSON.parse(text).error.code, "not_found");
    }
  }
  const forPeople = await get("/dev/mail/nope");
  assert.equal(forPeople.status, 404);
  assert.match(forPeople.text, /<h1>No such mail<\/h1>/);
  assert.equal((await get("/dev/mail?before=%00")).status, 404);
  assert.equal((await get("/dev/mail?before=nope")).status, 404);
  const { id: webhookLike } = (await service.db.query("select id from events limit 1")).rows[0];
  assert.equal((await get(`/dev/mail/${webhookLike}`)).status, 404, "an id of something else");
});

test("only this machine is answered; to everybody else nothing is there", async () => {
  const paths = ["", "/style.css", `/${mailId}`, `/${mailId}/html`, `/${mailId}/raw`];
  const local = [
    { host: `localhost:${port}` },
    { host: `127.0.0.1:${port}` },
    { host: "LOCALHOST" },
    { host: "[::1]:3000" },
    { "sec-fetch-site": "none", connection: "keep-alive" },
    {
      "sec-fetch-site": "same-origin",
      referer: `http://127.0.0.1:${port}/dev/mail`,
      connection: "keep-alive",
    },
  ];
  const foreign: Record<string, string>[] = [
    ...["approvals.example", "localhost.evil.example", "127.0.0.1.nip.io", "evil@localhost"].map(
      (host) => ({ host }),
    ),
    ...["localhost/evil", "localhost:3000@evil.example", "0.0.0.0", "10.0.0.1"].map((host) => ({
      host,
    })),
    { "x-forwarded-for": "203.0.113.7" },
    { "x-forwarded-proto": "https" },
    { "x-forwarded": "for=203.0.113.7" },
    { forwarded: "for=203.0.113.7" },
    { via: "1.1 proxy" },
    { "x-real-ip": "203.0.113.7" },
    { "x-client-ip": "203.0.113.7" },
    { "client-ip": "203.0.113.7" },
    { "true-client-ip": "203.0.113.7" },
    { "x-cluster-client-ip": "203.0.113.7" },
    { "x-original-host": "approvals.example" },
    { "x-envoy-external-address": "203.0.113.7" },
    { "cf-connecting-ip": "203.0.113.7" },
    { "cdn-loop": "cloudflare" },
    { "fly-client-ip": "203.0.113.7" },
    { "tailscale-user-login": "eve@example.com" },
    { "sec-fetch-site": "cross-site", connection: "keep-alive" },
    { "sec-fetch-site": "same-site", connection: "keep-alive" },
    { "sec-fetch-site": "none", connection: "close" },
    { referer: "https://approvals.example/dev/mail" },
    { origin: "https://evil.example" },
    { origin: "null" },
  ];
  for (const headers of local) {
    for (const path of paths)
      assert.equal(await statusOf(path, headers), 200, JSON.stringify(headers));
  }
  for (const headers of foreign) {
    for (const path of paths)
      assert.equal(await statusOf(path, headers), 404, JSON.stringify(headers));
  }
});

test("neither an older HTTP nor a missing Host is answered, and HEAD tells no more than GET", async () => {
  const old = await speak("GET /dev/mail HTTP/1.0\r\nHost: localhost\r\n\r\n");
  const nameless = await speak("GET /dev/mail HTTP/1.1\r\nConnection: close\r\n\r\n");
  const head = await speak(
    "HEAD /dev/mail HTTP/1.1\r\nHost: approvals.example\r\nConnection: close\r\n\r\n",
  );
  const absolute = await speak(
    "GET http://localhost/dev/mail HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
  );
  for (const answer of [old, nameless, head, absolute]) assert.match(answer, /^HTTP\/1\.1 404 /);
  const good = await speak(
    "GET /dev/mail HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  );
  assert.match(good, /^HTTP\/1\.1 200 /);
});

test("an address by which others reach this machine does not lead to it", async (t) => {
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address);
  if (addresses.length === 0) return t.skip("this machine has no such address");
  for (const address of addresses) {
    const host = { host: `localhost:${port}` };
    assert.equal(await statusOf("", host, address), 404, address);
    assert.equal((await ask("/healthz", host, address)).status, 200, "the service itself is there");
  }
});

test("with a mail server there is no inbox", async () => {
  const node = await startNode(service.database);
  try {
    const address = await node.app.listen({ host: "127.0.0.1", port: 0 });
    for (const path of ["", "/style.css", `/${mailId}`, `/${mailId}/raw`]) {
      assert.equal((await fetch(`${address}/dev/mail${path}`)).status, 404);
    }
  } finally {
    await node.stop();
  }
});

test("a page holds fifty mails, and the next one those before them, to the first", async () => {
  const email = (n: number) => `m${n}@example.com`;
  const members = Array.from({ length: 100 }, (_, n) => email(n));
  await createGroup(service.db, { workspaceId, key: "all", name: "All", members });
  await create({ summary: "Ask everybody", notify: "group:all" });
  await untilKept(101);
  const seen: string[] = [];
  let before: string | null = null;
  const sizes: number[] = [];
  do {
    const { data, nextBefore } = await listed(before);
    sizes.push(data.length);
    seen.push(...data.map(({ id }) => id));
    before = nextBefore;
  } while (before !== null);
  assert.deepEqual(sizes, [50, 50, 1]);
  assert.equal(new Set(seen).size, 101);
  assert.deepEqual(seen, seen.toSorted().reverse(), "newest first");
  const page = await get("/dev/mail");
  const next = /href="(\/dev\/mail\?before=[^"]+)" rel="next"/.exec(page.text)?.[1] ?? "";
  assert.match((await get(next)).text, new RegExp(`href="/dev/mail/${seen[50]}"`));
});

test("a notice to owners is shown as well, without a link to decide", async () => {
  const { id, workspaceId: own } = await makeNotice();
  const mail = await until(async () => {
    const { data } = await listed();
    return data.find(({ to }) => to === "owner@example.com");
  }, "the notice is kept");
  assert.equal(mail.reviewUrl, null);
  assert.match(mail.text, new RegExp(`delivery list --workspace ${own} --failed`));
  const page = await get(`/dev/mail/${mail.id}`);
  assert.match(page.text, /Webhook endpoint failing/);
  assert.doesNotMatch(page.text, /Open the review link|\/review\//);
  assert.match((await get(`/dev/mail/${mail.id}/html`)).text, new RegExp(id));
});

test("an inbox without mails says how to get one", async () => {
  const empty = await startService({ devMail });
  try {
    const { body } = await empty.app.inject({
      url: "/dev/mail",
      headers: { host: "localhost:8123" },
    });
    assert.match(body, /No mail yet\./);
    assert.match(body, /curl http:\/\/localhost:8123\/v1\/requests /);
  } finally {
    await empty.stop();
  }
});

test("a mail whose key is gone hides none of the others", async () => {
  const otherKeyring = parseKeyring(Buffer.alloc(32, 1).toString("base64"));
  assert.ok(otherKeyring !== null);
  const compose: DevMail["compose"] = (mail) =>
    composeMail(mail, { keyring: otherKeyring, publicUrl: testPublicUrl });
  const node = await startNode(service.database, { devMail: { ...devMail, compose } });
  try {
    const headers = { accept: "application/json" };
    const first = await node.app.inject({ url: "/dev/mail", headers });
    const { data, nextBefore } = first.json();
    assert.deepEqual(
      data.filter((mail: ListedMail) => mail.reviewUrl !== null),
      [],
    );
    assert.notEqual(nextBefore, null, "what is older can still be asked for");
    assert.equal((await node.app.inject({ url: `/dev/mail/${mailId}` })).statusCode, 404);
  } finally {
    await node.stop();
  }
});

type ListedMail = { id: string; to: string; reviewUrl: string; text: string; html: string };

async function makeNotice(): Promise<{ id: string; workspaceId: string }> {
  const { id: own } = await makeWorkspace(service.db);
  await addMember(service.db, { workspaceId: own, email: "owner@example.com", role: "owner" });
  const endpoint = await makeEndpoint(service.db, own, "https://hook.example");
  const detail = { failingSince: "2026-11-13T09:00:00.000Z", reason: "timed out" };
  await inTransaction(service.db, (tx) =>
    insertEndpointNotice(tx, endpoint, "endpoint.failing", detail),
  );
  wake();
  return endpoint;
}

async function listed(
  before: string | null = null,
): Promise<{ data: ListedMail[]; nextBefore: string | null }> {
  const query = before === null ? "" : `?before=${before}`;
  const { text } = await get(`/dev/mail${query}`, { accept: "application/json" });
  return JSON.parse(text);
}

async function create(body: object): Promise<string> {
  const created = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(created.status, 201);
  return created.json.id;
}

async function untilKept(count: number): Promise<string[]> {
  return until(async () => {
    const { rows } = await service.db.query<{ id: string }>(
      "select id from deliveries where state = 'delivered' order by id",
    );
    return rows.length === count && rows.map(({ id }) => id);
  }, `${count} mails are kept`);
}

/** As a browser at this machine asks. */
function get(path: string, headers: Record<string, string> = { accept: "text/html" }) {
  return ask(path, headers);
}

async function statusOf(path: string, headers: Record<string, string>, address?: string) {
  const { status, text } = await ask(`/dev/mail${path}`, headers, address);
  if (status === 404)
    assert.match(text, /There is nothing at this address/, "as if it were not there");
  return status;
}

type Reply = { status: number; headers: Record<string, string | undefined>; text: string };

/** fetch would not let a caller choose its Host, and a pooled connection would hide which one is used. */
function ask(path: string, headers: Record<string, string>, address = "127.0.0.1"): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.get(
      { host: address, port, path, headers, agent: false },
      async (answer) => {
        const text = await readAll(answer);
        const given = answer.headers as Record<string, string | undefined>;
        resolve({ status: answer.statusCode ?? 0, headers: given, text });
      },
    );
    request.on("error", reject);
  });
}

async function speak(bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  return readAll(socket);
}
