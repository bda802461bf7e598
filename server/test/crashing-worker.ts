// A real worker in a process of its own that ends or stops itself at a named point, or is ended from outside. This
// file is both sides: tests call `startCrashingWorker`, and the process that it starts runs this same file.

import { spawn } from "node:child_process";
import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { type Database, openDatabase } from "../src/database/database.ts";
import { Listener } from "../src/database/listener.ts";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import {
  loopbackCidrs,
  makeAddressPolicy,
  makeCallbackPolicies,
} from "../src/domain/access/network-address.ts";
import { openLog } from "../src/log.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
import { WebhookSender } from "../src/outbound/send-webhook.ts";
import { Worker } from "../src/worker/worker.ts";
import { asServiceUrl } from "./test-database.ts";

export type CrashPoint =
  /** The claim is committed, with the attempt's row, and its answer has just come. */
  | "claimed"
  /** The message is built, and nothing of it was sent. */
  | "before_sending"
  /** The receiver has answered, and nothing of that is recorded. */
  | "answered";

export type Crash = {
  of: "webhook" | "callback" | "mail";
  at: CrashPoint;
  signal: "SIGKILL" | "SIGSTOP";
};

export type CrashingWorkerOptions = {
  databaseUrl: string;
  keyring: Keyring;
  publicUrl: string;
  /** Without it, mails are kept. */
  smtpUrl?: string;
  /** The worker crashes itself in this way, the first time it gets there. */
  crash?: Crash;
};

/** PostgreSQL knows its connections by this name. */
export const crashingWorkerName = "countersign worker";

type LogLine = { msg: string; [field: string]: unknown };

export type CrashingWorker = {
  log: LogLine[];
  /** The signal that ended it, or null. */
  ended: Promise<NodeJS.Signals | null>;
  signal(name: NodeJS.Signals): void;
};

type Settings = Omit<CrashingWorkerOptions, "keyring"> & { secretKey: string };

/** Resolves when the worker has started; by then it may have claimed due deliveries. */
export async function startCrashingWorker({
  keyring,
  ...rest
}: CrashingWorkerOptions): Promise<CrashingWorker> {
  const secretKey = keyring.current.keyObject.export().toString("base64");
  const databaseUrl = asServiceUrl(rest.databaseUrl);
  const settings: Settings = { ...rest, databaseUrl, secretKey };
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const log: LogLine[] = [];
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.on("exit", (_code, signal) => resolve(signal));
  });
  const started = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const entry = JSON.parse(line) as LogLine;
      log.push(entry);
      if (entry.msg === startedMessage) resolve();
    });
  });
  await Promise.race([started, ended]);
  return { log, ended, signal: (name) => void child.kill(name) };
}

const startedMessage = "the worker has started";

if (import.meta.main) work(JSON.parse(process.argv[2] ?? "") as Settings);

function work({ databaseUrl, secretKey, publicUrl, smtpUrl, crash }: Settings): void {
  const keyring = parseKeyring(secretKey) as Keyring;
  const connection = { connectionString: databaseUrl, application_name: crashingWorkerName };
  const log = openLog({ level: "info", format: "json" });
  const db = openDatabase({ connection, connectionsMax: 6, walksIndexes: true, onIdleFault });
  const listener = new Listener(connection);
  const webhooks = new WebhookSender({
    policy: makeAddressPolicy(loopbackCidrs),
    callbacks: makeCallbackPolicies(loopbackCidrs),
  });
  const from = { name: "", address: "approvals@countersign.example" };
  const mails = smtpUrl === undefined ? null : new MailSender({ smtpUrl, from });
  const reach = makeReach(crash);
  watchClaims(db, reach);
  const worker = new Worker({
    db,
    listener,
    keyring,
    sendWebhook: (message) =>
      around(reach, message.isCallback ? "callback" : "webhook", (each: typeof message) =>
        webhooks.send(each),
      )(message),
    webhookRetryDelaysMs: [150, 150],
    mail: {
      send: mails === null ? null : around(reach, "mail", (mail) => mails.send(mail)),
      origin: { keyring, publicUrl },
      onKept: () => {},
    },
    log,
  });
  listener.start();
  worker.start();
  // A test that is cut off leaves no worker behind.
  process.stdin.on("end", () => process.exit(1)).resume();
  process.on("SIGTERM", () => {
    void worker.stop().then(() => process.exit(0));
  });
  log.info(startedMessage);
  // A killed worker would not leave its compiled code to the next one.
  flushCompileCache();
}

function onIdleFault(): void {}

type Reach = (of: Crash["of"], at: CrashPoint) => void;

function makeReach(crash: Crash | undefined): Reach {
  let isOver = false;
  return (of, at) => {
    if (isOver || crash === undefined || crash.of !== of || crash.at !== at) return;
    isOver = true;
    process.kill(process.pid, crash.signal);
  };
}

function around<Message, Answer>(
  reach: Reach,
  of: Crash["of"],
  send: (message: Message) => Promise<Answer>,
): (message: Message) => Promise<Answer> {
  return async (message) => {
    reach(of, "before_sending");
    const answer = await send(message);
    reach(of, "answered");
    return answer;
  };
}

const claimOf: Record<string, Crash["of"]> = {
  "dueWebhooks.claim": "webhook",
  "dueCallbacks.claim": "callback",
  "dueMails.claim": "mail",
};

/** A claim of callbacks also answers how far it has looked. */
function isTaken(row: unknown): boolean {
  return (row as { delivery_id?: string | null }).delivery_id !== null;
}

/** There is no other place to stand between a claim's answer and its first use. */
function watchClaims(db: Database, reach: Reach): void {
  const query = db.query.bind(db) as (
    config: { name?: string },
    ...values: unknown[]
  ) => Promise<{ rows: unknown[] }>;
  const watched: typeof query = async (config, ...values) => {
    const result = await query(config, ...values);
    const of = claimOf[config.name ?? ""];
    if (of !== undefined && result.rows.some(isTaken)) reach(of, "claimed");
    return result;
  };
  db.query = watched as unknown as Database["query"];
}
