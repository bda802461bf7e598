// The server process of the embedded PostgreSQL: finds it, starts it, stops it. PostgreSQL's own
// postmaster.pid says what there is to know. pg_ctl does no more than this, but looks only every
// 100 ms, costs a process each time and cannot tell why a server did not start.
import type { ChildProcess } from "node:child_process";
import { constants } from "node:fs";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { OperatorFault } from "../../domain/operator-fault.ts";
import { type Cluster, socketPort } from "./cluster.ts";
import {
  isOurselves,
  type Launch,
  run,
  startInBackground,
  throwIfUnreachable,
} from "./programs.ts";
import { isSystemError } from "./system-error.ts";

const pollMs = 10;
const restartPauseMs = 100;
const stoppedWithinMs = 60_000;
const failedStartsMax = 3;
const emptyLockAgeMs = 5_000;
const logBytesMax = 4 * 1024 * 1024;
const logTailBytes = 4096;
const logTailLines = 8;
const mebibyte = 1024 * 1024;

export type Postmaster = { pid: number; socketDirectory: string; port: number; isReady: boolean };

/** Returns when a server accepts connections: one that runs already, or one that this starts. */
export async function ensurePostmaster(cluster: Cluster, deadline: number): Promise<Postmaster> {
  let started: StartedServer | null = null;
  let failedStarts = 0;
  while (performance.now() < deadline) {
    const lock = await readLock(cluster);
    const postmaster = lock === null ? null : await postmasterOf(lock, cluster);
    if (postmaster?.isReady) return postmaster;
    if (postmaster === null && (started === null || started.hasEnded())) {
      if (started !== null) {
        await started.throwIfNotRunnable();
        // With a lock there, another server is still stopping or its last processes are still
        // ending, which passes. Without one, the server found something wrong that will not pass.
        if (lock === null) failedStarts += 1;
        if (failedStarts === failedStartsMax) break;
        await pause(restartPauseMs);
      }
      started = await startServer(cluster, lock?.pid ?? null);
    }
    await pause(pollMs);
  }
  throw await faultWithLog("PostgreSQL did not start", cluster);
}

export async function stopPostmaster(cluster: Cluster): Promise<void> {
  const lock = await readLock(cluster);
  const postmaster = lock === null ? null : await postmasterOf(lock, cluster);
  if (postmaster === null) return;
  const deadline = performance.now() + stoppedWithinMs;
  askToStop(postmaster.pid);
  while (performance.now() < deadline) {
    if (!(await isServerOf(cluster, postmaster.pid))) return;
    await pause(pollMs);
  }
  throw await faultWithLog("PostgreSQL did not stop", cluster);
}

/** SIGINT is PostgreSQL's "fast" way to stop: it ends the sessions and loses nothing. */
function askToStop(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    if (!isSystemError(error, "ESRCH")) throw error; // else it has just ended by itself
  }
}

export async function faultWithLog(what: string, { logFile }: Cluster) {
  const lines = await lastLines(logFile);
  return new OperatorFault(`${what}. The last lines of its log ${logFile} are:\n${lines}`);
}

type Lock = { pid: number | null; lines: string[] };

/** PostgreSQL's lock on the cluster, whether its server lives or not. */
async function readLock({ data }: Cluster): Promise<Lock | null> {
  try {
    const lines = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
    const pid = Number(lines[0]);
    return { pid: Number.isInteger(pid) && pid > 0 ? pid : null, lines };
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}

/** The server that holds the lock, or null if the process of that number is no server of this cluster. */
async function postmasterOf({ pid, lines }: Lock, cluster: Cluster): Promise<Postmaster | null> {
  if (pid === null || !(await isServerOf(cluster, pid))) return null;
  const [, , , port, socketDirectory, , , status] = lines;
  return {
    pid,
    port: Number(port),
    // Read from the server rather than computed: it may have been started with another TMPDIR.
    socketDirectory: socketDirectory ?? "",
    isReady: status?.trim() === "ready",
  };
}

async function isServerOf({ data }: Cluster, pid: number): Promise<boolean> {
  return `${await commandLine(pid)} `.includes(` -D ${data} `);
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform !== "linux") {
    return (await run("ps", ["-ww", "-o", "args=", "-p", `${pid}`])).output;
  }
  try {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ESRCH")) return "";
    throw error;
  }
}

