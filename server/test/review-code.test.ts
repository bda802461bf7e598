// Links that ask for a code: nothing of the request without it, and ten wrong ones lock the link for good.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import {
  decide,
  decisionBody,
  findReviewer,
  getReview,
  openReview,
  postReview,
  reviewDataOf,
} from "./test-review.ts";
import { makeWorkspace, startNode, startService } from "./test-service.ts";

const service = await startService();
const otherNode = await startNode(service.database);
const { db, app } = service;
after(async () => {
  await otherNode.stop();
  await service.stop();
});

const body = {
  summary: "hush-summary",
  notify: "ann@example.com",
  payload: { hush: "payload" },
  agentName: "hush-agent",
  reasoning: "hush-reasoning",
  recentActions: ["hush-action"],
};

async function ask(reviewCode = true) {
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "Acme", reviewCode });
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  const { token, code } = await findReviewer(db, json.id);
  return { workspaceId, key, id: json.id as string, token, code };
}

type Asked = Awaited<ReturnType<typeof ask>>;

async function statusOf({ key, id }: Asked): Promise<string> {
  return (await service.call("GET", `/v1/requests/${id}`, { key })).json.status;
}

async function triesOf({ id }: Asked): Promise<number> {
  const { rows } = await db.query("select code_tries from reviewers where approval_id = $1", [id]);
  return rows[0].code_tries;
}

test("without the code nothing of the request is told, by any call", async () => {
  const asked = await ask();
  const { text, status } = await getReview(app, asked.token);
  assert.equal(status, 200);
  assert.deepEqual(reviewDataOf(text), { kind: "code", workspaceName: "Acme", triesLeft: 10 });
  const bodies = ["{}", '{"code":null}', '{"code":""}', '{"code":" -\\n"}', '{"code":"WRONG1"}'];
  const answers = [text];
  for (const sent of bodies) {
    for (const action of ["open", "status"]) {
      const reply = await postReview(app, `${asked.token}/${action}`, sent);
      assert.deepEqual([reply.status, reply.json.error.code], [403, "wrong_code"]);
      answers.push(reply.text);
    }
  }
  const decision = { verdict: "approve", digest: "0".repeat(64), ticket: "x" };
  answers.push((await postReview(app, `${asked.token}/decision`, decision)).text);
  for (const answer of answers) assert.doesNotMatch(answer, /hush|ann@|req_|expiresAt|ticket/);
  assert.equal(await triesOf(asked), 2, "only a code that was typed is a try");
  assert.equal(await statusOf(asked), "PENDING");
});

test("the code opens the page as its reader types it, and costs no try", async () => {
  const asked = await ask();
  const { code } = asked;
  for (const typed of [code, code.toLowerCase(), ` ${code.slice(0, 3)}-${code.slice(3)} `]) {
    const review = await openReview(app, asked.token, typed);
    assert.deepEqual([review.summary, review.payload], ["hush-summary", '{"hush":"payload"}']);
    const status = await postReview(app, `${asked.token}/status`, { code: typed });
    assert.deepEqual([status.status, status.json.outcome], [200, null]);
  }
  const many = await Promise.all(
    Array.from({ length: 50 }, () => postReview(app, `${asked.token}/status`, { code })),
  );
  assert.deepEqual([...new Set(many.map(({ status }) => status))], [200]);
  assert.equal(await triesOf(asked), 0);
});

test("a decision needs the code too", async () => {
  const asked = await ask();
  const review = await openReview(app, asked.token, asked.code);
  for (const code of [undefined, "WRONG1"]) {
    const choice = { verdict: "approve", ...(code === undefined ? {} : { code }) } as const;
    const sent = decisionBody(review, choice);
    const reply = await postReview(app, `${asked.token}/decision`, sent);
    assert.deepEqual([reply.status, reply.json.error.code], [403, "wrong_code"]);
    assert.equal(reply.json.triesLeft, code === undefined ? 10 : 9);
  }
  assert.equal(await statusOf(asked), "PENDING");
  const { code } = asked;
  assert.equal((await decide(app, asked.token, { verdict: "approve", code })).status, 200);
  assert.equal(await statusOf(asked), "APPROVED");
  assert.equal(reviewDataOf((await getReview(app, asked.token)).text).kind, "code");
});

