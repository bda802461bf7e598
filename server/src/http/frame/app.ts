// The HTTP edge: turns requests into calls and answers into replies. Everything that goes wrong on the way,
// from a broken request line to a lost database, becomes the one error envelope here.

import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { DatabaseBusy, isUnavailable } from "../../database/database.ts";
import { callerAddressOf } from "../../domain/access/caller-address.ts";
import { type Cidr, networkOf } from "../../domain/access/network-address.ts";
import type { RateLimit } from "../../domain/access/rate-limit.ts";
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
import { isRefusal } from "../../domain/refusal.ts";
import { isCounted, refuseUnread } from "./answers.ts";
import { authenticate } from "./authenticate.ts";
import { basePathOf, withoutBasePath } from "./base-path.ts";
import {
  BodyCutOff,
  type BodyReader,
  BodyRefused,
  makeBodyReader,
  makeInvitations,
} from "./bodies.ts";
import { makeBrokenRequestAnswer } from "./broken-requests.ts";
import {
  type Answer,
  type Call,
  type Caller,
  jsonType,
  repeated,
  type StreamedAnswer,
} from "./call.ts";
import { FairBudget } from "./fair-budget.ts";
import { Holders } from "./holders.ts";
import { dashboardHeaders, reviewHeaders } from "./page-headers.ts";
import { boundPipelining } from "./pipelining.ts";
import {
  busy,
  crossOrigin,
  dashboardCrossOrigin,
  internalError,
  problem,
  problemOfRefusal,
  reviewRateLimited,
  unavailable,
} from "./problems.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { ReviewLimiter } from "./review-limiter.ts";
import type { Admission, Route } from "./route.ts";
import { isSameOrigin, originOf, type Provenance } from "./same-origin.ts";
import { isFromThisMachine } from "./this-machine.ts";

const requestTimeoutDefaultMs = 60_000;
const headersTimeoutMs = 15_000;
const timeoutCheckIntervalMs = 1_000;
const keepAliveTimeoutMs = 75_000;
/**
 * A connection on which nothing moves is closed. Above the longest wait, so that it cuts only who does not
 * read; Node gives an answer that is half sent one more such period.
 */
const idleConnectionTimeoutMs = (waitSecondsMax + 30) * 1_000;
/** Above Node's limit on headers and request line together, so that no id is too long to be unknown. */
const paramCharactersMax = 20_000;

/** What every answer carries unless its route says otherwise: nothing of it is kept or guessed at. */
const defaultHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

export type AppOptions = {
  routes: Route[];
  /** What people reach the service by. Asked at each call, because the port may be chosen late. */
  origin: { readonly publicUrl: string };
  rateLimit: RateLimit | null;
  /** Proxies that are believed whom they speak for. */
  trustedProxies: readonly Cidr[];
  log: Logger;
  /** Milliseconds since some fixed time, for the rate limit. */
  clock: () => number;
  /** A request must have arrived whole within this time; how long its answer may take is another matter. */
  requestTimeoutMs?: number;
  /** A reader that takes nothing of a large answer for one to two such periods is cut off. */
  answerStallMs?: number;
};

declare module "fastify" {
  interface FastifyRequest {
    keyDigest: Buffer;
    facts: Call["facts"];
  }
  interface FastifyContextConfig {
    /** Missing where no route was found. */
    route?: Route;
  }
}

/** What all calls of the process share: the bytes of the bodies it holds, and of the answers that have not left. */
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
  const invitations = makeInvitations(app.server);
  const bodies = makeBodyReader({
    ...budgets,
    admit: (request) => admit(request, holders, trustedProxies),
    invite: invitations.invite,
  });
  readEveryBodyAsBytes(app, bodies);
  app.decorateRequest("keyDigest");
  app.decorateRequest("facts");
  app.addHook("onRequest", (request, reply, done) => {
    request.facts = {};
    reply.headers({ "x-request-id": request.id, ...defaultHeaders });
    done();
  });
  closeConnectionsWhenStopping(app);
  logEveryCall(app, log);
  boundPipelining(app, (reply) => send(reply, tooManyOnConnection()));
  app.setErrorHandler((error, request, reply) => {
    const { onFault } = request.routeOptions.config.route ?? {};
    if (error instanceof BodyRefused) {
      // Fastify would close the connection at once, and the answer be lost to a caller that is still sending. Kept open,
      // the rest is read and dropped, for as long as a request may take to arrive.
      if (!invitations.isAwaited(request.raw)) reply.header("connection", "keep-alive");
      return send(reply, error.answer);
    }
    const answer = answerOfFault(error, request, log);
    return send(reply, onFault === undefined ? answer : onFault(answer));
  });
  const showNoRoute = (request: FastifyRequest, reply: FastifyReply) => {
    if (request.url.startsWith("/review/")) reply.headers(reviewHeaders);
    return send(reply, answerOfNoRoute(request, routes));
  };
  app.setNotFoundHandler(showNoRoute);
  // Before a body is read, which nobody would look at.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404) showNoRoute(request, reply);
    else done();
  });
  // An expectation that we do not know may be ignored; Node would answer it outside the envelope.
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });

  const guards = {
    api_key: makeKeyGuard(options),
    review_link: makeReviewGuard(options),
    dashboard: makeDashboardGuard(options),
    this_machine: guardThisMachine,
    anyone: null,
  };
  for (const route of routes) {
    const guard = guards[route.access];
    addRoute(app, route, { guard, bodies, budgets, holders, trustedProxies, answerStallMs });
  }
  return app;
}

