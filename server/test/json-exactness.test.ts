import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { randomJsonText } from "./random-json.ts";
import { makeWorkspace, startService } from "./test-service.ts";

const service = await startService();
const { key } = await makeWorkspace(service.db);
after(() => service.stop());

type Texts = { payload: string; metadata: string; agentState: string };

function bodyOf({ payload, metadata, agentState }: Texts): string {
  return `{"summary":"s","notify":"a@b.co","payload":${payload},"metadata": ${metadata},"agentState" :${agentState}}`;
}

/** Cuts a member's text out of an answer by what stands around it, without reading it as JSON. */
function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start);
  assert.notEqual(from, -1, `${start} is missing`);
  const to = text.indexOf(end, from);
  assert.notEqual(to, -1, `${end} is missing`);
  return text.slice(from + start.length, to);
}

function assertEchoed(answer: string, { payload, metadata, agentState }: Texts): void {
  const expected = `"payload":${payload},"modifiedPayload":null,"effectivePayload":${payload},"metadata":${metadata},"agentState":${agentState},"reasoning":null`;
  assert.ok(answer.includes(expected), `${answer}\ndoes not hold\n${expected}`);
}

test("numbers, keys and escapes come back exactly as they were sent", async () => {
  const odd =
    '{"amount": 9007199254740993, "one":1.0,"huge":1E400,"zero":-0, "s":"\\u0000\\ud800\\u0061", "b":1,"2":2,"1":1,"__proto__":{"admin":true}}';
  const texts = { payload: odd, metadata: odd, agentState: odd };
  const created = await service.call("POST", "/v1/requests", { key, body: bodyOf(texts) });
  assert.equal(created.status, 201);
  const read = await service.call("GET", `/v1/requests/${created.json.id}`, { key });
  const listed = await service.call("GET", "/v1/requests?limit=1", { key });
  for (const { text } of [created, read, listed]) assertEchoed(text, texts);
  assert.equal(between(read.text, '"payload":', ',"modifiedPayload"'), odd);
});

test("for random JSON texts, payload, metadata and agentState are echoed as sent", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomJsonText,
      randomJsonText,
      randomJsonText,
      async (payload, metadata, agentState) => {
        const texts = { payload, metadata, agentState };
        const created = await service.call("POST", "/v1/requests", { key, body: bodyOf(texts) });
        assert.equal(created.status, 201, created.text);
        assertEchoed(created.text, texts);
        const read = await service.call("GET", `/v1/requests/${created.json.id}`, { key });
        assert.equal(read.text, created.text);
      },
    ),
    { numRuns: 300 },
  );
});

test("values larger than what travels with others come back exactly too", async () => {
  const payload = JSON.stringify({ rows: "x".repeat(3_000_000) });
  const agentState = `"${"é".repeat(131_000)}"`;
  const texts = { payload, metadata: "[1.0]", agentState };
  const created = await service.call("POST", "/v1/requests", { key, body: bodyOf(texts) });
  assert.equal(created.status, 201);
  const read = await service.call("GET", `/v1/requests/${created.json.id}`, { key });
  assertEchoed(read.text, texts);
});
