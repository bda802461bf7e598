// Tells of every call: a line in the log, figures where they are measured, and a span where somebody traces.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { currentSpan, inSpan } from "../../database/current-span.ts";
import type { Recorder } from "../../domain/recorder.ts";
import type { Span, Tracer } from "../../domain/tracer.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null where nobody traces. */
    span: Span | null;
  }
}

export type CallTellers = { log: Logger; recorder: Recorder | null; tracer: Tracer | null };

/** Also when its caller left: Fastify tells only of answers that were sent to their end. */
export function tellOfEveryCall(
  app: FastifyInstance,
  { log, recorder, tracer }: CallTellers,
): void {
  app.decorateRequest("span", null);
  const isLogged = log.isLevelEnabled("info");
  if (!isLogged && recorder === null && tracer === null) return;
  const answered = new WeakSet<FastifyRequest>();
  const told = new WeakSet<FastifyRequest>();
  const tellOnce = (request: FastifyRequest, reply: FastifyReply, { hasLeft = false } = {}) => {
    if (told.has(request)) return;
    told.add(request);
    const more = hasLeft ? ({ callerLeft: true } as const) : {};
    if (isLogged) inSpan(request.span, () => logCall(log, request, reply, more));
    recorder?.called(calledRoute(request, reply));
    const { statusCode: status } = reply;
    request.span?.end({ status, fault: status >= 500 ? String(status) : null });
  };
  app.addHook("onRequest", (request, reply, done) => {
    if (tracer !== null) request.span = beginSpan(tracer, request);
    reply.raw.once("close", () => {
      if (answered.has(request)) tellOnce(request, reply, { hasLeft: true });
    });
    done();
  });
  // If the caller left before the answer, we tell the status it would have had.
  app.addHook("onSend", (request, reply, payload, done) => {
    answered.add(request);
    if (reply.raw.destroyed) tellOnce(request, reply, { hasLeft: true });
    done(null, payload);
  });
  app.addHook("onResponse", (request, reply, done) => {
    // Fastify reports the same when a call from within the service is broken off.
    if (answered.has(request)) tellOnce(request, reply);
    done();
  });
}

function beginSpan(tracer: Tracer, request: FastifyRequest): Span {
  const { url: route = null, config } = request.routeOptions;
  const { traceparent } = request.headers;
  return tracer.call({
    method: request.method,
    route,
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
    isAgent: config.route?.access === "api_key" || config.route?.access === "mcp",
    within: currentSpan(),
  });
}

const unknownRoute = "unknown";

function calledRoute(request: FastifyRequest, reply: FastifyReply) {
  return {
    method: request.method,
    route: request.routeOptions.url ?? unknownRoute,
    status: reply.statusCode,
    ms: reply.elapsedTime,
    isWait: /[?&]wait=/.test(request.url),
  };
}

/** Ids and figures only. */
function logCall(
  log: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
  more: { callerLeft?: true },
): void {
  log.info(
    {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? unknownRoute,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...more,
      ...request.facts,
    },
    "call",
  );
}
