// Makes spans of OpenTelemetry of what the service tells of its work. Nothing is patched, nothing is registered globally,
// and the names of attributes follow the semantic conventions.

import {
  type Attributes,
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

export function makeTracer(otel: OtelApiTracer, takesTraceparent: boolean): Tracer {
  const begin = (name: string, options: { kind: SpanKind; attributes: Attributes } & Started) => {
    const { parent = ROOT_CONTEXT, ...rest } = options;
    return new TracedWork(otel, otel.startSpan(name, rest, parent));
  };
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

type Started = { parent?: typeof ROOT_CONTEXT; links?: Link[] };

/**
 * The caller's trace goes on for programs of customers. A stranger's would decide whether we record, and in which trace, so
 * it is linked only.
 */
function originOf({ traceparent, isAgent }: TracedCall): Started {
  const context = parseTraceparent(traceparent);
  if (context === null) return {};
  return isAgent
    ? { parent: trace.setSpanContext(ROOT_CONTEXT, context) }
    : { links: [{ context }] };
}

class TracedWork implements Span {
  readonly traceId: string | null;
  readonly #otel: OtelApiTracer;
  readonly #span: OtelSpan;
  #isEnded = false;

  constructor(otel: OtelApiTracer, span: OtelSpan) {
    this.#otel = otel;
    this.#span = span;
    this.traceId = span.isRecording() ? span.spanContext().traceId : null;
  }

  get context() {
    return trace.setSpan(ROOT_CONTEXT, this.#span);
  }

  ask(statement: string, sharedBy = 1): Span | null {
    if (!this.#span.isRecording()) return null;
    const attributes: Attributes = {
      "db.system.name": "postgresql",
      "db.query.summary": statement,
      ...(sharedBy > 1 ? { "countersign.shared_by": sharedBy } : {}),
    };
    const options = { kind: SpanKind.CLIENT, attributes };
    return new TracedWork(this.#otel, this.#otel.startSpan(statement, options, this.context));
  }

  end({ fault = null, outcome, status }: SpanEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (outcome !== undefined) this.#span.setAttribute("countersign.outcome", outcome);
    if (typeof status === "number") {
      this.#span.setAttribute("http.response.status_code", status);
    }
    if (fault !== null) {
      this.#span.setAttribute("error.type", fault);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}
