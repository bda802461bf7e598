// Starts the service, tells the person at the terminal what to do next, and stops it cleanly. A start serves no call
// before everything that can fail is done, and nothing ends a process that has begun to serve.

import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { Listener } from "./database/listener.ts";
import { makeAddressPolicy, makeCallbackPolicies } from "./domain/access/network-address.ts";
import { flawOfPublicUrl, isLoopbackUrl } from "./domain/access/public-url.ts";
import { signInUrlOf } from "./domain/access/sign-in.ts";
import { vapidSubject } from "./domain/channels/vapid.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import type { Recorder } from "./domain/recorder.ts";
import type { Tracer } from "./domain/tracer.ts";
import type { DevMail } from "./http/dev-mail/dev-mail.ts";
import { type Assets, loadAssets } from "./http/frame/assets.ts";
import { assembleProbes, closeProbes, listen } from "./listening.ts";
import { openLog } from "./log.ts";
import { type Measuring, openMeasuring } from "./measuring.ts";
import { makeAnnounceDue } from "./operations/approvals/announce-due.ts";
import { composeMail } from "./operations/deliveries/compose-mail.ts";
import type { MailOrigin } from "./operations/deliveries/composed-mail.ts";
import { makeSignInLink } from "./operations/people/sign-in.ts";
import { runFirst } from "./operations/workspaces/first-run.ts";
import { newKey } from "./operations/workspaces/issue-key.ts";
import { CheckpointSender } from "./outbound/add-checkpoint.ts";
import type { MailSender } from "./outbound/send-mail.ts";
import { PushSender } from "./outbound/send-push.ts";
import { TeamsSender } from "./outbound/send-teams.ts";
import { WebhookSender } from "./outbound/send-webhook.ts";
import { openPartners, type Partners } from "./partners.ts";
import { patiently, prepare } from "./prepare.ts";
import { assembleService, assembleSockets } from "./service.ts";
import { closeApp, stopOnSignal } from "./stopping.ts";
import * as people from "./storage/people/people.ts";
import { openStore, type Store } from "./storage/store.ts";
import * as workspaces from "./storage/workspaces/workspaces.ts";
import { makeTerminalMail } from "./terminal-mail.ts";
import { firstSteps, type WelcomeFacts, welcome } from "./welcome.ts";
import { pushChannel } from "./worker/push-messages.ts";
import { slackMessages } from "./worker/slack-messages.ts";
import { teamsChannel } from "./worker/teams-messages.ts";
import { Worker } from "./worker/worker.ts";

export async function serve(config: Config): Promise<void> {
  const isTraced = config.tracing !== null;
  const log = openLog({ level: config.logLevel, format: config.logFormat, isTraced });
  // Before anything is opened that would have to be closed again.
  const assets = config.role === "worker" ? null : loadAssets();
  const partners = await openPartners(config, log);
  const measuring = await openMeasuring(config.metrics, log);
  const stopping = new AbortController();
  const opening = openStore({ ...config, purpose: "serve", log });
  let node: Node | null = null;
  const stop = async (isAwaited = false) => {
    stopping.abort();
    if (!isAwaited) await node?.drain();
    await node?.stop();
    const opened = await opening;
    if (!("inUseBy" in opened)) await opened.close();
    await partners.tracing?.stop();
  };
  stopOnSignal(log, { stop, drainMs: config.drainMs });
  const store = await opening;
  if (stopping.signal.aborted) return;
  if ("inUseBy" in store) throw new OperatorFault(alreadyServed(config, store.inUseBy));
  node = assembleNode({ config, store, assets, partners, measuring, log });
  try {
    await start(node, { config, store, log, signal: stopping.signal });
  } catch (error) {
    if (stopping.signal.aborted) return;
    await stop();
    throw error;
  }
}

type StartParts = { config: Config; store: Store; log: Logger; signal: AbortSignal };

/**
 * The port is taken before the first key is made, because the key is shown once; until the node begins, calls get 503.
 * An external database may be away for long, so that node prints its address in the meantime.
 */
