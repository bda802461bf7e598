// Tells of every call: a line in the log, and figures where they are measured.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Recorder } from "../../domain/recorder.ts";

/** Also when its caller left: Fastify tells only of answers that were sent to their end. */
export function tellOfEveryCall(
  app: FastifyInstance,
  { log, recorder }: { log: Logger; recorder: Recorder | null },
): void {
  const isLogged = log.isLevelEnabled("info");
  if (!isLogged && recorder === null) return;
  const answered = new WeakSet<FastifyRequest>();
  const told = new WeakSet<FastifyRequest>();
  const tellOnce = (request: FastifyRequest, reply: FastifyReply, { hasLeft = false } = {}) => {
    if (told.has(request)) return;
    told.add(request);
    if (isLogged) logCall(log, request, reply, hasLeft ? { callerLeft: true } : {});
    recorder?.called(calledRoute(request, reply));
  };
  app.addHook("onRequest", (request, reply, done) => {
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