type StartedServer = { hasEnded(): boolean; throwIfNotRunnable(): Promise<void> };

async function startServer(cluster: Cluster, stalePid: number | null): Promise<StartedServer> {
  await removeEmptyLock(join(cluster.data, "postmaster.pid"));
  await removeEmptyLock(join(cluster.socketDirectory, `.s.PGSQL.${socketPort}.lock`));
  const launch: Launch = {
    program: cluster.programs.postgres,
    args: ["-D", cluster.data, ...settings(cluster).flatMap((setting) => ["-c", setting])],
    account: cluster.account,
    directory: cluster.data,
  };
  // After a crash the number in the lock may belong to a stranger by now, and PostgreSQL would take
  // any process of its user for its server. Removing the lock would also remove its protection
  // against surviving processes of the old server; this variable is PostgreSQL's own way to name a
  // process that does not count, and leaves that protection in place.
  const environment = stalePid === null ? {} : { PG_GRANDPARENT_PID: `${stalePid}` };
  const log = await openLog(cluster);
  try {
    const child = await startInBackground(launch, ["ignore", log.fd, log.fd], environment);
    return watch(child, launch);
  } finally {
    await log.close();
  }
}

function watch(child: ChildProcess, launch: Launch): StartedServer {
  let failure: Error | null = null;
  child.on("error", (error) => {
    failure = error;
  });
  return {
    hasEnded: () => failure !== null || child.exitCode !== null || child.signalCode !== null,
    async throwIfNotRunnable() {
      if (failure === null && child.signalCode !== null) return;
      await throwIfUnreachable(launch, child.exitCode);
      if (failure === null) return;
      throw new OperatorFault(
        `${launch.program} cannot be run on this system (${failure.message}). Run PostgreSQL yourself and set DATABASE_URL.`,
      );
    },
  };
}

/** A crash of the machine can leave an empty lock, which PostgreSQL keeps respecting for ever. */
async function removeEmptyLock(path: string): Promise<void> {
  try {
    const { size, mtimeMs } = await stat(path);
    if (size === 0 && Date.now() - mtimeMs > emptyLockAgeMs) await rm(path, { force: true });
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
  }
}

function settings({ socketDirectory }: Cluster): string[] {
  return [
    "listen_addresses=",
    `port=${socketPort}`,
    `unix_socket_directories=${quoteListItem(socketDirectory)}`,
    "unix_socket_permissions=0700",
    `shared_buffers=${sharedBuffersMib()}MB`,
    "max_wal_size=2GB",
    "max_connections=200",
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    "log_checkpoints=off",
    "logging_collector=off",
  ];
}

/** unix_socket_directories is a list: a comma or a space in the path would end the item. */
function quoteListItem(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}

/** An eighth of the memory of this machine or container, because other programs need some, too. */
function sharedBuffersMib(): number {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(1024, Math.max(128, Math.floor(memory / 8 / mebibyte)));
}

/** PostgreSQL doesn't bound its log. Before a start, a long one makes room for a new one. */
async function openLog({ logFile, account }: Cluster) {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  const openIt = () => open(logFile, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  let log = await openIt();
  if ((await log.stat()).size > logBytesMax) {
    await log.close();
    await rename(logFile, `${logFile}.previous`);
    log = await openIt();
  }
  if (!isOurselves(account)) await log.chown(account.uid, account.gid);
  return log;
}

async function lastLines(logFile: string): Promise<string> {
  try {
    const text = (await readFile(logFile)).subarray(-logTailBytes).toString();
    return text.trimEnd().split("\n").slice(-logTailLines).join("\n");
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return "(there is no log yet)";
    throw error;
  }
}
