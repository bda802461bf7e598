// A whole service with everybody around it: PostgreSQL, two API nodes, two workers, receivers, a mailbox, agents and
// people. Each process has cables of its own to PostgreSQL, to the receivers and to the mailbox.

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Database, openDatabase } from "../../../server/src/database/database.ts";
import { parseKeyring } from "../../../server/src/domain/access/keyring.ts";
import { isRefusal } from "../../../server/src/domain/refusal.ts";
import { registerEndpoint } from "../../../server/src/operations/deliveries/manage-endpoint.ts";
import { issueKey } from "../../../server/src/operations/workspaces/issue-key.ts";
import { createWorkspace } from "../../../server/src/operations/workspaces/manage-workspace.ts";
import { Agents } from "../actors/agents.ts";
import type { Door } from "../actors/caller.ts";
import { Mailbox, mailPassword } from "../actors/mailbox.ts";
import { People } from "../actors/people.ts";
import { Receivers, temperaments } from "../actors/receivers.ts";
import type { Workspace } from "../evidence.ts";
import { Cable } from "./cable.ts";
import { Front } from "./front.ts";
import { findPort, ServiceNode } from "./node.ts";
import { type RunPostgres, startPostgres as startOne } from "./postgres.ts";

const publicUrl = "https://approvals.example";
const workspacesCount = 3;
/** The last of them. People can set no less than five minutes, which a short run would never see the end of. */
const hastyExpiryMinutes = 1;
const readyWithinMs = 120_000;
/** A killed process is started again after this long, as by a supervisor. */
const superviseMs = 500;

export type World = {
  postgres: RunPostgres;
  db: Database;
  /** The API nodes come first. */
  nodes: ServiceNode[];
  /** From each process to PostgreSQL. */
  cables: Cable[];
  receiverCable: Cable;
  receivers: Receivers;
  mailbox: Mailbox;
  agents: Agents;
  people: People;
  workspaces: (Workspace & { key: string })[];
  secrets: { name: string; value: string }[];
};

export type WorldOptions = {
  seed: number;
  /** Loaded into every process of the service before its program. */
  preload?: string;
  /** Everybody calls a load balancer in place of the nodes. */
  isBalanced?: boolean;
  /** In place of one PostgreSQL of its own. */
  startPostgres?: () => Promise<RunPostgres>;
};

