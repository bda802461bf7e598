// Writes one line per call to the log.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";

/** Also when its caller left: Fastify tells only of answers that were sent to their end. */
export function logEveryCall(app: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled("info")) return;
  const answered = new WeakSet<FastifyRequest>();
  const logged = new WeakSet<FastifyRequest>();
  const logOnce = (request: FastifyRequest, reply: FastifyReply, { hasLeft = false } = {}) => {
    if (!logged.has(request)) logCall(log, request, reply, hasLeft ? { callerLeft: true } : {});
    logged.add(request);
  };
  app.addHook("onRequest", (request, reply, done) => {
    reply.raw.once("close", () => {
      if (answered.has(request)) logOnce(request, reply, { hasLeft: true });
    });
    done();
  });
  // If the caller left before the answer, we log the status it would have had.
  app.addHook("onSend", (request, reply, payload, done) => {
    answered.add(request);
    if (reply.raw.destroyed) logOnce(request, reply, { hasLeft: true });
    done(null, payload);
  });
  app.addHook("onResponse", (request, reply, done) => {
    // Fastify reports the same when a call from within the service is broken off.
    if (answered.has(request)) logOnce(request, reply);
    done();
  });
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
      route: request.routeOptions.url ?? "unknown",
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...more,
      ...request.facts,
    },
    "call",
  );
}
