// Clicks that come over HTTP: only what a connected app has signed, just now, is looked at.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { slackCallsLimit, slackInteractionBytesMax } from "../src/domain/channels/slack-limits.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import { signatureOf } from "./fake-slack/interactions.ts";
import type { Json, SlackApp } from "./fake-slack/slack-state.ts";
import { hangMs } from "./patience.ts";
import { startService, type TestService } from "./test-service.ts";
import { answersOf, connect, patient } from "./test-slack.ts";

let slack: FakeSlack;
let node: TestService;

before(async () => {
  slack = await FakeSlack.start({ messageEveryMs: 0, ackMs: hangMs, triggerMs: hangMs });
  node = await startService({ slackApiUrl: slack.apiUrl, slackPatience: patient });
});

after(async () => {
  await node.stop();
  await slack.stop();
});

const nowSeconds = () => Math.floor(Date.now() / 1_000);

function formOf(payload: Json): string {
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

/** A call with what Slack would send, unless told otherwise. */
function send(
  app: SlackApp,
  body: string,
  {
    secret = app.signingSecret,
    timestamp = nowSeconds(),
    headers = {},
  }: { secret?: string; timestamp?: number | string; headers?: Record<string, string> } = {},
) {
  return post(node, body, {
    "content-type": "application/x-www-form-urlencoded",
    "x-slack-request-timestamp": String(timestamp),
    "x-slack-signature": signatureOf(secret, timestamp, body),
    ...headers,
  });
}

async function post({ app }: TestService, body: string, headers: Record<string, string> = {}) {
  const request = { method: "POST", url: "/slack/interactions", headers, payload: body } as const;
  const { statusCode: status, body: text } = await app.inject(request);
  return { status, text };
}

test("a forged, an old and a future call learn nothing and do nothing", async () => {
  const world = await connect({ slack, node, transport: "http" });
  const bySocket = await connect({ slack, node, transport: "socket" });
  const ann = await world.linked("ann@example.com");
  const { card } = await world.ask();
  const body = formOf(slack.clickPayload(ann, card, "countersign_approve"));
  const { app } = world;
  const refused = [
    await send(app, body, { secret: "0".repeat(32) }),
    await send(app, body, { secret: "" }),
    // The secret of a workspace that is connected by socket proves nothing here.
    await send(app, body, { secret: bySocket.app.signingSecret }),
    await send(app, body, { timestamp: nowSeconds() - 310 }),
    await send(app, body, { timestamp: nowSeconds() + 310 }),
    await send(app, body, { timestamp: "soon" }),
    await send(app, body, { timestamp: "" }),
    await send(app, body, { timestamp: "1e9" }),
    await send(app, body, { headers: { "x-slack-signature": "" } }),
    await send(app, body, { headers: { "x-slack-signature": "v0=" } }),
    await send(app, body, { headers: { "x-slack-signature": `v1=${"0".repeat(64)}` } }),
    await send(app, `${body}&x=1`, {
      headers: { "x-slack-signature": signatureOf(app.signingSecret, nowSeconds(), body) },
    }),
    await post(node, body),
    await send(app, formOf({ type: "block_actions" })),
    await send(app, formOf({ type: "block_actions", api_app_id: "A_UNKNOWN" })),
    await send(app, formOf([app.id])),
    // No database takes this character.
    await send(app, formOf({ type: "block_actions", api_app_id: `${app.id}\u0000` })),
    await send(app, formOf({ type: "block_actions", api_app_id: "\ud800" })),
  ];
  for (const reply of refused) {
    assert.equal(reply.status, 401);
    assert.equal(reply.text, refused[0]?.text, "all of them are told the same");
  }
  assert.deepEqual(slack.openViews(ann), []);
  assert.deepEqual(answersOf(slack, ann), []);
  for (const seconds of [-290, 290]) {
    const reply = await send(app, body, { timestamp: nowSeconds() + seconds });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.text, "");
  }
  assert.equal(slack.openViews(ann).length, 1);
});