async function start(node: Node, parts: StartParts): Promise<void> {
  const { config, store, log, signal } = parts;
  const { promise: away, resolve: onAway } = Promise.withResolvers<void>();
  const prepared = prepare(store, config, { log, signal, onAway });
  // Awaited below in every case; until then a failure must not count as unhandled.
  prepared.catch(() => {});
  if (store.kind === "embedded") await prepared;
  collectGarbageOfStart();
  await node.measuring?.listen();
  await listenToProbes(node, config, log);
  const address = node.app === null ? null : await listen(node.app, config);
  if (address !== null) node.listensAt(address);
  const isAway = await Promise.race([prepared.then(() => false), away.then(() => true)]);
  if (isAway) log.info({ address, role: config.role }, "waiting for the database");
  await prepared;
  const greeting = await makeGreeting(parts, address);
  // Nothing is awaited from here to the welcome: a key that was made is shown.
  if (!signal.aborted) node.begin();
  showWelcome(parts, address, greeting);
  warnOfPublicUrl(config, log);
}

/** Early: a process that waits for its database lives. */
async function listenToProbes({ probes }: Node, config: Config, log: Logger): Promise<void> {
  if (probes === null || config.probePort === null) return;
  const place = { host: config.host, port: config.probePort, setting: "PROBE_PORT" };
  log.info({ probes: await listen(probes, place) }, "answering probes");
}

/** The parts of one process, by its role. */
type Node = {
  app: FastifyInstance | null;
  /** Null when nothing is measured. */
  measuring: Measuring | null;
  /** Another port for probes alone, where one is set. */
  probes: FastifyInstance | null;
  listensAt: (address: string) => void;
  /** Serves calls and does due work. Can't fail. */
  begin: () => void;
  /** Tells load balancers that it stops, and gives them time to hear it. */
  drain: () => Promise<void>;
  stop: () => Promise<void>;
};

/** Without assets it serves no calls. */
type NodeParts = {
  config: Config;
  store: Store;
  assets: Assets | null;
  partners: Partners;
  measuring: Measuring | null;
  log: Logger;
};

function assembleNode(parts: NodeParts): Node {
  const { config, store, assets, partners, measuring, log } = parts;
  const recorder = measuring?.recorder ?? null;
  const tracer = partners.tracing?.tracer ?? null;
  const listener = new Listener(store.connection, { onDeaf: () => log.warn(deafness) });
  const origin = { keyring: store.keyring, publicUrl: config.publicUrl };
  const outgoing =
    config.role === "api"
      ? null
      : assembleWorker({ ...parts, ...partners, listener, origin, recorder, tracer });
  const worker = outgoing?.worker ?? null;
  let [hasStarted, isStopping] = [false, false];
  const isStarted = () => hasStarted;
  const isDraining = () => isStopping;
  const probes = assembleProbes({ config, store, isStarted, isDraining, log });
  const service =
    assets === null
      ? null
      : assembleService({
          ...store,
          listener,
          origin,
          assets,
          rateLimit: config.rateLimit,
          trustedProxies: config.trustedProxies,
          onDue: worker === null ? makeAnnounceDue(store.db) : () => worker.wake(),
          // A proxy stands behind a public name, and some (nginx since 1.29.7) look just like somebody at this machine.
          devMail:
            config.smtpUrl === null && isLoopbackUrl(config.publicUrl)
              ? devMailOf(config, origin)
              : null,
          isMailKept: config.smtpUrl === null,
          webhookAllowed: config.webhookAllowed,
          callbackAllowed: config.callbackAllowed,
          slackApiUrl: config.slackApiUrl,
          oidc: partners.oidc,
          isStarted,
          isDraining,
          recorder,
          tracer,
          readMetrics: measuring?.scrape ?? null,
          log,
        });
  const app = service?.app ?? null;
  measuring?.watch({
    ...{ db: store.db, workerDb: outgoing?.db ?? null, listener },
    waitingCallers: service === null ? null : () => service.resolutions.waiting,
  });
  listener.start();
  const stop = async () => {
    isStopping = true;
    await Promise.all([service === null ? null : closeApp(service), outgoing?.stop()]);
    const probesClosed = probes === null ? null : closeProbes(probes);
    await Promise.all([listener.stop(), probesClosed, measuring?.stop()]);
  };
  const drain = async () => {
    isStopping = true;
    // A process that has not begun serves nobody, and a worker has no callers.
    if (hasStarted && app !== null) await pause(config.drainMs);
  };
  const listensAt = (address: string) => {
    origin.publicUrl = publicUrlAt(config, address);
  };
  const begin = () => {
    hasStarted = true;
    worker?.start();
    outgoing?.sockets.start();
  };
  return { app, probes, measuring, listensAt, begin, drain, stop };
}

