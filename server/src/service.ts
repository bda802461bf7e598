// Builds one node of the service from its parts: the API, the worker, or both.

import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { ChatParts } from "./chat/chat-parts.ts";
import { makeInteractions } from "./chat/interactions.ts";
import { SlackSockets } from "./chat/sockets.ts";
import { type Database, withoutWaiting } from "./database/database.ts";
import { asHolder } from "./database/holder.ts";
import type { Listener } from "./database/listener.ts";
import { Readiness } from "./database/readiness.ts";
import { Turnstile } from "./database/turnstile.ts";
import type { Keyring } from "./domain/access/keyring.ts";
import {
  type AllowedCidr,
  type Cidr,
  makeAddressPolicy,
  makeCallbackPolicies,
  nearbyCidrs,
} from "./domain/access/network-address.ts";
import type { OidcClient } from "./domain/access/openid.ts";
import type { RateLimit } from "./domain/access/rate-limit.ts";
import { statusWaitsMax, statusWaitsPerWorkspaceMax } from "./domain/channels/inbox-limits.ts";
import {
  heavyReadsAtOnceMax,
  heavyReadsPerHolderMax,
  heavyReadsWaitingMax,
  heavyReadsWaitingPerHolderMax,
  largeReviewsAtOnceMax,
  largeReviewsPerLinkMax,
  largeReviewsPerWorkspaceMax,
  largeReviewsWaitingMax,
  largeStatementsMax,
  largeStatementsPerHolderMax,
} from "./domain/limits.ts";
import type { Recorder } from "./domain/recorder.ts";
import type { Tracer } from "./domain/tracer.ts";
import { noteKeyUse } from "./http/api/key-use.ts";
import type { ReadMetrics } from "./http/api/metrics.ts";
import type { DevMail } from "./http/dev-mail/dev-mail.ts";
import { buildApp } from "./http/frame/app.ts";
import type { Assets } from "./http/frame/assets.ts";
import { FairBudget } from "./http/frame/fair-budget.ts";
import { CallsUnderWay, onceStarted } from "./http/frame/once-started.ts";
import { routesOf } from "./http/routes.ts";
import { makeCreateApproval } from "./operations/approvals/create-approval.ts";
import { makeDecideApproval } from "./operations/approvals/decide-approval.ts";
import { makeReadApproval } from "./operations/approvals/read-approval.ts";
import { pushPublicKey } from "./operations/channels/push-identity.ts";
import { makeReadReceipt } from "./operations/proof/receipts.ts";
import { makeKeyUse } from "./operations/workspaces/note-key-use.ts";
import { examineCallbackUrl, examineMembersWebhookUrl } from "./outbound/resolve-host.ts";
import { callSlack } from "./outbound/slack-api.ts";
import { InboxWatch } from "./storage/approvals/inbox-watch.ts";
import { ResolutionWatch } from "./storage/approvals/resolution-watch.ts";

export type ServiceOptions = {
  db: Database;
  /** Hears of decisions on other nodes. The caller starts it, once everybody has subscribed. */
  listener: Listener;
  keyring: Keyring;
  /** The start of all links; may still change until the service listens. */
  origin: { readonly publicUrl: string };
  assets: Assets;
  rateLimit: RateLimit | null;
  /** Proxies whose X-Forwarded-For we trust: those nearby, unless others are named. */
  trustedProxies?: readonly Cidr[];
  /** Call it when something became due for a worker. */
  onDue: () => void;
  /** Null when mails go to a mail server and are not shown here. */
  devMail: DevMail | null;
  /** There is no mail server, so sign-in codes are shown where mails are kept. */
  isMailKept: boolean;
  /** The company's own sign-in, if one is set up. */
  oidc: OidcClient | null;
  /** Private ranges that webhooks may reach. */
  webhookAllowed?: readonly AllowedCidr[];
  /** Private ranges that callbacks may reach, which every API key can name. */
  callbackAllowed?: readonly AllowedCidr[];
  /** Where Slack's web API is called; ends with a slash. */
  slackApiUrl: string;
  /** How long clicks in Slack may take; Slack's own limit by default. */
  slackPatience?: ChatParts["patience"];
  /** Calls get 503 until it says yes. */
  isStarted?: () => boolean;
  /** The process is about to stop: load balancers are told, and calls are served meanwhile. */
  isDraining?: () => boolean;
  recorder?: Recorder | null;
  tracer?: Tracer | null;
  /** Null when metrics are off, or have a port of their own. */
  readMetrics?: ReadMetrics | null;
  log: Logger;
  clock?: () => number;
  requestTimeoutMs?: number;
  answerStallMs?: number;
};

export type Service = {
  app: FastifyInstance;
  resolutions: ResolutionWatch;
  inboxWatch: InboxWatch;
  callsUnderWay: () => number;
};