test("one network's calls are limited, and what doesn't look signed isn't even read", async () => {
  const other = await startService({ clock: () => 0 });
  try {
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": String(nowSeconds()),
      "x-slack-signature": `v0=${"0".repeat(64)}`,
    };
    // Larger than any call that is read, and refused for its headers alone.
    const unsigned = { ...headers, "x-slack-signature": "v0=zz" };
    const huge = "x".repeat(slackInteractionBytesMax + 1);
    assert.equal((await post(other, huge, unsigned)).status, 401);
    for (let count = 0; count < slackCallsLimit.burst; count += 1) {
      assert.equal((await post(other, "payload=7", headers)).status, 401);
    }
    const limited = await post(other, "payload=7", headers);
    assert.deepEqual([limited.status, /Retry-After/.test(limited.text)], [429, true]);
  } finally {
    await other.stop();
  }
});

test("one workspace's signature proves nothing about another's card", async () => {
  const [world, other] = [
    await connect({ slack, node, transport: "http" }),
    await connect({ slack, node, transport: "http" }),
  ];
  const ann = await world.linked("ann@example.com");
  const { id, card } = await world.ask();
  const body = formOf(slack.clickPayload(ann, card, "countersign_approve"));
  assert.equal((await send(world.app, body, { secret: other.app.signingSecret })).status, 401);
  // Nor does a body that claims to be of the other's app, with the first one's team and card.
  const claimed = slack.clickPayload(ann, card, "countersign_approve");
  const foreign = formOf({ ...claimed, api_app_id: other.app.id });
  assert.equal((await send(other.app, foreign)).status, 200);
  assert.match(answersOf(slack, ann).join(), /belongs to another Slack workspace/);
  assert.deepEqual(slack.openViews(ann), []);
  assert.equal((await world.read(id)).status, "PENDING");
});

test("a call of a size that Slack never sends is refused", async () => {
  const { app } = await connect({ slack, node, transport: "http" });
  const body = formOf({ type: "block_actions", pad: "x".repeat(1_100_000) });
  assert.equal((await send(app, body)).status, 413);
  const large = formOf({ api_app_id: app.id, pad: "x".repeat(900_000) });
  assert.equal((await send(app, large)).status, 200);
});

test("whatever Slack sends is answered, and nothing of it is a fault", async () => {
  const { app } = await connect({ slack, node, transport: "http" });
  for (const body of ["", "payload", "payload=", "payload=%7B", "payload=null", "%", "\u0000"]) {
    assert.equal((await send(app, body)).status, 401, body);
  }
  const known = fc.constantFrom(
    ...["type", "user", "team", "id", "view", "actions", "api_app_id", "state", "values", "value"],
    ...["callback_id", "private_metadata", "action_id", "trigger_id", "__proto__", "constructor"],
    ...["response_url", "container", "channel_id", "team_id", "is_enterprise_install"],
  );
  const leaf = fc.oneof(
    fc.constantFrom("block_actions", "view_submission", "countersign_approve", app.id, app.teamId),
    fc.constantFrom("countersign_decide", "countersign_link_code", "countersign_link"),
    fc.jsonValue(),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.dictionary(known, tie("tree"), { maxKeys: 8 }),
      fc.array(tie("tree"), { maxLength: 3 }),
    ),
  }));
  const payload = fc.tuple(fc.dictionary(known, tree), fc.boolean()).map(([some, isClick]) => ({
    ...some,
    type: isClick ? "block_actions" : "view_submission",
    user: { id: "U1" },
    team: { id: app.teamId },
    api_app_id: app.id,
  }));
  await fc.assert(
    fc.asyncProperty(payload, async (each) => {
      const reply = await send(app, formOf(each));
      assert.equal(reply.status, 200, reply.text);
    }),
    { numRuns: 200 },
  );
});