/** If the system chooses the port, links are right only once it has. */
function publicUrlAt({ port, publicUrl }: Config, address: string): string {
  return port === 0 && publicUrl.endsWith(":0") ? address : publicUrl;
}

type WorkerParts = {
  config: Config;
  store: Store;
  listener: Listener;
  origin: MailOrigin;
  mails: MailSender | null;
  recorder: Recorder | null;
  tracer: Tracer | null;
  log: Logger;
};

function assembleWorker(parts: WorkerParts) {
  const { config, store, listener, origin, mails, recorder, tracer, log } = parts;
  const db = store.openWorkerPool();
  const webhooks = new WebhookSender({
    policy: makeAddressPolicy(config.webhookAllowed),
    callbacks: makeCallbackPolicies(config.callbackAllowed),
  });
  // A browser names any address it likes, and push services are on the internet.
  const pushes = new PushSender({ policy: makeAddressPolicy([]) });
  const push = pushChannel({
    db,
    keyring: store.keyring,
    send: (message) => pushes.send(message),
    subject: () => vapidSubject(origin.publicUrl, config.mailFrom.address),
  });
  const teams = new TeamsSender({ policy: makeAddressPolicy(config.webhookAllowed) });
  const checkpoints = new CheckpointSender({ policy: makeAddressPolicy(config.webhookAllowed) });
  // Only for a person who tries it out on this machine: any other output is a log.
  const isTriedOut = process.stdout.isTTY === true && isLoopbackUrl(config.publicUrl);
  const tell = makeTerminalMail((text) => process.stdout.write(text));
  const { slackApiUrl } = config;
  const slack = slackMessages({ db, keyring: store.keyring, origin, apiUrl: slackApiUrl });
  const worker = new Worker({
    db,
    listener,
    keyring: store.keyring,
    sendWebhook: (message) => webhooks.send(message),
    webhookRetryDelaysMs: config.webhookRetryDelaysMs,
    mail: {
      send: mails === null ? null : (mail) => mails.send(mail),
      origin,
      onKept: isTriedOut ? tell : () => {},
    },
    witnessing: {
      witnesses: config.witnesses,
      addCheckpoint: (witness, submission) => checkpoints.send(witness, submission),
    },
    messageChannels: [push, slack, teamsChannel({ ...store, db, origin, sender: teams })],
    recorder,
    tracer,
    log,
  });
  const onDue = () => worker.wake();
  const sockets = assembleSockets({ ...store, origin, slackApiUrl, onDue, log });
  const stop = async () => {
    // A cosignature that is lost now comes after the next start. Nothing waits for a witness.
    checkpoints.close();
    await Promise.all([worker.stop(), sockets.stop()]);
    webhooks.close();
    pushes.close();
    teams.close();
    mails?.close();
    await db.end();
  };
  return { worker, sockets, db, stop };
}

function devMailOf({ mailFrom }: Config, origin: MailOrigin): DevMail {
  return {
    compose: (mail) => composeMail(mail, origin),
    toRaw: async (mail) => {
      const { buildRawMail } = await import("./outbound/send-mail.ts");
      return buildRawMail(mail, mailFrom);
    },
  };
}

