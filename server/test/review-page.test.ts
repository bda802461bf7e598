// The page behind a review link: what it holds and what it never holds, that looking changes nothing, and that dead
// links look alike.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { OperatorFault } from "../src/domain/operator-fault.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { nothingElse, shownOf } from "../src/domain/shown/submitted-fields.ts";
import { loadAssets } from "../src/http/frame/assets.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import {
  decide,
  findReviewer,
  getReview,
  openReview,
  postReview,
  reviewDataOf,
  reviewOf,
  sameOriginHeaders,
} from "./test-review.ts";
import { fullBody, makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";

/** A second passes with each call, so that none is one too many. */
let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { db, app } = service;
after(() => service.stop());

async function ask(body: string | object = minimalBody) {
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "Acme" });
  const { json, status } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201);
  const { token } = await findReviewer(db, json.id);
  return { workspaceId, key, id: json.id as string, token };
}

async function moveTo(id: string, { resolvedDaysAgo }: { resolvedDaysAgo: string }): Promise<void> {
  // A final approval cannot be changed, so its past is written in one go.
  await db.query(
    `update approvals set status = 'CANCELLED', resolved_at = now_ms() - $2::interval where id = $1`,
    [id, resolvedDaysAgo],
  );
}

const required: Record<string, string> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "x-robots-tag": "noindex, nofollow",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "accelerometer=(), autoplay=(), browsing-topics=(), camera=(), display-capture=(), encrypted-media=(), fullscreen=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), idle-detection=(), local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), publickey-credentials-create=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()",
};

function assertGuarded({ headers }: { headers: Record<string, unknown> }): void {
  for (const [name, value] of Object.entries(required)) assert.equal(headers[name], value, name);
  assert.equal(headers["set-cookie"], undefined);
}

test("the page holds all that its reader needs, and its data says what was stored", async () => {
  const asked = await ask(fullBody);
  const reply = await getReview(app, asked.token);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers["content-type"], "text/html; charset=utf-8");
  assertGuarded(reply);
  const { text } = reply;
  assert.match(text, /^<!doctype html>\n<html lang="en">/);
  assert.match(text, /<title>Review request · Countersign<\/title>/);
  assert.match(
    text,
    /<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">/,
  );
  assert.match(text, /<meta name="color-scheme" content="light dark">/);
  assert.match(text, /<meta name="robots" content="noindex">/);
  assert.match(text, /<link rel="stylesheet" href="\/countersign\/assets\/review-abc\.css">/);
  assert.match(
    text,
    /<script type="module" async src="\/countersign\/assets\/shared-abc\.js"><\/script>/,
  );
  assert.match(
    text,
    /<script type="module" src="\/countersign\/assets\/review-abc\.js"><\/script>/,
  );
  assert.doesNotMatch(text, /editor-abc/, "what is loaded on demand is not loaded before");
  assert.match(text, /<div id="root">/);
  assert.match(
    text,
    /<noscript>[\s\S]*needs JavaScript[\s\S]*Nothing was decided[\s\S]*<\/noscript>/,
  );
  const { json } = await service.call("GET", `/v1/requests/${asked.id}`, { key: asked.key });
  const { now, ticket, ...review } = reviewOf(reviewDataOf(text));
  assert.deepEqual(review, {
    id: asked.id,
    ...shownOf({
      ...nothingElse,
      ...fullBody,
      payload: JSON.stringify(fullBody.payload),
    }),
    workspaceName: "Acme",
    reviewerEmail: "ann@example.com",
    groupName: null,
    createdAt: json.createdAt,
    expiresAt: json.expiresAt,
    outcome: null,
    othersWaiting: 0,
  });
  assert.ok(json.createdAt <= now && now < json.expiresAt);
  assert.match(ticket, /^\d+\.[\w-]{43}$/);
});

test("GET and HEAD, a thousand times, change no row and set no cookie", async () => {
  const asked = await ask({ ...minimalBody, payload: { a: 1 } });
  const tables = ["approvals", "reviewers", "events", "deliveries", "attempts", "workspaces"];
  const snapshot = async () =>
    Promise.all(
      tables.map(async (table) => {
        const sql = `select t::text as row, t.xmin::text as version from ${table} t where t::text like $1 order by 1`;
        return (await db.query(sql, [`%${asked.workspaceId}%`])).rows;
      }),
    );
  const before = await snapshot();
  for (let n = 0; n < 1_000; n += 20) {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        app.inject({ method: at % 2 === 0 ? "GET" : "HEAD", url: `/review/${asked.token}` }),
      ),
    );
    for (const { statusCode, headers } of replies) {
      assert.equal(statusCode, 200);
      assert.equal(headers["set-cookie"], undefined);
    }
  }
  assert.deepEqual(await snapshot(), before);
  const { json } = await service.call("GET", `/v1/requests/${asked.id}`, { key: asked.key });
  assert.equal(json.status, "PENDING");
});

