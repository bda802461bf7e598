// Makes spans of OpenTelemetry of what the service tells of its work. Nothing is patched, nothing is registered globally,
// and the names of attributes follow the semantic conventions. A fault of OpenTelemetry costs its span and nothing else: the
// work may have been committed when its span ends.

import {
  type Attributes,
  type Context,
  type Link,
  type Tracer as OtelApiTracer,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Span, SpanEnd, TracedCall, Tracer } from "../domain/tracer.ts";
import { parseTraceparent } from "./traceparent.ts";

/** Strangers may send any method that HTTP knows. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

type TracerOptions = {
  takesTraceparent: boolean;
  /** Learns of a fault of OpenTelemetry, by its name alone. */
  tell: (why: string) => void;
};

export function makeTracer(otel: OtelApiTracer, { takesTraceparent, tell }: TracerOptions): Tracer {
  const safely = <Result>(work: () => Result, otherwise: Result): Result => {
    try {
      return work();
    } catch (error) {
      tell(`OpenTelemetry threw ${error instanceof Error ? error.name : typeof error}`);
      return otherwise;
    }
  };
  const start: Start = (name, { parent, ...options }) =>
    safely(() => new TracedWork(start, safely, otel.startSpan(name, options, parent)), null);
  const begin = (name: string, options: Beginning & Partial<Origin>) =>
    start(name, { parent: ROOT_CONTEXT, ...options }) ?? untold;
  return {
    call: (call) => {
      const { route } = call;
      const isKnown = methods.has(call.method);
      const attributes: Attributes = {
        "http.request.method": isKnown ? call.method : "_OTHER",
        ...(route === null ? {} : { "http.route": route }),
      };
      const name = `${isKnown ? call.method : "HTTP"}${route === null ? "" : ` ${route}`}`;
      const { within } = call;
      if (within instanceof TracedWork) {
        return begin(name, { kind: SpanKind.INTERNAL, attributes, parent: within.context });
      }
      const origin = takesTraceparent ? originOf(call) : {};
      return begin(name, { kind: SpanKind.SERVER, attributes, ...origin });
    },
    attempt: (channel) => {
      const attributes = { "countersign.channel": channel };
      return begin(`deliver ${channel}`, { kind: SpanKind.CLIENT, attributes });
    },
  };
}

type Beginning = { kind: SpanKind; attributes: Attributes };
type Origin = { parent: Context; links?: Link[] };
type Start = (name: string, options: Beginning & Origin) => TracedWork | null;
type Safely = <Result>(work: () => Result, otherwise: Result) => Result;

const untold: Span = { traceId: null, ask: () => null, end: () => {} };

/**
 * The caller's trace goes on for programs of customers. A stranger's would decide whether we record, and in which trace, so
 * it is linked only.
 */
function originOf({ traceparent, isAgent }: TracedCall): Partial<Origin> {
  const context = parseTraceparent(traceparent);
  if (context === null) return {};
  return isAgent
    ? { parent: trace.setSpanContext(ROOT_CONTEXT, context) }
    : { links: [{ context }] };
}

class TracedWork implements Span {
  readonly context: Context;
  readonly #start: Start;
  readonly #safely: Safely;
  readonly #span: OtelSpan;
  readonly #recordedAs: string | null;
  #isEnded = false;

  constructor(start: Start, safely: Safely, span: OtelSpan) {
    this.#start = start;
    this.#safely = safely;
    this.#span = span;
    this.#recordedAs = span.isRecording() ? span.spanContext().traceId : null;
    this.context = trace.setSpan(ROOT_CONTEXT, span);
  }

  /** What outlives the work, such as a kept connection, is no part of its trace. */
  get traceId(): string | null {
    return this.#isEnded ? null : this.#recordedAs;
  }

  ask(statement: string, sharedBy = 1): Span | null {
    if (this.traceId === null) return null;
    const attributes: Attributes = {
      "db.system.name": "postgresql",
      "db.query.summary": statement,
      ...(sharedBy > 1 ? { "countersign.shared_by": sharedBy } : {}),
    };
    return this.#start(statement, { kind: SpanKind.CLIENT, attributes, parent: this.context });
  }

  end(end: SpanEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#safely(() => endSpan(this.#span, end), undefined);
  }
}

function endSpan(span: OtelSpan, { fault = null, outcome, status }: SpanEnd): void {
  if (outcome !== undefined) span.setAttribute("countersign.outcome", outcome);
  if (typeof status === "number") span.setAttribute("http.response.status_code", status);
  if (fault !== null) {
    span.setAttribute("error.type", fault);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