export function assembleService(options: ServiceOptions): Service {
  const { db, listener, keyring, origin, assets, devMail } = options;
  // The worker's own work counts for everybody.
  const onDue = () => asHolder(null, options.onDue);
  const { clock = () => performance.now(), isStarted = () => true } = options;
  const { isDraining = () => false, recorder = null, readMetrics = null } = options;
  const resolutions = new ResolutionWatch(db, listener);
  const inboxWatch = new InboxWatch(db, listener);
  const readiness = new Readiness(withoutWaiting(db), options.log);
  const background = makeBackground(options.log);
  const policy = makeAddressPolicy(options.webhookAllowed ?? []);
  const callbacks = makeCallbackPolicies(options.callbackAllowed ?? []);
  const stopping = new AbortController();
  const decideApproval = makeDecideApproval({ db, keyring, origin }, onDue);
  const interactions = makeInteractions({
    ...{ db, keyring, origin, decideApproval, onDue, log: options.log },
    slackApiUrl: options.slackApiUrl,
    patience: options.slackPatience,
  });
  const routes = routesOf({
    db,
    createApproval: makeCreateApproval({ db, keyring, onDue, recorder }),
    examineCallback: (url) => examineCallbackUrl(url, callbacks),
    readApproval: makeReadApproval(db, recorder),
    readReceipt: makeReadReceipt({ db, keyring, origin, recorder }),
    largeCreates: new Turnstile({
      placesMax: largeStatementsMax,
      perHolderMax: largeStatementsPerHolderMax,
      keptFree: 0,
    }),
    resolutions,
    inboxWatch,
    ...makeTurns(),
    keyring,
    decideApproval,
    onSlackInteraction: interactions.handle,
    wallClock: () => Date.now(),
    pushPublicKey: () => pushPublicKey(db, keyring),
    assets,
    origin,
    devMail,
    isDraining,
    readMetrics,
    findUnreadiness: () => readiness.reasonAgainst(),
    onDue,
    isMailKept: options.isMailKept,
    inBackground: background.begin,
    oidc: options.oidc,
    examineAddress: (url) => examineMembersWebhookUrl(url, policy),
    callSlack: (call) => callSlack({ ...call, apiUrl: options.slackApiUrl }),
    clock,
    dispatch: (call) => app.inject(call),
    stopping: stopping.signal,
    // Mostly messages that a client got wrong; faults of the service itself are logged where they happen.
    noteFault: (error) => options.log.debug({ err: error }, "a message to the tools was refused"),
  });
  const keyUse = makeKeyUse(db);
  const underWay = new CallsUnderWay();
  const app: FastifyInstance = buildApp({
    ...options,
    clock,
    trustedProxies: options.trustedProxies ?? nearbyCidrs,
    routes: underWay.counted(
      onceStarted(
        noteKeyUse(routes, (digest) => keyUse.note(digest)),
        isStarted,
      ),
    ),
  });
  app.addHook("onClose", async () => {
    await Promise.all([background.ended(), interactions.ended()]);
    await keyUse.stop();
  });
  resolutions.start();
  // Waiting callers are answered first; then no call is under way and the database can be closed.
  app.addHook("preClose", async () => {
    stopping.abort();
    resolutions.stop();
    inboxWatch.stop();
  });
  return { app, resolutions, inboxWatch, callsUnderWay: () => underWay.count };
}

type SocketOptions = Omit<ChatParts, "decideApproval"> & { lookEveryMs?: number };

/** Clicks in Slack that come by socket. They need no address of ours, so they live where the worker does. */
export function assembleSockets(options: SocketOptions): SlackSockets {
  const decideApproval = makeDecideApproval(options, options.onDue);
  return new SlackSockets({
    ...options,
    interactions: makeInteractions({ ...options, decideApproval }),
  });
}

/** Heavy work takes turns, so that one caller gets no more than a share of the process. */
function makeTurns() {
  return {
    heavyReads: new FairBudget({
      total: heavyReadsAtOnceMax,
      perHolder: heavyReadsPerHolderMax,
      waitingMax: heavyReadsWaitingMax,
      waitingPerHolderMax: heavyReadsWaitingPerHolderMax,
    }),
    largeReviews: new FairBudget({
      total: largeReviewsAtOnceMax,
      perHolder: largeReviewsAtOnceMax,
      waitingMax: largeReviewsWaitingMax,
      waitingPerHolderMax: largeReviewsPerWorkspaceMax,
    }),
    statusWaits: new FairBudget({
      total: statusWaitsMax,
      perHolder: statusWaitsPerWorkspaceMax,
    }),
    largeReviewsOfLink: new FairBudget({
      total: largeReviewsWaitingMax + largeReviewsAtOnceMax,
      perHolder: largeReviewsPerLinkMax,
    }),
  };
}

/** Work that continues after its call was answered. A stop waits for it. */
function makeBackground(log: Logger) {
  const underWay = new Set<Promise<void>>();
  const begin = (work: () => Promise<void>): void => {
    const done = work()
      .catch((error: unknown) => log.error({ err: error }, "work after an answer failed"))
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };
  return { begin, ended: async () => void (await Promise.all(underWay)) };
}
