// The HTTP edge: turns requests into calls and answers into replies. Every fault on the way, from a broken request line
// to a lost database, becomes the one error envelope here.

import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { inSpan } from "../../database/current-span.ts";
import { DatabaseBusy, isUnavailable } from "../../database/faults.ts";
import { OutageLog, outageWords } from "../../database/outage-log.ts";
import { type Cidr, networkOf } from "../../domain/access/network-address.ts";
import {
  answerStallDefaultMs,
  answersBytesMax,
  answersBytesPerHolderMax,
  bodiesBytesMax,
  bodiesBytesPerHolderMax,
  bodiesWaitingMax,
  bodiesWaitingPerHolderMax,
  bodyBytesMax,
  waitSecondsMax,
} from "../../domain/limits.ts";
import type { Recorder } from "../../domain/recorder.ts";
import type { Tracer } from "../../domain/tracer.ts";
import { isCounted, refuseUnread } from "./answers.ts";
import {
  BodyCutOff,
  type BodyReader,
  BodyRefused,
  makeBodyReader,
  makeInvitations,
} from "./bodies.ts";
import { makeBrokenRequestAnswer } from "./broken-requests.ts";
import type { Answer } from "./call.ts";
import { tellOfEveryCall } from "./call-log.ts";
import { forReader, send, toCall, toCaller, toReader } from "./exchange.ts";
import { FairBudget } from "./fair-budget.ts";
import { type Guard, type GuardOptions, makeGuards } from "./guards.ts";
import { Holders } from "./holders.ts";
import { reviewHeaders } from "./page-headers.ts";
import {
  answerOfNoRoute,
  basePathOf,
  matchesPath,
  withDecodablePath,
  withoutBasePath,
} from "./paths.ts";
import { boundPipelining, isAloneOnConnection } from "./pipelining.ts";
import { busy, internalError, problem, tooManyOnConnection, unavailable } from "./problems.ts";
import type { Admission, Route } from "./route.ts";

const requestTimeoutDefaultMs = 60_000;
const headersTimeoutMs = 15_000;
const timeoutCheckIntervalMs = 1_000;
const keepAliveTimeoutMs = 75_000;
/**
 * Closes a connection on which nothing moves. It is above the longest wait, so it hits only callers who don't read.
 * Node gives a half-sent answer one more such period.
 */
const idleConnectionTimeoutMs = (waitSecondsMax + 30) * 1_000;
/** Above Node's limit on headers and request line together, so that an id is never too long to be unknown. */
const paramCharactersMax = 20_000;

/** The headers of every answer, unless its route sets others: nothing may be kept or sniffed. */
const defaultHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

export type AppOptions = GuardOptions & {
  routes: Route[];
  log: Logger;
  recorder?: Recorder | null;
  tracer?: Tracer | null;
  /** The process is about to stop: callers are led to others, and are served meanwhile. */
  isDraining?: () => boolean;
  /** A whole request must arrive within this time. Its answer may take longer. */
  requestTimeoutMs?: number;
  /** A reader that takes nothing of a large answer for one to two such periods is cut off. */
  answerStallMs?: number;
};

/** All calls of the process share these: the bytes of held bodies, and of answers that have not left. */
type Budgets = { bodies: FairBudget; answers: FairBudget };

export function buildApp(options: AppOptions): FastifyInstance {
  const { log, routes, origin, trustedProxies } = options;
  const { requestTimeoutMs = requestTimeoutDefaultMs } = options;
  const { answerStallMs = answerStallDefaultMs } = options;
  const isKnown = (path: string) => routes.some((route) => matchesPath(route.path, path));
  const app = Fastify({
    genReqId: () => randomUUID(),
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      connectionsCheckingInterval: timeoutCheckIntervalMs,
      // Without a Host header Node would answer outside the envelope; nothing here depends on it.
      requireHostHeader: false,
    },
    connectionTimeout: idleConnectionTimeoutMs,
    routerOptions: { maxParamLength: paramCharactersMax },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    rewriteUrl: ({ url = "/" }) =>
      withDecodablePath(withoutBasePath(url, basePathOf(origin.publicUrl), isKnown)),
    clientErrorHandler: makeBrokenRequestAnswer(log),
  });

  const budgets: Budgets = {
    bodies: new FairBudget({
      total: bodiesBytesMax,
      perHolder: bodiesBytesPerHolderMax,
      waitingMax: bodiesWaitingMax,
      waitingPerHolderMax: bodiesWaitingPerHolderMax,
    }),
    answers: new FairBudget({ total: answersBytesMax, perHolder: answersBytesPerHolderMax }),
  };
  const holders = new Holders();
  const outages = new OutageLog();
  const invitations = makeInvitations(app.server);
  const bodies = makeBodyReader({
    ...budgets,
    admit: (request) => inSpan(request.span, () => admit(request, holders, trustedProxies)),
    invite: invitations.invite,
  });
  readEveryBodyAsBytes(app, bodies);
  app.decorateRequest("keyDigest");
  app.decorateRequest("charge");
  app.decorateRequest("facts");
  app.addHook("onRequest", (request, reply, done) => {
    request.facts = {};
    reply.headers({ "x-request-id": request.id, ...defaultHeaders });
    done();
  });
  closeConnectionsWhenStopping(app, options.isDraining ?? (() => false));
  const { recorder = null, tracer = null } = options;
  tellOfEveryCall(app, { log, recorder, tracer });
  boundPipelining(app, (reply) => send(reply, tooManyOnConnection()));
  app.setErrorHandler((error, request, reply) => {
    const { onFault } = request.routeOptions.config.route ?? {};
    if (error instanceof BodyRefused) {
      // Fastify would close the connection at once, and a caller that is still sending would lose the answer. Kept
      // open, the rest is read and dropped, for as long as a request may take to arrive.
      if (!invitations.isAwaited(request.raw)) reply.header("connection", "keep-alive");
      return send(reply, error.answer);
    }
    const answer = inSpan(request.span, () => answerOfFault(error, request, { log, outages }));
    return send(reply, onFault === undefined ? answer : onFault(answer, toReader(request)));
  });
  const showNoRoute = (request: FastifyRequest, reply: FastifyReply) => {
    if (request.url.startsWith("/review/")) reply.headers(reviewHeaders);
    return send(reply, answerOfNoRoute(request.url, routes));
  };
  app.setNotFoundHandler(showNoRoute);
  // Checked before the body is read, since nobody would use it.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404) showNoRoute(request, reply);
    else done();
  });
  // Unknown expectations may be ignored. Node would answer them outside the envelope.
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });

  const guards = makeGuards(options);
  for (const route of routes) {
    const guard = guards[route.access];
    addRoute(app, route, { guard, bodies, budgets, holders, trustedProxies, answerStallMs });
  }
  return app;
}