/** Who sends a large body: whom the route knows, or else their network. */
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

type Guard = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** To everybody else it looks as if nothing were there. */
function guardThisMachine(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { socket, httpVersion, headers } = request.raw;
  const isHere = isFromThisMachine({ address: socket.remoteAddress, httpVersion, headers });
  if (isHere) done();
  else send(reply, notFound());
}

/** Lets a call pass that carries something like an API key and is within its rate. */
function makeKeyGuard({ rateLimit, clock }: AppOptions): Guard {
  const limiter = rateLimit === null ? null : new RateLimiter(rateLimit);
  return (request, reply, done) => {
    const keyDigest = authenticate((name) => headerOf(request, name));
    if (isRefusal(keyDigest)) {
      send(reply, problemOfRefusal(keyDigest));
      return;
    }
    request.keyDigest = keyDigest;
    if (limiter === null) return done();
    const decision = limiter.take(keyDigest, clock());
    reply.headers(limiter.headers(decision));
    if (decision.allowed) done();
    else send(reply, rateLimited());
  };
}

/** Lets a call to a review pass when it only looks, or comes from the review page itself, and not too often. */
function makeReviewGuard({ origin, clock, trustedProxies }: AppOptions): Guard {
  const limiter = new ReviewLimiter();
  return (request, reply, done) => {
    reply.headers(reviewHeaders);
    if (request.method === "POST" && !isFromOurPage(request, origin)) {
      send(reply, crossOrigin(originOf(origin.publicUrl)));
      return;
    }
    const { address, params } = toCaller(request, trustedProxies);
    const seconds = limiter.secondsToWait({ address, token: params.token ?? null }, clock());
    if (seconds === 0) done();
    else send(reply, forReader(request, reviewRateLimited(seconds)));
  };
}

/** The same for the dashboard. Whether somebody is signed in is asked afterwards, with what they ask for. */
function makeDashboardGuard({ origin }: AppOptions): Guard {
  return (request, reply, done) => {
    reply.headers(dashboardHeaders);
    if (request.method !== "POST" || isFromOurPage(request, origin)) done();
    else send(reply, dashboardCrossOrigin(originOf(origin.publicUrl)));
  };
}

function isFromOurPage(request: FastifyRequest, { publicUrl }: AppOptions["origin"]): boolean {
  const provenance: Provenance = {
    origin: headerOf(request, "origin"),
    site: headerOf(request, "sec-fetch-site"),
  };
  return isSameOrigin(provenance, publicUrl);
}

/** A person who asked for a page is told in a page. */
function forReader(request: FastifyRequest, answer: Answer): Answer {
  const { route } = request.routeOptions.config;
  if (route?.method !== "GET" || route.onFault === undefined) return answer;
  return route.onFault(answer);
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
    // Fastify would make the body of a HEAD's answer all the same.
    method: route.method === "GET" ? ["GET", "HEAD"] : route.method,
    exposeHeadRoute: false,
    url: route.path,
    config: { route },
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    ...(guard === null ? {} : { onRequest: guard }),
    handler: async (request, reply) => {
      const call = toCall(request, reply, trustedProxies);
      const answer = await holders.carryOut(route, call).finally(() => bodies.forget(request));
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

/** A known path with a method it does not have is told which ones it has, unless only this machine may know it. */
function answerOfNoRoute({ url }: FastifyRequest, routes: Route[]): Answer {
  const [path = ""] = url.split("?");
  const methods = routes
    .filter((route) => route.access !== "this_machine" && matchesPath(route.path, path))
    .map((route) => route.method);
  if (methods.length === 0) return notFound();
  const allowed = (methods.includes("GET") ? [...methods, "HEAD"] : methods).join(", ");
  return problem(
    "method_not_allowed",
    `This path answers ${allowed} only. See /v1/openapi.json for every call.`,
    { allow: allowed },
  );
}

function matchesPath(pattern: string, path: string): boolean {
  const parts = path.split("/");
  const patternParts = pattern.split("/");
  return (
    parts.length === patternParts.length &&
    patternParts.every((part, at) => (part.startsWith(":") ? parts[at] !== "" : part === parts[at]))
  );
}

/** A path whose escapes cannot be decoded is taken literally, so that it is as unknown as any other. */
function withDecodablePath(url: string): string {
  const [path = "", ...query] = url.split("?");
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll("%", "%25"), ...query].join("?");
  }
}