/**
 * Loading leaves much garbage behind, and V8 keeps room for as much again, which grows back by itself under load.
 * Collecting takes a tenth of a second, so it is done while nobody can call yet.
 */
function collectGarbageOfStart(): void {
  setFlagsFromString("--expose-gc");
  const collect: NodeJS.GCFunction = runInNewContext("gc");
  // Code that was compiled ahead is used only under the same flags.
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Facts that only this start knows. */
type Greeting = Pick<WelcomeFacts, "firstKey" | "signInUrl" | "isEmpty">;

const nothingToGreetWith: Greeting = { firstKey: null, signInUrl: null, isEmpty: false };

/** Key and link are for the person who tries it out on this machine. Anywhere else this output is a log. */
async function makeGreeting(parts: StartParts, address: string | null): Promise<Greeting> {
  const { config, store } = parts;
  if (address === null) return nothingToGreetWith;
  if (!isTrial(config, store)) {
    const isEmpty = !(await patiently(() => workspaces.exists(store.db), parts));
    return { ...nothingToGreetWith, isEmpty };
  }
  const key = newKey();
  const wanted = { key, isTrial: config.smtpUrl === null };
  const first = await patiently(() => runFirst(store.db, store.keyring, wanted), parts);
  if (first === null) {
    return { ...nothingToGreetWith, signInUrl: await makeWelcomeLink(parts, address) };
  }
  const signInUrl = signInUrlOf(publicUrlAt(config, address), first.signInToken);
  return { firstKey: key, signInUrl, isEmpty: false };
}

/** The owner sits at the terminal. The link is a convenience: a start without it is as good. */
async function makeWelcomeLink(
  { config, store, log }: StartParts,
  address: string,
): Promise<string | null> {
  if (process.stdout.isTTY !== true || config.smtpUrl !== null) return null;
  try {
    const email = await people.findFirstOwner(store.db);
    if (email === null) return null;
    const token = await makeSignInLink(store.db, store.keyring, email);
    return signInUrlOf(publicUrlAt(config, address), token);
  } catch (error) {
    log.warn({ err: error }, "no sign-in link could be made; countersign sign-in-link makes one");
    return null;
  }
}

function isTrial({ publicUrl }: Config, { kind }: Store): boolean {
  return kind === "embedded" && isLoopbackUrl(publicUrl);
}

function showWelcome(
  { config, store, log }: StartParts,
  address: string | null,
  greeting: Greeting,
): void {
  const isMailKept = config.smtpUrl === null;
  const isLocal = isLoopbackUrl(config.publicUrl);
  if (address !== null && (store.kind === "embedded" || config.logFormat === "text")) {
    const { dataDir } = config;
    const isMailShown = isMailKept && isLocal;
    const facts = { ...greeting, address, kind: store.kind, dataDir, isMailShown };
    process.stdout.write(welcome({ ...facts, isTrial: isTrial(config, store) }));
  } else {
    log.info({ address, role: config.role }, address === null ? "working" : "serving");
    if (greeting.isEmpty) log.info(firstSteps);
  }
  if (isMailKept && config.role !== "api" && !isLocal) {
    log.warn(
      "no mail leaves this service: set SMTP_URL. Until then mails are kept, and shown at /dev/mail only while PUBLIC_URL is this machine's",
    );
  }
}

/** Said at the start. Otherwise the first to notice is an approver whose decision is refused. */
function warnOfPublicUrl({ publicUrl }: Config, log: Logger): void {
  const flaw = flawOfPublicUrl(publicUrl);
  if (flaw !== null) log.warn(flaw);
}

const deafness =
  "announcements of other nodes do not arrive (LISTEN), so this one looks for news itself, every second: a pooler in front of PostgreSQL gives each statement another session. Give PostgreSQL's own address in DATABASE_DIRECT_URL";

function alreadyServed(config: Config, pid: number | null): string {
  const who = pid === null ? "Another process" : `The process ${pid}`;
  return `${who} already serves ${config.dataDir}. Stop it first, or start this one with another DATA_DIR and PORT.`;
}
