// Makes a cluster of a base backup, beside its place below DATA_DIR, so that it is there whole or not at all. Its
// passwords are new, and so is its timeline: from inside it can be told from the cluster that was copied.

import { once } from "node:events";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { OperatorFault } from "../../domain/operator-fault.ts";
import {
  exists,
  flushDirectory,
  handOver,
  handOverIfEmpty,
  makeDataDirectory,
  passwordFiles,
  readCluster,
  removeDirectory,
  removeUnfinished,
  superuserName,
  unfinishedRestore,
  writeSecret,
} from "./cluster.ts";
import { stopPostmaster } from "./postmaster.ts";
import {
  type Account,
  accountForNewCluster,
  findPrograms,
  isAlive,
  runToEnd,
  startInBackground,
} from "./programs.ts";
import { ownerName, serviceName } from "./session.ts";
import { isSystemError } from "./system-error.ts";
import { unpackTar } from "./unpack-tar.ts";

/** What an operator may put into a DATA_DIR before a restore. */
const mayBeThere = new Set(["secret-key", "lost+found"]);

export type StagedCluster = {
  /** A DATA_DIR of its own, until it is put into place. */
  dataDir: string;
  /** Puts it into its place, when nothing uses it any more. */
  install(): Promise<void>;
  /** Removes it, unless it is in its place. */
  discard(): Promise<void>;
};

/** The major version of the PostgreSQL that comes with this installation: another one can't read its files. */
export async function majorVersion(): Promise<string> {
  const { postgres } = await findPrograms();
  const account = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  const { output } = await runToEnd({ program: postgres, args: ["-V"], account, directory: "/" });
  return /(\d+)(\.|devel|beta|rc)/.exec(output)?.[1] ?? output;
}

/** Refuses a DATA_DIR with anything in it, before a byte is unpacked. */
export async function stageCluster(
  dataDir: string,
  readTar: () => AsyncIterable<Buffer>,
): Promise<StagedCluster> {
  const root = await makeDataDirectory(dataDir);
  await removeUnfinished(root);
  await removeUnfinishedRestores(root);
  const there = (await readdir(root)).filter((name) => !mayBeThere.has(name));
  if (there.length > 0) {
    throw new OperatorFault(
      `${dataDir} is not empty: it holds ${there.slice(0, 3).join(", ")}. A restore never writes over anything: move it away, or set DATA_DIR to a new folder.`,
    );
  }
  const account = await accountForNewCluster();
  await handOverIfEmpty(root, account);
  const staging = join(root, `restore-${process.pid}`);
  const home = join(staging, "postgres");
  const discard = () => removeDirectory(staging);
  try {
    for (const directory of [staging, home, join(home, "data"), join(home, "socket")]) {
      await mkdir(directory, { mode: 0o700 });
      await handOver(directory, account);
    }
    for (const name of passwordFiles) await writeSecret(join(home, name));
    const own = (path: string) => handOver(path, account);
    await unpackTar(readTar(), join(home, "data"), own);
    await recover(home, account);
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    dataDir: staging,
    discard,
    async install() {
      await putIntoPlace(home, join(root, "postgres"));
      await flushDirectory(root);
      await discard();
    },
  };
}

async function putIntoPlace(home: string, place: string): Promise<void> {
  try {
    await flushDirectory(home);
    await rename(home, place);
  } catch (error) {
    if (!isSystemError(error, "ENOTEMPTY", "EEXIST")) throw error;
    throw new OperatorFault(
      `${place} was made while this was restoring, by a service that was started meanwhile. Stop it, move its DATA_DIR away, and restore again.`,
      { cause: error },
    );
  }
}

/** Those of processes that were killed. One that lives is at work. */
async function removeUnfinishedRestores(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = Number(unfinishedRestore.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid)) continue;
    const left = join(root, name);
    if (pid !== process.pid && isAlive(pid)) {
      throw new OperatorFault(
        `The process ${pid} restores into this DATA_DIR. If that is another program by now, remove ${left}.`,
      );
    }
    // Its PostgreSQL may have outlived it.
    const home = join(left, "postgres");
    if (await exists(join(home, "data", "postmaster.pid"))) {
      await stopPostmaster(await readCluster(home, await findPrograms()));
    }
    await removeDirectory(left);
  }
}

/**
 * PostgreSQL replays the log that came with the files, to its end and not one record less, and begins a new timeline. It
 * runs as a single process that ends with us. It takes nothing from elsewhere: `restore_command` answers that there is
 * nothing more.
 */
async function recover(home: string, account: Account): Promise<void> {
  const data = join(home, "data");
  const signal = join(data, "recovery.signal");
  await writeFile(signal, "", { mode: 0o600, flag: "wx" });
  await handOver(signal, account);
  const { programs, ...cluster } = await readCluster(home, await findPrograms());
  const settings = ["restore_command=exit 1", "hot_standby=off", "exit_on_error=on"];
  const launch = {
    program: programs.postgres,
    args: ["--single", "-D", data, ...settings.flatMap((each) => ["-c", each]), "postgres"],
    account,
    directory: data,
  };
  const child = await startInBackground(launch, ["pipe", "ignore", "pipe"], {});
  child.ref(); // unlike a server, it is waited for
  const { stdin, stderr } = child;
  if (stdin === null || stderr === null) throw new Error("PostgreSQL was started without pipes");
  const said = text(stderr);
  const ended = once(child, "close").catch((error: Error) => [error.message]);
  // It may end before it has read everything; its exit code says so.
  stdin.on("error", () => {});
  stdin.end(
    [
      setPassword(superuserName, cluster.superuserPassword),
      setPassword(ownerName, cluster.ownerPassword),
      setPassword(serviceName, cluster.servicePassword),
    ].join(""),
  );
  const [code] = await ended;
  const words = (await said).trimEnd().split("\n").slice(-8).join("\n");
  if (code !== 0)
    throw new OperatorFault(`PostgreSQL can't restore this backup. It said:\n${words}`);
  await rm(signal, { force: true });
}

/** A backup may be from before there was a role for the service; it is made at the next use. */
function setPassword(role: string, password: string): string {
  const isThere = `exists (select from pg_roles where rolname = '${role}')`;
  return `do $$begin if ${isThere} then alter role ${role} password '${password}'; end if; end$$;\n`;
}