test("HEAD answers as GET, without the body", async () => {
  const { token } = await ask();
  const url = `/review/${token}`;
  const [get, head] = [await app.inject({ url }), await app.inject({ method: "HEAD", url })];
  assert.equal(head.body, "");
  assert.equal(head.statusCode, 200);
  // Its length is known only once it is made, and nothing is made for a HEAD.
  const unlike = new Set(["content-length", "x-request-id", "date"]);
  const alike = (headers: object) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !unlike.has(name)));
  assert.deepEqual(alike(head.headers), alike(get.headers));
  assert.equal(head.headers["content-length"], undefined);
  assertGuarded(head);
});

test("neither agentState nor metadata is in any answer about a review", async () => {
  const mark = "never-shown-4711";
  const asked = await ask({
    ...minimalBody,
    payload: { shown: true },
    agentState: { [mark]: mark },
    metadata: [mark],
  });
  const answers = [
    await getReview(app, asked.token),
    await postReview(app, `${asked.token}/open`, "{}"),
    await postReview(app, `${asked.token}/status`, "{}"),
    await postReview(app, `${asked.token}/decision`, {
      verdict: "approve",
      digest: "",
      ticket: "",
    }),
    await postReview(app, `${asked.token}/decision`, {
      verdict: "approve",
      digest: "0".repeat(64),
      ticket: "",
    }),
    await decide(app, asked.token, { verdict: "approve", edit: "{}" }),
    await decide(app, asked.token, { verdict: "reject" }),
    await getReview(app, asked.token),
    await postReview(app, `${asked.token}/status`, "{}"),
  ];
  for (const answer of answers) {
    assert.equal(answer.text.includes(mark), false);
    assert.doesNotMatch(answer.text, /agentState|agent_state|metadata/);
    assertGuarded(answer);
  }
});

test("nothing that an agent writes can leave the data block", async () => {
  const hostile =
    "</script><script>alert(1)</script><!--<script>]]>&lt;\u2028\u2029<img src=x onerror=alert(1)>'\"";
  const fields = {
    summary: hostile,
    agentName: hostile.slice(0, 100),
    reasoning: hostile,
    recentActions: [hostile, "<!--"],
    payload: { [hostile]: [hostile], "<!--": { "</SCRIPT >": "<script" } },
  };
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "<b>&amp;</script>" });
  const created = await service.call("POST", "/v1/requests", {
    key,
    body: { ...fields, notify: "ann@example.com" },
  });
  assert.equal(created.status, 201, workspaceId);
  const { token } = await findReviewer(db, created.json.id);
  await decide(app, token, { verdict: "approve", note: hostile, edit: JSON.stringify([hostile]) });
  const { text } = await getReview(app, token);
  assert.deepEqual(text.match(/<script[^>]*>/gi), [
    '<script type="module" async src="/countersign/assets/shared-abc.js">',
    '<script type="module" src="/countersign/assets/review-abc.js">',
    '<script type="application/json" id="review-data">',
  ]);
  assert.equal(text.match(/<\/script/gi)?.length, 3);
  assert.doesNotMatch(text, /<!--|[\u2028\u2029]|<img|<b>/);
  const [, data = ""] = /id="review-data">([\s\S]*?)<\/script>/.exec(text) ?? [];
  assert.doesNotMatch(data, /[<>&]/);
  const review = reviewOf(reviewDataOf(text));
  assert.equal(review.workspaceName, "<b>&amp;</script>");
  assert.equal(review.payload, JSON.stringify(fields.payload));
  const { summary, agentName, reasoning, recentActions } = review;
  const { payload, ...words } = fields;
  assert.deepEqual({ summary, agentName, reasoning, recentActions }, words);
  assert.deepEqual(
    [review.outcome?.note, review.outcome?.edit],
    [hostile, JSON.stringify([hostile])],
  );
});