/** The sender of a large body: the one the route knows, or else their network. */
async function admit(
  request: FastifyRequest,
  holders: Holders,
  trustedProxies: readonly Cidr[],
): Promise<Admission> {
  const caller = toCaller(request, trustedProxies);
  const { route } = request.routeOptions.config;
  const admission = route === undefined ? undefined : await holders.admit(route, caller);
  if (admission !== undefined && "refused" in admission) return admission;
  return { holder: nameOf(request, admission?.holder ?? networkOf(caller.address ?? "")) };
}

/** Agents and people of one workspace are counted apart, so that neither keeps the other out. */
function nameOf(request: FastifyRequest, holder: string): string {
  return `${request.routeOptions.config.route?.access} ${holder}`;
}

type RouteOptions = Pick<AppOptions, "trustedProxies"> & {
  guard: Guard | null;
  bodies: BodyReader;
  budgets: Budgets;
  holders: Holders;
  answerStallMs: number;
};

function addRoute(
  app: FastifyInstance,
  route: Route,
  { guard, bodies, budgets, holders, trustedProxies, answerStallMs }: RouteOptions,
): void {
  const { bodyBytesMax: bodyLimit } = route;
  app.route({
    // Fastify would still make the body of a HEAD's answer.
    method: route.method === "GET" ? ["GET", "HEAD"] : route.method,
    exposeHeadRoute: false,
    url: route.path,
    config: { route },
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    ...(guard === null ? {} : { onRequest: guard }),
    handler: async (request, reply) => {
      const call = toCall(request, reply, trustedProxies);
      const work = () => holders.carryOut(route, call);
      const answer = await inSpan(request.span, work).finally(() => bodies.forget(request));
      if (call.isHead || !isCounted(answer, reply.raw)) return send(reply, answer);
      const refused = refuseUnread(budgets.answers, answer, {
        connection: { socket: request.raw.socket, response: reply.raw },
        holder: nameOf(request, call.facts.workspaceId ?? networkOf(call.address ?? "")),
        isOwed: bodies.wasLarge(request),
        stallMs: answerStallMs,
        idleMs: idleConnectionTimeoutMs,
      });
      return send(reply, refused === null ? answer : forReader(request, refused));
    },
  });
}

function readEveryBodyAsBytes(app: FastifyInstance, bodies: BodyReader): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", bodies.read);
  // Content-Type isn't enforced, and a malformed one is no reason to refuse a good body.
  app.addHook("onRequest", (request, _reply, done) => {
    request.raw.headers["content-type"] = "application/octet-stream";
    done();
  });
}

/** A connection kept alive after its last answer would hold up a stop until it times out. */
function closeConnectionsWhenStopping(app: FastifyInstance, isDraining: () => boolean): void {
  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    // Those behind it on the same connection would lose their answers.
    const isLed = isDraining() && isAloneOnConnection(request.raw.socket);
    if (isStopping || isLed) reply.header("connection", "close");
    done(null, payload);
  });
}

function answerOfFault(
  error: unknown,
  request: FastifyRequest,
  { log, outages }: { log: Logger; outages: OutageLog },
): Answer {
  if (error instanceof BodyCutOff) {
    return problem("validation_error", "The body was cut off before its end. Send it again.");
  }
  if (isUnavailable(error)) {
    const isBusy = error instanceof DatabaseBusy;
    const due = outages.due(error);
    const facts = { requestId: request.id, ...due };
    if (due !== null && isBusy) log.warn(facts, error.message);
    else if (due !== null) log.warn({ ...facts, err: error }, outageWords(error));
    return isBusy ? busy() : unavailable();
  }
  log.error({ requestId: request.id, err: error }, "a call failed by a fault of ours");
  return internalError(request.id);
}
