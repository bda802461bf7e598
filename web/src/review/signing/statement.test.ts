import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { shownText } from "../../../../server/src/domain/shown/shown-text.ts";
import type { Review } from "../../../../server/src/wire/review-contract.ts";
import { challengeOf, fromBase64url, statementOf, toBase64url } from "./statement.ts";

const signing = {
  needed: true,
  rpId: "approvals.example",
  workspace: "ws_1",
  audience: ["https://payments.example"],
  checkpoint: "approvals.example/log/ws_1\n7\nroot\n",
  credentials: [],
};

const review = {
  id: "req_1",
  summary: "Pay",
  agentName: null,
  reasoning: null,
  recentActions: [],
  requestedBy: null,
  payload: '{"amount": 9007199254740993}',
  workspaceName: "Acme",
  groupName: null,
  expiresAt: "2026-01-01T00:00:00.000Z",
} as unknown as Review;

const sha256 = (text: string) => hash("sha256", text, "base64url");

test("the page signs what it shows and what will be executed", async () => {
  const edit = ' {"amount": 1}\n';
  const text = await statementOf(review, signing, { verdict: "approve", edit });
  assert.deepEqual(JSON.parse(text), {
    request: "req_1",
    workspace: "ws_1",
    verdict: "approve",
    revision: 1,
    payload: sha256('{"amount": 9007199254740993}'),
    effective: sha256('{"amount": 1}'),
    shown: sha256(shownText(review)),
    audience: ["https://payments.example"],
    expires: "2026-01-01T00:00:00.000Z",
    checkpoint: "approvals.example/log/ws_1\n7\nroot\n",
  });
});

test("of a text that an approver changed, that revision is signed", async () => {
  const change = { revision: 3, payload: '{"amount":2}', byEmail: "bob@example.com", at: "" };
  const voting = { revision: 3 } as Review["voting"];
  const later = { ...review, change, voting } as Review;
  const text = await statementOf(later, signing, { verdict: "approve", edit: null });
  const { revision, payload, effective } = JSON.parse(text);
  assert.deepEqual(
    [revision, payload, effective],
    [3, sha256(review.payload ?? ""), sha256('{"amount":2}')],
  );
});

test("a rejection executes nothing", async () => {
  const text = await statementOf(review, signing, { verdict: "reject", edit: null });
  assert.equal(JSON.parse(text).effective, null);
});

test("the passkey is asked for the hash of the text with its prefix", async () => {
  const challenge = toBase64url(await challengeOf("{}"));
  assert.equal(challenge, sha256("countersign decision v1\0{}"));
});

test("base64url comes back as it was", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  assert.deepEqual(fromBase64url(toBase64url(bytes.buffer)), bytes);
  assert.equal(toBase64url(bytes.buffer), Buffer.from(bytes).toString("base64url"));
});