test("a payload arrives to the last character", async () => {
  const payload =
    '{"id":9007199254740993,"x":1.0,"n":-0,"big":1E400,"b":1,"2":"\\u0000","1":"\\ud800\\uDFFF", "s":"\u2028é"}';
  const asked = await ask(`{"summary":"s","notify":"ann@example.com","payload":${payload}}`);
  assert.equal((await openReview(app, asked.token)).payload, payload);
  const opened = await postReview(app, `${asked.token}/open`, "{}");
  assert.equal(reviewOf(opened.json).payload, payload);
});

test("payloads of 200 KB and almost 4 MiB are shown whole, compressed as the browser likes", async () => {
  for (const size of [200_000, 4 * 1024 * 1024 - 1_000]) {
    const payload = `"${"é<".repeat(size / 3).slice(0, size)}"`;
    const asked = await ask(`{"summary":"s","notify":"ann@example.com","payload":${payload}}`);
    const url = `/review/${asked.token}`;
    const plain = await app.inject({ url });
    assert.equal(reviewOf(reviewDataOf(plain.body)).payload, payload);
    const br = await app.inject({ url, headers: { "accept-encoding": "gzip, deflate, br, zstd" } });
    assert.equal(br.headers["content-encoding"], "br");
    assert.equal(br.headers.vary, "Accept-Encoding");
    assert.equal(
      reviewOf(reviewDataOf(brotliDecompressSync(br.rawPayload).toString())).payload,
      payload,
    );
    const gz = await app.inject({ url, headers: { "accept-encoding": "br;q=0, gzip" } });
    assert.equal(gz.headers["content-encoding"], "gzip");
    assert.equal(reviewOf(reviewDataOf(gunzipSync(gz.rawPayload).toString())).payload, payload);
    const json = await app.inject({
      method: "POST",
      url: `${url}/open`,
      payload: "{}",
      headers: { ...sameOriginHeaders(), "accept-encoding": "br" },
    });
    assert.equal(json.headers["content-encoding"], "br");
    assert.equal(
      reviewOf(JSON.parse(brotliDecompressSync(json.rawPayload).toString())).payload,
      payload,
    );
  }
});

describe("dead links", () => {
  /** Everything by which a stranger could tell two answers apart. */
  async function seen(token: string, method: "GET" | "HEAD" = "GET") {
    const { statusCode, headers, body } = await app.inject({ method, url: `/review/${token}` });
    const { "x-request-id": _, date: __, ...rest } = headers;
    return { statusCode, headers: rest, body };
  }

  test("unknown, malformed, revoked and old ones are byte for byte the same", async () => {
    const unknown = await seen("A".repeat(43));
    assert.equal(unknown.statusCode, 404);
    assertGuarded(unknown);
    assert.match(unknown.body, /<h1>This link does not work<\/h1>/);
    assert.match(unknown.body, /Nothing was decided/);
    assert.match(unknown.body, /<div class="notice">/);
    assert.match(unknown.body, /href="\/countersign\/assets\/review-abc\.css"/);
    assert.doesNotMatch(unknown.body, /<script/);

    const { id: workspaceId, key } = await makeWorkspace(db);
    const members = ["ann@example.com", "bob@example.com"];
    const group = await createGroup(db, { workspaceId, key: "g", name: "G", members });
    if (isRefusal(group)) throw new Error(group.message);
    const body = { summary: "s", notify: "group:g" };
    const { json } = await service.call("POST", "/v1/requests", { key, body });
    const revoked = await findReviewer(db, json.id, { email: "ann@example.com" });
    assert.equal((await seen(revoked.token)).statusCode, 200);
    await removeGroupMember(db, group.id, "ann@example.com");

    const old = await ask();
    await moveTo(old.id, { resolvedDaysAgo: "30 days 1 second" });
    const live = await ask();
    const changed = `${live.token.slice(0, -1)}${live.token.endsWith("A") ? "B" : "A"}`;
    const dead = [revoked.token, old.token, changed, live.token.slice(0, 20), `${live.token}x`];
    const odd = [
      "",
      "%00",
      "%F0%9F%98%80",
      "%",
      "..%2f",
      "x".repeat(5_000),
      `${live.token}/`,
      "a/b",
    ];
    for (const token of [...dead, ...odd]) assert.deepEqual(await seen(token), unknown, token);
    const head = await seen("A".repeat(43), "HEAD");
    for (const token of dead) assert.deepEqual(await seen(token, "HEAD"), head);
    assert.equal((await seen(live.token)).statusCode, 200);
  });

  test("calls about them are answered alike as well, and cost no reading of the body", async () => {
    const old = await ask();
    await moveTo(old.id, { resolvedDaysAgo: "31 days" });
    for (const action of ["open", "status", "decision"]) {
      const replies = [
        await postReview(app, `${old.token}/${action}`, "{broken"),
        await postReview(app, `${"A".repeat(43)}/${action}`, "{}"),
        await postReview(app, `x/${action}`, ""),
        await postReview(app, `x/${action}`, "[".repeat(1_000_000)),
      ];
      for (const reply of replies) {
        assert.deepEqual([reply.status, reply.json.error.code], [404, "not_found"]);
        assert.equal(reply.text, replies[0]?.text);
        assertGuarded(reply);
      }
    }
  });

  test("an outcome is shown for 30 days", async () => {
    const asked = await ask();
    await moveTo(asked.id, { resolvedDaysAgo: "29 days 23:59:00" });
    assert.equal((await openReview(app, asked.token)).outcome?.status, "CANCELLED");
    const expired = await ask();
    const end = `update approvals set created_at = now_ms() - interval '40 days', expires_at = now_ms() - interval '31 days' where id = $1`;
    await db.query(end, [expired.id]);
    assert.equal((await getReview(app, expired.token)).status, 404, "nobody had expired it yet");
  });
});

