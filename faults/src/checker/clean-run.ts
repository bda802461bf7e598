// The evidence of a clean run, for tests to spoil: each shows one wrong that the checker must notice.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import type { Evidence, RequestRow } from "../evidence.ts";
import { check } from "./check.ts";
import { expectedBody } from "./webhooks.ts";

export const secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ";
export const payload = String.raw`{"order": 1, "amount": 9007199254740993, "note": "caf\u00e9 \/ bar"}`;
export const edit = '{"amount": 1.0}';
export const [createdAt, decidedAt, expiresAt] = [1_000_000, 1_005_000, 1_060_000];
const iso = (at: number) => `"${new Date(at).toISOString()}"`;

const common = `"metadata":null,"agentState":null,"reasoning":null,"recentActions":[],"agentName":null,"approverEmail":"ann@example.com","approverGroup":null`;
const head = '{"id":"req_1","object":"approval_request",';
export const pending = `${head}"status":"PENDING","summary":"Refund tag-1-1","payload":${payload},"modifiedPayload":null,"effectivePayload":${payload},${common},"resolvedAt":null,"resolvedByEmail":null,"resolutionNote":null,"expiresAt":${iso(expiresAt)},"createdAt":${iso(createdAt)}}`;
export const approved = `${head}"status":"APPROVED","summary":"Refund tag-1-1","payload":${payload},"modifiedPayload":${edit},"effectivePayload":${edit},${common},"resolvedAt":${iso(decidedAt)},"resolvedByEmail":"ann@example.com","resolutionNote":null,"expiresAt":${iso(expiresAt)},"createdAt":${iso(createdAt)}}`;

/** One request that was asked for twice under one key, approved with an edit, told to one receiver, and read. */
export function cleanRun(): Evidence {
  const asked = { workspaceId: "ws_1", idempotencyKey: "k1", summary: "Refund tag-1-1", payload };
  const ids = { workspaceId: "ws_1", requestId: "req_1" };
  const request = {
    ...{ id: "req_1", workspaceId: "ws_1", idempotencyKey: "k1", status: "APPROVED" },
    ...{ summary: asked.summary, payload, edit, createdAt, expiresAt, resolvedAt: decidedAt },
    ...{ resolvedBy: "ann@example.com", answer: approved },
  };
  const events = [
    { ...ids, id: "evt_1", kind: "request.created", createdAt },
    { ...ids, id: "evt_2", kind: "request.approved", createdAt: decidedAt },
  ];
  const settled = { workspaceId: "ws_1", state: "delivered", dueAt: createdAt, leasedUntil: null };
  const heardOf = (n: number, event: (typeof events)[number], answered: number | null) => {
    const body = expectedBody(event, request);
    const headers = signedHeaders({ id: `dlv_${n}`, kind: event.kind, body, at: createdAt });
    return { at: createdAt, endpointId: "we_1", headers, body, answered };
  };
  const attempt = (deliveryId: string, number: number, outcome: string) => ({
    ...{ deliveryId, number, outcome, startedAt: createdAt },
  });
  const [first, second] = events as [(typeof events)[number], (typeof events)[number]];
  const by = { at: decidedAt - 100, endedAt: decidedAt + 100, node: 0 };
  return {
    ...{ faultsEndedAt: 2_000_000, readAt: 2_100_000 },
    workspaces: [
      { id: "ws_1", endpoints: [{ id: "we_1", secret }] },
      { id: "ws_2", endpoints: [] },
    ],
    creates: [null, 201].map((status) => ({
      ...{ ...asked, approver: "ann@example.com", node: 0 },
      ...{ at: createdAt - 9, endedAt: createdAt + 9 },
      ...{ status, answer: status === null ? null : pending },
    })),
    reads: [
      {
        ...ids,
        ...by,
        at: decidedAt + 200,
        endedAt: decidedAt + 300,
        status: 200,
        answer: approved,
      },
    ],
    cancels: [],
    opens: [],
    decisions: [
      {
        ...{ summary: asked.summary, email: "ann@example.com", verdict: "approve", edit, ...by },
        ...{ status: 200, answer: "{}" },
      },
    ],
    heard: [heardOf(1, first, 200), heardOf(2, second, null), heardOf(2, second, 204)],
    mails: [
      { at: createdAt, to: "ann@example.com", text: "Subject: Refund tag-1-1", isTaken: true },
    ],
    requests: [request],
    events,
    deliveries: [
      { ...settled, id: "dlv_1", eventId: "evt_1", endpointId: "we_1", attempts: 1 },
      { ...settled, id: "dlv_2", eventId: "evt_2", endpointId: "we_1", attempts: 2 },
      { ...settled, id: "dlv_3", eventId: "evt_1", endpointId: null, attempts: 1 },
    ],
    attempts: [
      attempt("dlv_1", 1, "delivered"),
      attempt("dlv_2", 1, "interrupted"),
      attempt("dlv_2", 2, "delivered"),
      attempt("dlv_3", 1, "delivered"),
    ],
    outputs: [{ process: "api 1", text: "listening" }],
    secrets: [{ name: "an endpoint's secret", value: secret }],
  };
}

