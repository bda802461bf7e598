// The PostgreSQL that comes with the installation, for use without DATABASE_URL: on a private socket below DATA_DIR. It
// runs as long as a process of ours uses it, and is restarted if it goes away. The files beside this one do the work;
// this one ties them together.
import { setTimeout as pause } from "node:timers/promises";
import { readBaseBackup } from "./base-backup.ts";
import { openCluster } from "./cluster.ts";
import {
  beginSession,
  type Connection,
  endSession,
  type InUse,
  type Purpose,
  type Session,
} from "./session.ts";

const backoffFirstMs = 100;
const backoffMaxMs = 10_000;

export type EmbeddedPostgres = {
  /** The service's role, which can't change what is final; fits pg.ClientConfig. */
  connection: Connection;
  /** The role that owns the database: for migrating, and nothing else. */
  ownerConnection: Connection;
  /** The whole cluster as one tar, of one moment, while it is in use. */
  readBaseBackup(): AsyncIterable<Buffer>;
  /** Ends this process's use. PostgreSQL is stopped when nobody else uses it. Idempotent. */
  release(): Promise<void>;
};

/** The process number of the server that already serves this DATA_DIR, if found. */
export type EmbeddedPostgresInUse = InUse;

/** One server at a time may use a DATA_DIR, and any number of commands beside it. */
export async function useEmbeddedPostgres(options: {
  dataDir: string;
  purpose: Purpose;
  log: { info(message: string): void; warn(message: string): void };
}): Promise<EmbeddedPostgres | EmbeddedPostgresInUse> {
  const { dataDir, purpose, log } = options;
  const cluster = await openCluster(dataDir, () =>
    log.info(`Creating the database in ${dataDir}; this happens once.`),
  );
  const first = await beginSession(cluster, purpose);
  if ("inUseBy" in first) return first;

  let session: Session | null = null;
  let recovery = Promise.resolve();
  let release: Promise<void> | null = null;
  const releasing = new AbortController();

  function keep(begun: Session): void {
    session = begun;
    begun.client.once("end", () => {
      session = null;
      if (!releasing.signal.aborted) recovery = recover();
    });
  }

  /** PostgreSQL or its connection to us died. Nothing else can work until it is back. */
  async function recover(): Promise<void> {
    log.warn("PostgreSQL went away; bringing it up again.");
    for (let backoffMs = backoffFirstMs; ; backoffMs = Math.min(2 * backoffMs, backoffMaxMs)) {
      try {
        const begun = await beginSession(cluster, purpose);
        if ("client" in begun) {
          log.info("PostgreSQL is back.");
          return keep(begun);
        }
        log.warn(`Another server (process ${begun.inUseBy}) has taken over ${dataDir}.`);
      } catch (error) {
        // Nobody waits for this error, and the next try may well succeed.
        log.warn(error instanceof Error ? error.message : String(error));
      }
      try {
        await pause(backoffMs, undefined, { signal: releasing.signal });
      } catch {
        return; // released
      }
    }
  }

  async function end(): Promise<void> {
    releasing.abort();
    // Waits for a server that is just starting, so as not to leave it behind unused.
    await recovery;
    if (session !== null) await endSession(session, cluster);
  }

  keep(first);
  return {
    connection: first.connection,
    ownerConnection: first.ownerConnection,
    readBaseBackup: () => readBaseBackup(first.superuserConnection),
    release() {
      release ??= end();
      return release;
    },
  };
}