test("the first look at a request that has run out shows it as expired, and its event is written once", async () => {
  for (const look of [
    (token: string) => openReview(app, token).then(({ outcome }) => outcome),
    (token: string) => postReview(app, `${token}/status`, "{}").then(({ json }) => json.outcome),
  ]) {
    const asked = await ask();
    await db.query(
      "update approvals set created_at = now_ms() - interval '1 hour', expires_at = now_ms() where id = $1",
      [asked.id],
    );
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => look(asked.token)));
    for (const outcome of outcomes) {
      assert.deepEqual(
        [outcome?.status, outcome?.byEmail, outcome?.isYours],
        ["EXPIRED", null, false],
      );
    }
    const { rows } = await db.query(
      "select kind from events where approval_id = $1 order by kind",
      [asked.id],
    );
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ["request.created", "request.expired"],
    );
  }
});

test("the status is what can change, and nothing else", async () => {
  const asked = await ask();
  const { json, status, ...reply } = await postReview(app, `${asked.token}/status`, "{}");
  assert.equal(status, 200);
  assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  assertGuarded(reply);
  assert.deepEqual(Object.keys(json).sort(), [
    "expiresAt",
    "now",
    "othersWaiting",
    "outcome",
    "ticket",
  ]);
  assert.equal(json.outcome, null);
});

test("under a path, the page works whether or not the proxy takes the path off", async () => {
  const { token } = await ask();
  const node = await startNode(service.database, { publicUrl: "https://x.example/approvals" });
  const bare = await startNode(service.database, { publicUrl: "https://x.example" });
  const namesake = await startNode(service.database, { publicUrl: "https://x.example/review" });
  try {
    const post = (on: typeof node, url: string) =>
      on.app.inject({
        method: "POST",
        url,
        payload: "{}",
        headers: { origin: "https://x.example", "sec-fetch-site": "same-origin" },
      });
    for (const prefix of ["", "/approvals"]) {
      const page = await node.app.inject({ url: `${prefix}/review/${token}?a=1` });
      assert.equal(page.statusCode, 200);
      assert.match(page.body, /src="\/approvals\/assets\/review-abc\.js"/);
      assert.equal(
        (await node.app.inject({ url: `${prefix}/assets/review-abc.js` })).statusCode,
        200,
      );
      assert.equal((await node.app.inject({ url: `${prefix}/healthz` })).statusCode, 200);
      assert.equal((await post(node, `${prefix}/review/${token}/status`)).statusCode, 200);
    }
    for (const url of ["/approvalsx/healthz", "/x/approvals/healthz", "/approvalsx"]) {
      assert.equal((await node.app.inject({ url })).statusCode, 404, url);
    }
    for (const url of ["/", "/approvals", "/approvals/", "/approvals?a"]) {
      const { statusCode, headers } = await node.app.inject({ url });
      assert.deepEqual(
        [statusCode, headers.location],
        [302, "https://x.example/approvals/app"],
        url,
      );
    }
    const page = await bare.app.inject({ url: `/review/${token}` });
    assert.match(page.body, /src="\/assets\/review-abc\.js"/);
    assert.equal((await bare.app.inject({ url: `/approvals/review/${token}` })).statusCode, 404);
    for (const prefix of ["", "/review"]) {
      assert.equal(
        (await namesake.app.inject({ url: `${prefix}/review/${token}` })).statusCode,
        200,
      );
      const status = await post(namesake, `${prefix}/review/${token}/status`);
      assert.equal(status.statusCode, 200);
    }
    assert.equal(
      (await namesake.app.inject({ url: "/review/assets/review-abc.js" })).statusCode,
      200,
    );
  } finally {
    await Promise.all([node.stop(), bare.stop(), namesake.stop()]);
  }
});