function readEveryBodyAsBytes(app: FastifyInstance, bodies: BodyReader): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", bodies.read);
  // The content type is not enforced, and a malformed one is no reason to refuse a good body.
  app.addHook("onRequest", (request, _reply, done) => {
    request.raw.headers["content-type"] = "application/octet-stream";
    done();
  });
}

/** A connection kept alive after its last answer would hold up a stop until it times out. */
function closeConnectionsWhenStopping(app: FastifyInstance): void {
  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (isStopping) reply.header("connection", "close");
    done(null, payload);
  });
}

const noQuery = new URLSearchParams();
const noBody = new Uint8Array();

function toCall(
  request: FastifyRequest,
  reply: FastifyReply,
  trustedProxies: readonly Cidr[],
): Call {
  const queryStart = request.url.indexOf("?");
  return {
    requestId: request.id,
    isHead: request.method === "HEAD",
    keyDigest: request.keyDigest,
    params: request.params as Record<string, string>,
    query: queryStart === -1 ? noQuery : new URLSearchParams(request.url.slice(queryStart)),
    body: request.body instanceof Uint8Array ? request.body : noBody,
    header: (name) => headerOf(request, name),
    // Looked at on demand: few calls are asked for it.
    get address() {
      return addressOf(request, trustedProxies);
    },
    // Made on demand: few calls wait long enough for their caller to go away.
    get signal() {
      const controller = new AbortController();
      if (reply.raw.destroyed) controller.abort();
      else reply.raw.once("close", () => controller.abort());
      return controller.signal;
    },
    facts: request.facts,
  };
}

function toCaller(request: FastifyRequest, trustedProxies: readonly Cidr[]): Caller {
  const { keyDigest, facts } = request;
  const params = request.params as Record<string, string>;
  return { keyDigest, params, facts, address: addressOf(request, trustedProxies) };
}

function addressOf(request: FastifyRequest, trustedProxies: readonly Cidr[]): string | null {
  const { "x-forwarded-for": forwarded } = request.headers;
  const trace = { peer: request.raw.socket.remoteAddress, forwarded: String(forwarded ?? "") };
  return callerAddressOf(trace, trustedProxies);
}

function headerOf(request: FastifyRequest, name: string): string | null | typeof repeated {
  const value = request.headers[name];
  if (value === undefined) return null;
  let count = 0;
  const { rawHeaders } = request.raw;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) count += 1;
  }
  return count > 1 || Array.isArray(value) ? repeated : value;
}

function send(reply: FastifyReply, answer: Answer | StreamedAnswer): FastifyReply {
  const { status, headers = {}, type } = answer;
  reply.code(status).headers(headers);
  if ("stream" in answer) return reply.type(answer.type).send(answer.stream);
  const { body } = answer;
  if (body === null) return (type === undefined ? reply : reply.type(type)).send();
  if (reply.request.method === "HEAD") {
    return sendHead(reply, { type, bytes: Buffer.byteLength(body) });
  }
  return reply.type(type ?? jsonType).send(body);
}

/** As GET would answer, without the body. */
function sendHead(
  reply: FastifyReply,
  { type = jsonType, bytes }: { type: string | undefined; bytes: number },
): FastifyReply {
  return reply.type(type).header("content-length", bytes).send();
}

function notFound(): Answer {
  return problem(
    "not_found",
    "There is nothing at this address. See /v1/openapi.json for every call.",
  );
}

function tooManyOnConnection(): Answer {
  return problem(
    "unavailable",
    "This connection has more calls under way than are answered at a time. Read their answers before you send more.",
    { connection: "close" },
  );
}

function rateLimited(): Answer {
  return problem(
    "rate_limited",
    "This API key makes more calls a second than it may. Wait for the seconds in Retry-After, then go on.",
  );
}

function answerOfFault(error: unknown, request: FastifyRequest, log: Logger): Answer {
  if (error instanceof BodyCutOff) {
    return problem("validation_error", "The body was cut off before its end. Send it again.");
  }
  if (error instanceof DatabaseBusy) {
    log.warn({ requestId: request.id }, error.message);
    return busy();
  }
  if (isUnavailable(error)) {
    log.warn({ requestId: request.id, err: error }, "the database is out of reach");
    return unavailable();
  }
  log.error({ requestId: request.id, err: error }, "a call failed by a fault of ours");
  return internalError(request.id);
}

/** One line per call, also when its caller left: Fastify tells only of answers that were sent to their end. */
function logEveryCall(app: FastifyInstance, log: Logger): void {
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
  // Whoever left before there was an answer is logged with what it would have been.
  app.addHook("onSend", (request, reply, payload, done) => {
    answered.add(request);
    if (reply.raw.destroyed) logOnce(request, reply, { hasLeft: true });
    done(null, payload);
  });
  app.addHook("onResponse", (request, reply, done) => {
    // Fastify says the same of a call from within the service that was broken off.
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
