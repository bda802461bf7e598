// The one session as superuser that every process using the embedded PostgreSQL keeps open. Its
// advisory locks count the users: a process that is killed loses its session and with it its locks,
// so nothing can be stale, unlike a file with a process number in it.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { OperatorFault } from "../../domain/operator-fault.ts";
import { DatabaseClient } from "../database-client.ts";
import { type Cluster, superuserName } from "./cluster.ts";
import { ensurePostmaster, faultWithLog, type Postmaster, stopPostmaster } from "./postmaster.ts";
import { isAlive } from "./programs.ts";

const usableWithinMs = 60_000;
const connectTimeoutMs = 10_000;
const queryTimeoutMs = 60_000;
const disconnectTimeoutMs = 2_000;
const retryPauseMs = 50;
/** How long the session of a killed server may take to notice that its client is gone. */
const deadServerGraceMs = 3_000;

const lockSpace = 0x434e5453; // "CNTS", so that no other use of advisory locks meets ours
const locks = { inUse: 1, serving: 2, preparing: 3 };
const takeStatements = {
  alone: "select pg_try_advisory_lock($1, $2) as taken",
  shared: "select pg_try_advisory_lock_shared($1, $2) as taken",
};
const databaseName = "countersign";
/** Owns the database and its tables, and is used for migrating alone. */
export const ownerName = "countersign";
/** Everything that runs: what its rights are, the storage decides. */
export const serviceName = "countersign_service";
const isPreparedSql = `select where exists (select from pg_database where datname = '${databaseName}')
  and exists (select from pg_roles where rolname = '${serviceName}')`;
const hasRoleSql = "select from pg_roles where rolname = $1";
const hasDatabaseSql = "select from pg_database where datname = $1";

export type Purpose = "serve" | "command";
export type InUse = { inUseBy: number | null };
export type Connection = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
};
export type Session = {
  client: pg.Client;
  /** As the service's role. */
  connection: Connection;
  ownerConnection: Connection;
  superuserConnection: Connection;
};

/** Brings the server up if it is not, and counts this process among its users. */
export async function beginSession(cluster: Cluster, purpose: Purpose): Promise<Session | InUse> {
  const begun = performance.now();
  let reason = "";
  while (performance.now() - begun < usableWithinMs) {
    const postmaster = await ensurePostmaster(cluster, begun + usableWithinMs);
    const outcome = await tryToBegin(cluster, postmaster, purpose);
    if ("client" in outcome) return outcome;
    if ("inUseBy" in outcome) {
      const isGraceOver = performance.now() - begun > deadServerGraceMs;
      if (isAliveServer(outcome.inUseBy) || isGraceOver) return outcome;
    }
    if ("notYet" in outcome) reason = outcome.notYet;
    await pause(retryPauseMs);
  }
  throw await faultWithLog(`PostgreSQL did not become usable (${reason})`, cluster);
}

/** Ends the session, and with it the server if nobody else uses it. */
export async function endSession({ client }: Session, cluster: Cluster): Promise<void> {
  // While we are the last, nobody can begin: newcomers wait, and start a new server.
  if (await isLastUser(client)) await stopPostmaster(cluster);
  await disconnect(client);
}

function isAliveServer(pid: number | null): boolean {
  return pid !== null && isAlive(pid);
}

type NotYet = { notYet: string };

async function tryToBegin(
  cluster: Cluster,
  postmaster: Postmaster,
  purpose: Purpose,
): Promise<Session | InUse | NotYet> {
  const session = newSession(cluster, postmaster, purpose);
  const { client } = session;
  try {
    await client.connect();
    if (!(await take(client, "shared", locks.inUse))) {
      await disconnect(client);
      return { notYet: "it is being stopped" };
    }
    if (purpose === "serve" && !(await take(client, "alone", locks.serving))) {
      const inUseBy = await findServing(client);
      // The session of a killed server ends in a moment, and then we serve: stopping PostgreSQL for
      // that moment would only cost a start. A living server may leave just now, and we be the last.
      if (isAliveServer(inUseBy)) await endSession(session, cluster);
      else await disconnect(client);
      return { inUseBy };
    }
    await prepareDatabase(client, cluster);
    return session;
  } catch (error) {
    await disconnect(client);
    if (isGoneServer(error)) return { notYet: error.message };
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw await faultWithLog(`PostgreSQL cannot be used (${error.message})`, cluster);
  }
}