describe("assets", () => {
  test("are kept for ever, typed, and sent as the browser likes them", async () => {
    const get = (file: string, encoding?: string) =>
      app.inject({
        url: `/assets/${file}`,
        headers: encoding === undefined ? {} : { "accept-encoding": encoding },
      });
    const plain = await get("review-abc.js");
    assert.equal(plain.statusCode, 200);
    assert.equal(plain.body, 'import "./shared-abc.js";\n');
    assert.equal(plain.headers["content-type"], "text/javascript; charset=utf-8");
    assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable");
    assert.equal(plain.headers.vary, "Accept-Encoding");
    assert.equal(plain.headers["x-content-type-options"], "nosniff");
    assert.equal(plain.headers["set-cookie"], undefined);
    assert.equal(plain.headers["content-encoding"], undefined);
    for (const [accepted, encoding, body] of [
      ["gzip, deflate, br", "br", "as brotli"],
      ["gzip", "gzip", "as gzip"],
      ["br;q=0, *", "gzip", "as gzip"],
      ["identity", undefined, plain.body],
      ["br;q=0,gzip;q=0.0", undefined, plain.body],
    ] as const) {
      const reply = await get("review-abc.js", accepted);
      assert.deepEqual([reply.headers["content-encoding"], reply.body], [encoding, body], accepted);
    }
    const css = await get("review-abc.css", "br");
    assert.equal(css.headers["content-type"], "text/css; charset=utf-8");
    assert.equal(css.headers["content-encoding"], undefined);
    const { token } = await ask();
    const [, icon = ""] =
      /<link rel="icon"[^>]* href="([^"]+)">/.exec((await getReview(app, token)).text) ?? [];
    const image = await app.inject({ url: icon });
    assert.deepEqual([image.statusCode, image.headers["content-type"]], [200, "image/svg+xml"]);
  });

  test("nothing else is there", async () => {
    for (const file of [
      "nope.js",
      "review-abc.js.br",
      "..%2fmanifest.json",
      "%2e%2e%2f%2e%2e%2fpackage.json",
      "",
      "__proto__",
      "constructor",
    ]) {
      const reply = await app.inject({ url: `/assets/${file}` });
      assert.equal(reply.statusCode, 404, file);
      assert.equal(reply.json().error.code, "not_found");
    }
  });

  test("the pages as they were built can be served, and without them nothing starts", () => {
    const { files, review } = loadAssets();
    for (const name of [review.script, review.icon, ...review.styles, ...review.parts]) {
      assert.match(name, /^assets\/[^/]+$/);
      assert.ok(files.has(name.slice("assets/".length)), name);
    }
    const empty = mkdtempSync(join(tmpdir(), "cs-assets-"));
    try {
      assert.throws(
        () => loadAssets(empty),
        (error) =>
          error instanceof OperatorFault && /not built\. Run npm run build/.test(error.message),
      );
    } finally {
      rmSync(empty, { recursive: true });
    }
  });
});

test("a fault on our side is told to a person as a page, and to the page as JSON", async (t) => {
  const { token } = await ask();
  await db.query("alter table reviewers rename column code_tries to hidden");
  t.after(() => db.query("alter table reviewers rename column hidden to code_tries"));
  const page = await getReview(app, token);
  assert.equal(page.status, 503);
  assert.match(page.text, /cannot be shown just now[\s\S]*Nothing was decided/);
  assertGuarded(page);
  const status = await postReview(app, `${token}/status`, "{}");
  assert.deepEqual([status.status, status.json.error.code], [503, "unavailable"]);
  assert.match(status.json.error.message, /a decision counts once/);
  assertGuarded(status);
});