/** Whatever was begun is ended, also if the rest can't be begun. */
export async function withWorld<Result>(
  options: WorldOptions,
  work: (world: World) => Promise<Result>,
): Promise<Result> {
  const endings: Ending[] = [];
  const end = async () => {
    for (const each of endings.splice(0).toReversed()) await each();
  };
  const stop = () => void end().finally(() => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  try {
    return await work(await makeWorld(options, endings));
  } finally {
    await end();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}

type Ending = () => unknown;

async function makeWorld(
  { seed, preload, isBalanced = false, startPostgres = startOne }: WorldOptions,
  endings: Ending[],
): Promise<World> {
  const postgres = await startPostgres();
  endings.push(() => postgres.end());
  const db = openDatabase({ connection: postgres.owner, connectionsMax: 4, onIdleFault: () => {} });
  endings.push(() => db.end());
  const receivers = new Receivers(seed + 1);
  endings.push(() => receivers.close());
  const secretKey = randomBytes(32).toString("base64");
  const keyring = parseKeyring(secretKey);
  if (keyring === null) throw new Error("no keyring");
  const receiverCable = new Cable({ host: "127.0.0.1", port: await receivers.open() });
  const receiverPort = await receiverCable.open();
  endings.push(() => receiverCable.close());
  const workspaces: World["workspaces"] = [];
  for (let n = 0; n < workspacesCount; n += 1) {
    workspaces.push(await makeWorkspace(db, { n, keyring, receiverPort }));
  }
  await db.query("alter table workspaces drop constraint workspaces_expiry_minutes_check");
  await db.query("update workspaces set expiry_minutes = $1 where id = $2", [
    hastyExpiryMinutes,
    workspaces.at(-1)?.id,
  ]);
  const nodes: ServiceNode[] = [];
  const doors: Door[] = [];
  const people = new People(doors, publicUrl, seed + 2);
  const mailbox = new Mailbox((mail) => people.take(mail));
  const mailPort = await mailbox.open();
  endings.push(() => mailbox.close());
  const cables: Cable[] = [];
  const { host, port, user, password, database } = postgres.service;
  for (const [name, role] of [
    ["api 1", "api"],
    ["api 2", "api"],
    ["worker 1", "worker"],
    ["worker 2", "worker"],
  ] as const) {
    const cable = new Cable(
      host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
    );
    const near = await cable.open();
    endings.push(() => cable.close());
    cables.push(cable);
    const env = {
      DATABASE_URL: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${near}/${database}`,
      DATABASE_CONNECTIONS: "12",
      SECRET_KEY: secretKey,
      PUBLIC_URL: publicUrl,
      SMTP_URL: `smtp://service:${encodeURIComponent(mailPassword)}@127.0.0.1:${mailPort}`,
      MAIL_FROM: "approvals@example.com",
      WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
      WEBHOOK_RETRY_DELAYS: "1s,3s",
      RATE_LIMIT: "0",
      DRAIN_SECONDS: isBalanced ? "3" : "1",
      ...(preload === undefined ? {} : { NODE_OPTIONS: `--import=${preload}` }),
    };
    nodes.push(new ServiceNode({ name, role, port: await findPort(), env }));
  }
  const apis = nodes.filter(({ role }) => role === "api");
  const front = isBalanced ? await Front.open(apis.map(({ port }) => port)) : null;
  if (front !== null) endings.push(() => front.close());
  doors.push(...(front === null ? apis : [front, front]));
  const agents = new Agents(doors, workspaces, seed);
  const supervised = supervise(nodes);
  endings.push(async () => {
    supervised.stop();
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
  });
  await Promise.all(nodes.map((node) => node.untilReady(readyWithinMs)));
  await front?.untilOpen(readyWithinMs);
  return {
    ...{
      postgres,
      db,
      nodes,
      cables,
      receiverCable,
      receivers,
      mailbox,
      agents,
      people,
      workspaces,
    },
    secrets: [
      { name: "SECRET_KEY", value: secretKey },
      { name: "the database's password", value: password },
      { name: "the mail server's password", value: mailPassword },
      ...workspaces.flatMap(({ key, endpoints }) => [
        { name: "an API key", value: key },
        ...endpoints.map(({ secret }) => ({ name: "an endpoint's secret", value: secret })),
      ]),
    ],
  };
}

type Making = { n: number; keyring: Parameters<typeof registerEndpoint>[1]; receiverPort: number };

async function makeWorkspace(
  db: Database,
  { n, keyring, receiverPort }: Making,
): Promise<World["workspaces"][number]> {
  const made = await createWorkspace(db, { name: `Workspace ${n + 1}` });
  if (isRefusal(made)) throw new Error(made.message);
  const issued = await issueKey(db, { workspaceId: made.id, name: "Agents" });
  if (isRefusal(issued)) throw new Error(issued.message);
  const endpoints: Workspace["endpoints"] = [];
  for (const temperament of temperaments.slice(2 * n, 2 * n + 2)) {
    // Its id is part of its address only once it is known, so receivers know it by a name of its own.
    const url = `http://127.0.0.1:${receiverPort}/${temperament}/${temperament}`;
    const input = { workspaceId: made.id, url, eventKinds: null, examineAddress: async () => null };
    const endpoint = await registerEndpoint(db, keyring, input);
    if (isRefusal(endpoint)) throw new Error(endpoint.message);
    await db.query("update endpoints set url = $1 where id = $2", [
      url.replace(/[^/]+$/, endpoint.id),
      endpoint.id,
    ]);
    endpoints.push({ id: endpoint.id, secret: endpoint.secret });
  }
  return { id: made.id, key: issued.key, endpoints };
}

/** Starts again whoever ended. */
function supervise(nodes: readonly ServiceNode[]): { stop(): void } {
  const startAll = () => {
    for (const node of nodes) node.start();
  };
  startAll();
  const timer = setInterval(startAll, superviseMs);
  return { stop: () => clearInterval(timer) };
}

export async function untilAllReady(
  { nodes }: Pick<World, "nodes">,
  withinMs: number,
): Promise<void> {
  await pause(superviseMs);
  await Promise.all(nodes.map((node) => node.untilReady(withinMs)));
}