function newSession(cluster: Cluster, postmaster: Postmaster, purpose: Purpose): Session {
  const place = { host: postmaster.socketDirectory, port: postmaster.port };
  const superuserConnection = {
    ...place,
    user: superuserName,
    password: cluster.superuserPassword,
    database: "postgres",
  };
  const client = new DatabaseClient({
    ...superuserConnection,
    application_name: `countersign ${purpose} ${process.pid}`,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
  });
  const database = databaseName;
  return {
    client,
    superuserConnection,
    connection: { ...place, database, user: serviceName, password: cluster.servicePassword },
    ownerConnection: { ...place, database, user: ownerName, password: cluster.ownerPassword },
  };
}

/** Gives up our locks and takes one that keeps everybody out, if there is nobody else. */
async function isLastUser(client: pg.Client): Promise<boolean> {
  try {
    // In this order, so that of two processes that leave at once the later one finds itself last.
    await client.query("select pg_advisory_unlock_all()");
    return await take(client, "alone", locks.inUse);
  } catch (error) {
    // Another process that leaves at this moment has stopped it already.
    if (isGoneServer(error)) return false;
    throw error;
  }
}

/**
 * A server may stop, crash or recover between any two statements, and says so with an SQLSTATE of class 57 or by
 * hanging up. Any other error would come again.
 */
function isGoneServer(error: unknown): error is Error {
  if (error instanceof pg.DatabaseError) return error.code?.startsWith("57") === true;
  return error instanceof Error && !(error instanceof OperatorFault);
}

async function take(
  client: pg.Client,
  how: keyof typeof takeStatements,
  lock: number,
): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(takeStatements[how], [lockSpace, lock]);
  return rows[0]?.taken === true;
}

/** The process number of the server that holds the lock; it is in the name of its session. */
async function findServing(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ pid: number }>(
    `select substring(application_name from '^countersign serve (\\d+)$')::integer as pid
       from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and classid = $1 and objid = $2 and granted`,
    [lockSpace, locks.serving],
  );
  return rows[0]?.pid ?? null;
}

/** Makes both roles and their database, once, and closes the superuser's own to them. */
async function prepareDatabase(client: pg.Client, cluster: Cluster): Promise<void> {
  if (await has(client, isPreparedSql)) return;
  // Two first starts may get here, and one may be killed between any two statements: so one at a
  // time, and each step only if it is missing.
  await client.query("select pg_advisory_lock($1, $2)", [lockSpace, locks.preparing]);
  await client.query("revoke connect on database postgres from public");
  await makeRole(client, ownerName, { password: cluster.ownerPassword, rights: "createdb" });
  await makeRole(client, serviceName, { password: cluster.servicePassword, rights: "" });
  if (!(await has(client, hasDatabaseSql, databaseName))) {
    await client.query(`create database ${databaseName} owner ${ownerName}`);
  }
  await client.query("select pg_advisory_unlock($1, $2)", [lockSpace, locks.preparing]);
}

async function has(client: pg.Client, sql: string, ...values: string[]): Promise<boolean> {
  return (await client.query(sql, values)).rowCount === 1;
}

/** "create role" takes no parameters, so PostgreSQL itself puts the password into its text. */
async function makeRole(
  client: pg.Client,
  name: string,
  { password, rights }: { password: string; rights: string },
): Promise<void> {
  if (await has(client, hasRoleSql, name)) return;
  const { rows } = await client.query<{ statement: string }>(
    `select format('create role ${name} login ${rights} password %L', $1::text) as statement`,
    [password],
  );
  await client.query(rows[0]?.statement ?? "");
}

/** Doesn't wait for ever for a hanging server to say goodbye. */
async function disconnect(client: pg.Client): Promise<void> {
  const patience = new AbortController();
  const { signal } = patience;
  await Promise.race([client.end(), pause(disconnectTimeoutMs, undefined, { signal })]);
  patience.abort();
}
