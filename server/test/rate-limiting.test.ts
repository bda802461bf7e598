import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  passkeysBegunPerHourMax,
  sessionCallsBurstMax,
  sessionCallsPerMinuteMax,
} from "../src/domain/limits.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

let nowMs = 0;
const service = await startService({ rateLimit: { perSecond: 10, burst: 20 }, clock: () => nowMs });
after(() => service.stop());

test("a key may burst and is then refused with 429, the seconds to wait, and the standard headers", async () => {
  const { key } = await makeWorkspace(service.db);
  for (let n = 19; n >= 0; n -= 1) {
    const { status, headers } = await service.call("GET", "/v1/requests", { key });
    assert.equal(status, 200);
    assert.equal(headers["ratelimit-limit"], "20");
    assert.equal(headers["ratelimit-remaining"], String(n));
    assert.match(headers.ratelimit ?? "", new RegExp(`^"per-key";r=${n};t=\\d+$`));
    assert.equal(headers["ratelimit-policy"], '"per-key";q=20;w=2');
  }
  const refused = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  assert.equal(refused.status, 429);
  assert.equal(refused.json.error.code, "rate_limited");
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(refused.headers["ratelimit-remaining"], "0");
  nowMs += 1_000;
  for (let n = 0; n < 10; n += 1) {
    assert.equal((await service.call("GET", "/v1/requests", { key })).status, 200);
  }
  assert.equal((await service.call("GET", "/v1/requests", { key })).status, 429);
});

test("one key's calls do not use up another's", async () => {
  const [one, two] = [await makeWorkspace(service.db), await makeWorkspace(service.db)];
  for (let n = 0; n < 25; n += 1) await service.call("GET", "/v1/requests", { key: one.key });
  assert.equal((await service.call("GET", "/v1/requests", { key: one.key })).status, 429);
  assert.equal((await service.call("GET", "/v1/requests", { key: two.key })).status, 200);
});

test("health and the API description are not limited", async () => {
  for (let n = 0; n < 50; n += 1) assert.equal((await service.call("GET", "/healthz")).status, 200);
});

async function makePerson(email: string) {
  const { id: workspaceId } = await makeWorkspace(service.db);
  await makeMember(service.db, { workspaceId, email, role: "viewer" });
  return { workspaceId, email, cookie: await signIn(service, email) };
}

test("a session that hammers is told to wait before the database is asked, and others go on", async () => {
  const { email, workspaceId, cookie } = await makePerson("hasty@example.com");
  const other = await signIn(service, email);
  const params = { workspaceId };
  const call = (each: string) =>
    callDashboard(service, "GET /workspaces/:workspaceId/keys", { cookie: each, params });
  for (let n = 0; n < sessionCallsBurstMax; n += 1) {
    assert.equal((await call(cookie)).status, 200, `call ${n + 1}`);
  }
  const refused = await call(cookie);
  assert.deepEqual([refused.status, refused.json.error.code], [429, "rate_limited"]);
  assert.equal(refused.headers["retry-after"], "1");
  assert.match(refused.json.error.message, /more than it may.*Wait a second, then try again\.$/);
  const me = await callDashboard(service, "GET /me", { cookie });
  assert.equal(me.status, 429, "whatever it asks for");
  assert.equal((await call(other)).status, 200);
  nowMs += 1_000;
  for (let n = 0; n < sessionCallsPerMinuteMax / 60; n += 1) {
    assert.equal((await call(cookie)).status, 200);
  }
  assert.equal((await call(cookie)).status, 429);
});

test("nobody's mailbox is filled with news of passkeys: a person adds few within an hour, in all sessions", async () => {
  const { email, cookie } = await makePerson("collector@example.com");
  const other = await signIn(service, email);
  const begin = (each: string) =>
    callDashboard(service, "POST /me/passkeys/begin", { cookie: each });
  for (let n = 0; n < passkeysBegunPerHourMax; n += 1) {
    assert.equal((await begin(cookie)).status, 200, `call ${n + 1}`);
  }
  for (const each of [cookie, other]) {
    const refused = await begin(each);
    assert.deepEqual([refused.status, refused.json.error.code], [429, "rate_limited"]);
    assert.equal(refused.headers["retry-after"], String(3_600 / passkeysBegunPerHourMax));
  }
  assert.equal((await callDashboard(service, "GET /me", { cookie })).status, 200);
});
