// The whole service as it runs for users: the program as a process of its own on a copy of the migrated database, its
// worker, a real mail server and, where a journey wants one, a reverse proxy that serves it under a path.

import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type Database, openDatabase } from "../server/src/database/database.ts";
import { until } from "../server/test/patience.ts";
import { makeTestDatabase } from "../server/test/test-database.ts";
import { type ReceivedMail, startMailserver } from "../server/test/test-mailbox.ts";
import {
  type Environment,
  environmentOn,
  type Program,
  startProgram,
  untilWritten,
} from "../server/test/test-program.ts";
import { isAskedAgain } from "./browser.ts";

export type SiteOptions = {
  /** Serves it behind a reverse proxy under this path, such as "/approvals". */
  path?: string;
  /** Whether that proxy passes the path on with every call, instead of taking it off. */
  passesPathOn?: boolean;
  /** More of the program's variables. */
  environment?: Environment;
};

export type Site = {
  /** PUBLIC_URL: what links start with, and where a browser goes. */
  url: string;
  /** The service itself, for agents. */
  address: string;
  /** For moving rows in time: the service reads no clock but the database's. */
  db: Database;
  /** Every mail so far, to whomever. */
  mails: ReceivedMail[];
  stop(): Promise<void>;
};

export async function startSite(options: SiteOptions = {}): Promise<Site> {
  const { path, environment = {} } = options;
  const [database, mailserver, proxy] = await Promise.all([
    makeTestDatabase(),
    startMailserver(),
    path === undefined ? null : startProxy(path, options),
  ]);
  const program = startProgram({
    ...environmentOn(database.url),
    SMTP_URL: mailserver.url,
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    ...(proxy === null ? {} : { PUBLIC_URL: proxy.url }),
    ...environment,
  });
  // Its own promise gives up after a while, and the journeys of a file may take longer on a busy machine.
  const ended = new Promise<void>((resolve) => program.child.once("close", () => resolve()));
  program.ended.catch(() => {});
  const { connection } = database;
  const db = openDatabase({ connection, connectionsMax: 2, onIdleFault: () => {} });
  const stop = async () => {
    program.child.kill("SIGTERM");
    await ended;
    await Promise.all([proxy?.close(), mailserver.close(), db.end()]);
    await database.drop();
  };
  try {
    const address = await addressOf(program);
    proxy?.forwardTo(address);
    return {
      url: proxy?.url ?? environment.PUBLIC_URL ?? address,
      address,
      db,
      mails: mailserver.received,
      stop: async () => {
        await stop();
        assertNoFaults(program);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Where it says that it listens, once it is ready there. */
async function addressOf(program: Program): Promise<string> {
  const [, address = ""] = await untilWritten(program, /"address":"(http:[^"]+)"/);
  await until(async () => (await fetch(`${address}/readyz`)).status === 200, "it is ready");
  return address;
}

/** Nothing that a person does in a browser may make the service complain. */
function assertNoFaults({ output, errors }: Program): void {
  const faults = output.split("\n").filter(isFault);
  assert.deepEqual({ faults, errors }, { faults: [], errors: "" });
}

/** A line of the service's log that tells of a fault. Of answers only our own count, not those of receivers. */
export function isFault(line: string): boolean {
  if (/"level":"(error|fatal)"/.test(line)) return true;
  if (!/"msg":"call"/.test(line)) return false;
  const status = Number(/"status":([0-9]{3})\b/.exec(line)?.[1]);
  return status >= 500 && !isAskedAgain(status);
}

/** Both ways are usual: nginx takes the path off when its `proxy_pass` ends in a path itself, and leaves it otherwise. */
async function startProxy(path: string, { passesPathOn = false }: SiteOptions) {
  let upstream = "";
  const server = http.createServer((request, response) => {
    const { method, headers, url = "" } = request;
    if (!url.startsWith(`${path}/`)) {
      response.writeHead(404).end();
      return;
    }
    const target = `${upstream}${passesPathOn ? url : url.slice(path.length)}`;
    const call = http.request(target, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    call.on("error", () => response.destroy());
    response.on("close", () => call.destroy());
    request.pipe(call);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}${path}`,
    forwardTo: (address: string) => {
      upstream = address;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
