import assert from "node:assert/strict";
import { AsyncResource } from "node:async_hooks";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { Span as OtelSpan, Tracer as OtelTracer } from "@opentelemetry/api";
import { asked, inOwnSpan, traceFacts } from "../database/current-span.ts";
import type { TracedCall } from "../domain/tracer.ts";
import { makeTracer } from "./otel-tracer.ts";

const call: TracedCall = {
  method: "GET",
  route: "/v1/requests",
  traceparent: undefined,
  isAgent: true,
  within: null,
};
const traceId = "0af7651916cd43dd8448eb211c80319c";

/** OpenTelemetry as it would be if it threw wherever it is told to. */
function makeOtel(throwing: "never" | "starting" | "ending" | "naming"): OtelTracer {
  const fail = (when: string) => {
    if (throwing === when) throw new TypeError("hush: a fault of OpenTelemetry");
  };
  const span = {
    isRecording: () => true,
    spanContext: () => {
      fail("naming");
      return { traceId, spanId: "b7ad6b7169203331", traceFlags: 1 };
    },
    setAttribute: () => fail("ending"),
    setStatus: () => fail("ending"),
    end: () => fail("ending"),
  };
  return {
    startSpan: () => {
      fail("starting");
      return span as unknown as OtelSpan;
    },
  } as unknown as OtelTracer;
}

for (const throwing of ["starting", "ending", "naming"] as const) {
  test(`a fault of OpenTelemetry in ${throwing} costs the span, and is told without its message`, async () => {
    const told: string[] = [];
    const tell = (why: string) => told.push(why);
    const tracer = makeTracer(makeOtel(throwing), { takesTraceparent: true, tell });
    const span = tracer.call(call);
    const inner = tracer.call({ ...call, within: span });
    inner.ask("approvals.find")?.end({ fault: "23514" });
    inner.end({ status: 200 });
    span.end({ status: 500, fault: "500" });
    let answer = "";
    await inOwnSpan(tracer.attempt("webhook"), async () => {
      answer = await asked("deliveries.claim", async () => "committed");
      return { outcome: "delivered" };
    });
    assert.equal(answer, "committed");
    assert.deepEqual([...new Set(told)], ["OpenTelemetry threw TypeError"]);
  });
}

test("what outlives its work names no trace, and asks for no part of it", async () => {
  const tracer = makeTracer(makeOtel("never"), { takesTraceparent: true, tell: assert.fail });
  const span = tracer.call(call);
  const facts: object[] = [];
  const note = () => facts.push(traceFacts());
  const later = new EventEmitter();
  await inOwnSpan(span, async () => {
    note();
    later.once("lost", AsyncResource.bind(note));
    return {};
  });
  later.emit("lost");
  assert.deepEqual(facts, [{ trace_id: traceId }, {}]);
  assert.equal(span.ask("approvals.find"), null);
});