type Other = { status: string; resolvedAt: number | null; resolvedBy?: string };

/** A request beside the first, in a workspace without receivers. Answers its row. */
export function addRequest(run: Evidence, { status, resolvedAt, resolvedBy }: Other): RequestRow {
  const n = run.requests.length + 1;
  const workspaceId = "ws_2";
  const [id, idempotencyKey, summary] = [`req_${n}`, `k${n}`, `Refund tag-1-${n}`];
  const approver = "bob@example.com";
  const ends = { resolvedAt, resolvedBy: resolvedBy ?? null };
  const text = (value: string | null) => (value === null ? "null" : `"${value}"`);
  const answerOf = (state: string, at: number | null, by: string | null) =>
    pending
      .replace('"req_1"', `"${id}"`)
      .replace('"PENDING"', `"${state}"`)
      .replace("tag-1-1", `tag-1-${n}`)
      .replace("ann@example.com", approver)
      .replace('"resolvedAt":null', `"resolvedAt":${at === null ? null : iso(at)}`)
      .replace('"resolvedByEmail":null', `"resolvedByEmail":${text(by)}`);
  const row = {
    ...{ id, workspaceId, idempotencyKey, status, summary, payload, edit: null, createdAt },
    ...{ expiresAt, ...ends, answer: answerOf(status, resolvedAt, ends.resolvedBy) },
  };
  run.requests.push(row);
  run.creates.push({
    ...{ workspaceId, idempotencyKey, summary, payload, approver, node: 0 },
    ...{ at: createdAt - 9, endedAt: createdAt + 9, status: 201 },
    answer: answerOf("PENDING", null, null),
  });
  const event = { workspaceId, requestId: id };
  run.events.push({ ...event, id: `evt_${n}_1`, kind: "request.created", createdAt });
  if (resolvedAt !== null) {
    const kind = `request.${status.toLowerCase()}`;
    run.events.push({ ...event, id: `evt_${n}_2`, kind, createdAt: resolvedAt });
  }
  const mail = { id: `dlv_mail_${n}`, workspaceId, eventId: `evt_${n}_1`, endpointId: null };
  run.deliveries.push({
    ...mail,
    ...{ state: "delivered", dueAt: createdAt, attempts: 1, leasedUntil: null },
  });
  run.attempts.push({
    ...{ deliveryId: mail.id, number: 1, startedAt: createdAt, outcome: "delivered" },
  });
  run.mails.push({ at: createdAt, to: approver, text: `Subject: ${summary}`, isTaken: true });
  return row;
}

export function addExpired(run: Evidence): RequestRow {
  return addRequest(run, { status: "EXPIRED", resolvedAt: expiresAt });
}

/** Cancelled by its agent. */
export function addCancelled(run: Evidence): RequestRow {
  const row = addRequest(run, { status: "CANCELLED", resolvedAt: decidedAt });
  run.cancels.push({
    ...{ workspaceId: row.workspaceId, requestId: row.id, node: 0 },
    ...{ at: decidedAt - 9, endedAt: decidedAt + 9, status: 200, answer: row.answer },
  });
  return row;
}

type ToSign = { id: string; kind: string; body: string; at: number };

/** As the contract says: by the secret's text, and by the bytes that it encodes. */
export function signedHeaders({ id, kind, body, at }: ToSign): Record<string, string> {
  const time = Math.floor(at / 1_000);
  const sign = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);
  const bytes = Buffer.from(secret.slice("whsec_".length), "base64");
  return {
    "x-service-event": kind,
    "x-service-delivery-id": id,
    "x-service-signature": `t=${time},v1=${sign(secret, `${time}.${body}`).digest("hex")}`,
    "webhook-id": id,
    "webhook-timestamp": String(time),
    "webhook-signature": `v1,${sign(bytes, `${id}.${time}.${body}`).digest("base64")}`,
  };
}

/** What is done to the evidence, and the promise that is then broken. */
export type Wrongs = Record<string, [spoil: (run: Evidence) => void, promise: RegExp]>;

export function testEach(wrongs: Wrongs): void {
  for (const [wrong, [spoil, promise]] of Object.entries(wrongs)) {
    test(wrong, () => {
      const run = cleanRun();
      spoil(run);
      const broken = check(run).map((flaw) => flaw.promise);
      assert.ok(
        broken.some((each) => promise.test(each)),
        `${promise} isn't among ${broken}`,
      );
    });
  }
}

export const nth = <Value>(values: Value[], n: number): Value => values[n] as Value;
