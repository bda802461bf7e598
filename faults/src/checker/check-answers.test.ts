// What the checker must notice of answers, outcomes and people, each shown by evidence in which one thing is wrong.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Evidence } from "../evidence.ts";
import { check } from "./check.ts";
import {
  addCancelled,
  addExpired,
  addRequest,
  approved,
  cleanRun,
  createdAt,
  decidedAt,
  edit,
  expiresAt,
  nth,
  payload,
  pending,
  testEach,
  type Wrongs,
} from "./clean-run.ts";

test("a clean run with each outcome has no flaw", () => {
  const run = cleanRun();
  addExpired(run);
  addCancelled(run);
  assert.deepEqual(check(run), []);
});

const early = decidedAt - 200;

/** What an agent read before the decision. */
function readEarly(run: Evidence, answer: string | null, status = 200): void {
  run.reads.push({ ...nth(run.reads, 0), at: early, endedAt: early + 1, status, answer });
}

/** The approval of the first request is by nobody who could. */
function decideBy(run: Evidence, change: object): void {
  Object.assign(nth(run.decisions, 0), change);
}

const wrongs: Wrongs = {
  "a pending request is read with another's payload": [
    (run) => readEarly(run, pending.replaceAll('"order": 1', '"order": 2')),
    /bytes are as they were sent/,
  ],
  "a read is answered with another request": [
    (run) => readEarly(run, pending.replace("req_1", "req_2")),
    /workspaces don't cross/,
  ],
  "a pending request is read with an edit": [
    (run) => readEarly(run, pending.replace('"modifiedPayload":null', `"modifiedPayload":${edit}`)),
    /answers say what is stored/,
  ],
  "an acknowledged request is not found later": [
    (run) => readEarly(run, '{"error":{"code":"not_found"}}', 404),
    /acknowledged create is there/,
  ],
  "a read request is gone": [
    (run) => run.reads.push({ ...nth(run.reads, 0), requestId: "req_9" }),
    /acknowledged create is there/,
  ],
  "an acknowledged decision is about a request that is gone": [
    (run) => run.decisions.push({ ...nth(run.decisions, 0), summary: "Refund tag-1-9" }),
    /what was acknowledged stays/,
  ],
  "the last answer is another outcome than the stored one": [
    (run) => {
      const row = addExpired(run);
      row.answer = row.answer.replace("EXPIRED", "CANCELLED");
    },
    /answers say what is stored/,
  ],
  "the last answer names another person than the stored one": [
    (run) => {
      const row = nth(run.requests, 0);
      row.answer = row.answer.replace('"resolvedByEmail":"ann', '"resolvedByEmail":"eve');
      run.reads.splice(0);
    },
    /answers say what is stored/,
  ],
  "a request is stored with another summary than was sent": [
    (run) => {
      for (const call of run.creates) call.summary = "Refund tag-1-1 (1 EUR)";
    },
    /bytes are as they were sent/,
  ],
  "another person is asked than was named": [
    (run) => {
      for (const call of run.creates) call.approver = "eve@example.com";
    },
    /bytes are as they were sent/,
  ],
  "a repeated create is answered with another end than the request has": [
    (run) =>
      run.creates.push({
        ...nth(run.creates, 1),
        answer: approved.replace("APPROVED", "REJECTED"),
      }),
    /what was acknowledged stays/,
  ],
  "a create without a flaw is refused": [
    (run) => run.creates.push({ ...nth(run.creates, 0), status: 422, answer: "{}" }),
    /nothing is refused without a reason/,
  ],
  "a known key is refused": [
    (run) => readEarly(run, "{}", 401),
    /nothing is refused without a reason/,
  ],
  "the only decision was refused, and the request is approved": [
    (run) => decideBy(run, { status: 409 }),
    /nothing is decided but by a person/,
  ],
  "a request was approved before anybody had sent that": [
    (run) => decideBy(run, { at: decidedAt + 1_000, endedAt: decidedAt + 1_100 }),
    /nothing is decided but by a person/,
  ],
  "a decision was accepted before it was made": [
    (run) => decideBy(run, { endedAt: decidedAt - 50 }),
    /nothing is decided but by a person/,
  ],
  "an accepted decision is another person's": [
    (run) => run.decisions.push({ ...nth(run.decisions, 0), email: "eve@example.com" }),
    /what was acknowledged stays/,
  ],
  "the only cancellation was refused": [
    (run) => {
      addCancelled(run);
      Object.assign(nth(run.cancels, 0), { status: 409 });
    },
    /nothing is decided but by a person/,
  ],
  "another workspace's agent cancelled": [
    (run) => {
      addCancelled(run);
      Object.assign(nth(run.cancels, 0), { workspaceId: "ws_1" });
    },
    /nothing is decided but by a person/,
  ],
  "it was cancelled before anybody had sent that": [
    (run) => {
      addCancelled(run);
      Object.assign(nth(run.cancels, 0), { at: decidedAt + 1_000, endedAt: decidedAt + 1_100 });
    },
    /nothing is decided but by a person/,
  ],
  "it was cancelled after its end": [
    (run) => {
      const row = addCancelled(run);
      row.resolvedAt = expiresAt;
    },
    /nothing is decided after its end/,
  ],
  "a cancelled request was decided by somebody": [
    (run) => {
      addCancelled(run).resolvedBy = "bob@example.com";
    },
    /nothing is decided but by a person/,
  ],
  "an expired request has an edit": [
    (run) => {
      addExpired(run).edit = edit;
    },
    /nothing is decided but by a person/,
  ],
  "it expired before its end": [
    (run) => {
      const row = addExpired(run);
      const call = { ...nth(run.reads, 0), workspaceId: row.workspaceId, requestId: row.id };
      run.reads.push({ ...call, at: early, endedAt: early + 1, answer: row.answer });
    },
    /ends at its end/,
  ],
  "it has expired, and its end is to come": [
    (run) => {
      addExpired(run);
      run.readAt = expiresAt - 1;
    },
    /ends at its end/,
  ],
  "it is read as pending after its end": [
    (run) => {
      const row = addExpired(run);
      const call = { ...nth(run.reads, 0), workspaceId: row.workspaceId, requestId: row.id };
      const answer = nth(run.creates, run.creates.length - 1).answer;
      run.reads.push({ ...call, at: expiresAt + 1, endedAt: expiresAt + 9, answer });
    },
    /ends at its end/,
  ],
  "it was made before anybody asked": [
    (run) => {
      for (const call of run.creates) call.at = createdAt + 500;
    },
    /bytes are as they were sent/,
  ],
  "an event is another workspace's than its request": [
    (run) => {
      nth(run.events, 0).workspaceId = "ws_2";
    },
    /workspaces don't cross/,
  ],
  "an event is about no request": [
    (run) => run.events.push({ ...nth(run.events, 0), id: "evt_9", requestId: "req_9" }),
    /one final state and one event/,
  ],
  "nobody was to be asked": [
    (run) => {
      run.deliveries = run.deliveries.filter(({ endpointId }) => endpointId !== null);
    },
    /people are asked/,
  ],
  "a mail is about a request that is not there": [
    (run) => run.mails.push({ ...nth(run.mails, 0), text: "Subject: Refund tag-1-9" }),
    /people are asked/,
  ],
  "a mail that was not taken went to somebody else": [
    (run) => run.mails.push({ ...nth(run.mails, 0), to: "eve@example.com", isTaken: false }),
    /people are asked/,
  ],
  "no create was acknowledged": [
    (run) => {
      for (const call of run.creates) call.status = 503;
    },
    /something to judge/,
  ],
  "no decision was accepted": [(run) => decideBy(run, { status: 503 }), /something to judge/],
};

describe("it is noticed that", () => testEach(wrongs));

test("a call without an answer may have done its work, or not", () => {
  const run = cleanRun();
  addRequest(run, { status: "REJECTED", resolvedAt: decidedAt, resolvedBy: "bob@example.com" });
  const { summary } = nth(run.requests, 1);
  const sent = { ...nth(run.decisions, 0), summary, email: "bob@example.com", edit: null };
  const rejection = { ...sent, verdict: "reject" as const };
  run.decisions.push({ ...rejection, status: 503, answer: "{}" });
  run.decisions.push({ ...rejection, status: 409, at: decidedAt + 1, endedAt: decidedAt + 9 });
  run.creates.push({ ...nth(run.creates, 0), status: 503, answer: "{}" });
  assert.deepEqual(check(run), []);
  assert.equal(nth(run.requests, 1).payload, payload);
});
