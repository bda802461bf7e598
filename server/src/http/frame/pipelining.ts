// Limits the calls under way per connection. Node takes in every request that has arrived on it, and keeps all of their
// answers until the first ones were read.

import type { FastifyInstance, FastifyReply } from "fastify";
import { callsPerConnectionMax } from "../../domain/limits.ts";

const underWay = new WeakMap<object, number>();

/** Calls `refuse` for each call beyond the limit. */
export function boundPipelining(app: FastifyInstance, refuse: (reply: FastifyReply) => void): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { socket } = request.raw;
    const count = (underWay.get(socket) ?? 0) + 1;
    underWay.set(socket, count);
    reply.raw.once("close", () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    if (count <= callsPerConnectionMax) done();
    else refuse(reply);
  });
}

/** Whether this is the only call under way on its connection. */
export function isAloneOnConnection(socket: object): boolean {
  return (underWay.get(socket) ?? 0) <= 1;
}