test("each wrong code counts down, and after ten the right one opens nothing either", async () => {
  const asked = await ask();
  for (let triesLeft = 9; triesLeft >= 0; triesLeft -= 1) {
    const reply = await postReview(app, `${asked.token}/open`, { code: `WRONG${triesLeft}` });
    assert.deepEqual([reply.status, reply.json.error.code], [403, "wrong_code"]);
    assert.equal(reply.json.triesLeft, triesLeft);
    const page = reviewDataOf((await getReview(app, asked.token)).text);
    assert.deepEqual(page, { kind: "code", workspaceName: "Acme", triesLeft });
    if (triesLeft > 0) await openReview(app, asked.token, asked.code);
  }
  for (const code of [asked.code, "WRONG1", undefined]) {
    for (const action of ["open", "status"]) {
      const reply = await postReview(app, `${asked.token}/${action}`, { code });
      assert.deepEqual([reply.status, reply.json.error.code], [403, "link_locked"]);
      assert.match(reply.json.error.message, /Nothing was decided/);
    }
  }
  assert.equal(await triesOf(asked), 10);
  assert.equal(await statusOf(asked), "PENDING");
});

test("200 wrong codes at once are told apart ten times, and then no code is", async () => {
  const asked = await ask();
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, n) => {
      const node = n % 2 === 0 ? service : otherNode;
      const action = n % 3 === 0 ? "status" : "open";
      return postReview(node.app, `${asked.token}/${action}`, { code: `W${n}` });
    }),
  );
  const codes = replies.map(({ json }) => json.error.code);
  assert.equal(codes.filter((code) => code === "wrong_code").length, 10);
  assert.equal(codes.filter((code) => code === "link_locked").length, 190);
  const left = replies.flatMap(({ json }) => json.triesLeft ?? []);
  assert.deepEqual(left.sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(await triesOf(asked), 10);
  const right = await postReview(app, `${asked.token}/open`, { code: asked.code });
  assert.equal(right.json.error.code, "link_locked");
});

test("one link's wrong codes lock no other, and a link without a code asks for none", async () => {
  const [locked, fine] = [await ask(), await ask()];
  await db.query("update reviewers set code_tries = 10 where approval_id = $1", [locked.id]);
  assert.equal((await openReview(app, fine.token, fine.code)).summary, "hush-summary");
  const open = await ask(false);
  for (const sent of ["{}", '{"code":"WRONG1"}']) {
    assert.equal((await postReview(app, `${open.token}/status`, sent)).status, 200);
    const opened = await postReview(app, `${open.token}/open`, sent);
    assert.deepEqual([opened.status, opened.json.kind], [200, "review"]);
  }
  assert.equal(await triesOf(open), 0);
});

test("a code whose key is gone cannot be checked, which costs no try and says so", async () => {
  const asked = await ask();
  const keyring = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  const node = await startNode(service.database, { keyring });
  try {
    const reply = await postReview(node.app, `${asked.token}/open`, { code: asked.code });
    assert.deepEqual([reply.status, reply.json.error.code], [403, "link_locked"]);
    assert.match(reply.json.error.message, /no longer has the key/);
    assert.equal(await triesOf(asked), 0);
  } finally {
    await node.stop();
  }
});

test("a body that holds no code is refused by the name of what is wrong", async () => {
  const asked = await ask();
  const cases: [string, string, RegExp][] = [
    ["", "invalid_json", /empty/],
    ["{", "invalid_json", /not valid JSON/],
    ["[]", "validation_error", /JSON object/],
    ['{"code":1}', "validation_error", /^code: must be a string, not a number/],
    ['{"code":"a","code":"b"}', "validation_error", /^code: appears more than once/],
  ];
  for (const [sent, code, pattern] of cases) {
    const reply = await postReview(app, `${asked.token}/open`, sent);
    assert.deepEqual([reply.status, reply.json.error.code], [400, code]);
    assert.match(reply.json.error.message, pattern);
  }
  assert.equal(await triesOf(asked), 0);
});
