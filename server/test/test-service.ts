// The service under test: the real app on a real database, called without a socket. Every answer is checked
// against the OpenAPI document on the way.

import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance, InjectOptions } from "fastify";
import type { DestinationStream } from "pino";
import type { CreateRequest } from "../../sdk/src/contract.ts";
import { type Database, openDatabase } from "../src/database/database.ts";
import { Listener } from "../src/database/listener.ts";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import type { AllowedCidr, Cidr } from "../src/domain/access/network-address.ts";
import type { OidcClient } from "../src/domain/access/openid.ts";
import type { RateLimit } from "../src/domain/access/rate-limit.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { SubmittedName } from "../src/domain/shown/submitted-fields.ts";
import type { WorkspaceSettings } from "../src/domain/workspace/workspace-settings.ts";
import type { DevMail } from "../src/http/dev-mail/dev-mail.ts";
import { type Assets, toAssets } from "../src/http/frame/assets.ts";
import { openLog } from "../src/log.ts";
import { issueKey } from "../src/operations/workspaces/issue-key.ts";
import { createWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import { assembleService } from "../src/service.ts";
import type { InboxWatch } from "../src/storage/approvals/inbox-watch.ts";
import type { ResolutionWatch } from "../src/storage/approvals/resolution-watch.ts";
import { checkAnswer } from "./openapi-check.ts";
import { hangMs } from "./patience.ts";
import { makeTestDatabase, type TestDatabase, throughPooler } from "./test-database.ts";

export type Reply = {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape OpenAPI has checked
  json: any;
};

export type CallOptions = {
  key?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | object;
};

export type TestNode = {
  app: FastifyInstance;
  /** The test's own, as the owner of the tables. */
  db: Database;
  /** The service's own, which can't change what is final. */
  servicePool: Database;
  keyring: Keyring;
  resolutions: ResolutionWatch;
  inboxWatch: InboxWatch;
  call(
    method: "GET" | "POST" | "HEAD" | "PUT" | "DELETE" | "PATCH" | "OPTIONS",
    path: string,
    options?: CallOptions,
  ): Promise<Reply>;
  stop(): Promise<void>;
};

export type NodeOptions = {
  /** Calls wait for so long for the end of an outage. */
  shortOutageMs?: number;
  rateLimit?: RateLimit | null;
  trustedProxies?: readonly Cidr[];
  clock?: () => number;
  requestTimeoutMs?: number;
  answerStallMs?: number;
  logDestination?: DestinationStream;
  onDue?: () => void;
  webhookAllowed?: readonly AllowedCidr[];
  callbackAllowed?: readonly AllowedCidr[];
  slackApiUrl?: string;
  devMail?: DevMail;
  oidc?: OidcClient;
  keyring?: Keyring;
  publicUrl?: string;
  slackPatience?: { callMs: number; acknowledgeMs: number };
  assets?: Assets;
};

/** With a path, as behind a proxy that serves more than this. */
export const testPublicUrl = "https://approvals.example/countersign";

export const testKeyring = parseKeyring(randomBytes(32).toString("base64")) as Keyring;

/** Stands for the built pages, so that what the tests see does not depend on the last build. */
export const testAssets = toAssets(
  JSON.stringify({
    "src/review/main.tsx": {
      file: "assets/review-abc.js",
      css: ["assets/review-abc.css"],
      imports: ["_shared-abc.js"],
      dynamicImports: ["src/editor.ts"],
    },
    "src/inbox/main.tsx": {
      file: "assets/inbox-abc.js",
      css: ["assets/inbox-abc.css"],
      imports: ["_shared-abc.js"],
    },
    "_shared-abc.js": { file: "assets/shared-abc.js" },
    "src/editor.ts": { file: "assets/editor-abc.js" },
  }),
  new Map(
    Object.entries({
      "review-abc.js": 'import "./shared-abc.js";\n',
      "review-abc.js.br": "as brotli",
      "review-abc.js.gz": "as gzip",
      "shared-abc.js": "export {};\n",
      "editor-abc.js": "export {};\n",
      "review-abc.css": ".page {}\n",
      "inbox-abc.js": 'import "./shared-abc.js";\n',
      "inbox-abc.css": ".inbox {}\n",
      "boot-abc.js": "export {};\n",
      "dashboard-abc.js": "export {};\n",
      "dashboard-abc.css": ".shell {}\n",
    }).map(([name, text]) => [name, Buffer.from(text)]),
  ),
  JSON.stringify({
    "src/dashboard/boot.ts": {
      file: "assets/boot-abc.js",
      dynamicImports: ["src/dashboard/main.tsx"],
    },
    "src/dashboard/main.tsx": {
      file: "assets/dashboard-abc.js",
      css: ["assets/dashboard-abc.css"],
    },
  }),
);

/** One node on a database; start several to see them work together. */
export async function startNode(
  { connection, serviceConnection }: Pick<TestDatabase, "connection" | "serviceConnection">,
  options: NodeOptions = {},
): Promise<TestNode> {
  const { logDestination, publicUrl = testPublicUrl, shortOutageMs = 0, ...rest } = options;
  const db = openDatabase({ connection, connectionsMax: 10, onIdleFault: () => {} });
  // Settings of one session don't go through a pooler.
  const { connectionString, ...settings } = serviceConnection;
  const pooled = Object.keys(settings).length === 0 ? throughPooler(connectionString) : null;
  const servicePool = openDatabase({
    connection: pooled === null ? serviceConnection : { connectionString: pooled },
    isThroughPooler: pooled !== null,
    connectionsMax: 10,
    shortOutageMs,
    onIdleFault: () => {},
  });
  const keyring = options.keyring ?? testKeyring;
  const log = openLog({
    level: logDestination === undefined ? "fatal" : "trace",
    format: "json",
    ...(logDestination === undefined ? {} : { destination: logDestination }),
  });
  const listener = new Listener(serviceConnection);
  const { app, resolutions, inboxWatch } = assembleService({
    db: servicePool,
    listener,
    keyring,
    origin: { publicUrl },
    assets: testAssets,
    rateLimit: null,
    onDue: () => {},
    devMail: null,
    isMailKept: true,
    oidc: null,
    // Nobody is there.
    slackApiUrl: "http://127.0.0.1:9/api/",
    log,
    ...rest,
  });
  listener.start();
  await app.ready();
  return {
    app,
    db,
    servicePool,
    keyring,
    resolutions,
    inboxWatch,
    call: (method, path, callOptions) => call(app, method, path, callOptions),
    stop: async () => {
      await app.close();
      await listener.stop();
      await servicePool.end();
      await db.end();
    },
  };
}

export type TestService = TestNode & { database: TestDatabase };

/** One node on a database of its own, for a whole test file. */
export async function startService(options: NodeOptions = {}): Promise<TestService> {
  const database = await makeTestDatabase();
  const node = await startNode(database, options);
  return {
    ...node,
    database,
    stop: async () => {
      await node.stop();
      await database.drop();
    },
  };
}

/** A workspace for one test, so that tests do not see each other. */
export async function makeWorkspace(
  db: Database,
  settings: Partial<WorkspaceSettings> = {},
): Promise<{ id: string; key: string; keyId: string }> {
  const workspace = await createWorkspace(db, { name: "Test", ...settings });
  if (isRefusal(workspace)) throw new Error(workspace.message);
  const issued = await issueKey(db, { workspaceId: workspace.id, name: "Test key" });
  if (isRefusal(issued)) throw new Error(issued.message);
  return { id: workspace.id, key: issued.key, keyId: issued.id };
}

/**
 * A call as one of a flood: when the service has no connection free in time it says 503 and when to ask again, and a
 * caller asks again. An idempotency key keeps a create that was counted from being counted twice.
 */
export async function insist(
  { call: ask }: Pick<TestNode, "call">,
  method: Parameters<TestNode["call"]>[0],
  path: string,
  options: CallOptions = {},
): Promise<Reply> {
  const isCreate = method === "POST" && path === "/v1/requests";
  const headers = {
    ...(isCreate ? { "idempotency-key": randomUUID() } : {}),
    ...options.headers,
  };
  const end = performance.now() + hangMs;
  for (;;) {
    const reply = await ask(method, path, { ...options, headers });
    if (reply.status !== 503 || performance.now() > end) return reply;
    await pause(Number(reply.headers["retry-after"]) * 1_000);
  }
}

export const minimalBody = { summary: "Refund order 1042", notify: "ann@example.com" };

/** With every field that one approver needs. The compiler holds it, and the SDK's type, to the table of fields. */
export const fullBody = {
  summary: "Pay invoice 77",
  payload: { amount: 120.5, to: "ACME" },
  notify: "ann@example.com",
  agentName: "payer",
  metadata: ["trace", 1],
  agentState: { step: 3 },
  reasoning: "It is due today.\nNothing speaks against it.",
  recentActions: ["read invoice", "checked budget"],
  ttlMinutes: 30,
  // By its name nobody is there.
  callbackUrl: "https://workflows.invalid/resume/77",
} satisfies {
  [Name in Exclude<SubmittedName, LaterName>]: NonNullable<CreateRequest[Name]>;
} & Record<Exclude<keyof CreateRequest, LaterName>, unknown>;

type LaterName = keyof typeof votingFields | keyof typeof channelFields | keyof typeof proofFields;

/** The fields by which a caller asks for proof. */
export const proofFields = {
  audience: ["https://pay.example/refunds", "ledger"],
  requireSignature: true,
} satisfies Partial<CreateRequest>;

/** The field that says by which channels people may be asked. */
export const channelFields = { channels: ["slack_link", "mail"] } satisfies Partial<CreateRequest>;

/** The fields by which several people decide. */
export const votingFields = {
  quorum: 2,
  then: [{ notify: "cfo@example.com", quorum: 1 }],
  requestedBy: "rita@example.com",
  escalate: [{ afterMinutes: 60, notify: "boss@example.com" }],
} satisfies Partial<CreateRequest>;

async function call(
  app: FastifyInstance,
  method: string,
  path: string,
  { key, headers = {}, body }: CallOptions = {},
): Promise<Reply> {
  const response = await app.inject({
    method: method as "GET",
    url: path,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: toPayload(body) }),
  } satisfies InjectOptions);
  const reply: Reply = {
    status: response.statusCode,
    headers: response.headers as Record<string, string>,
    text: response.body,
    json: isToken(response.headers) ? null : parseIfJson(response.body),
  };
  checkAnswer(method, path, reply);
  return reply;
}

function toPayload(body: string | Buffer | object): string | Buffer {
  return typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}

function isToken({ "content-type": type }: Record<string, unknown>): boolean {
  return type === "application/jwt";
}

function parseIfJson(text: string): unknown {
  return text === "" ? null : JSON.parse(text);
}
