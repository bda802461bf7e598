// The files of the embedded PostgreSQL below DATA_DIR: makes them at the first use, finds them later.
// It starts no server.
import { createHash, randomBytes } from "node:crypto";
import {
  access,
  chown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { OperatorFault } from "../../domain/operator-fault.ts";
import {
  type Account,
  accountForNewCluster,
  accountOwning,
  findPrograms,
  isAlive,
  isOurselves,
  type Programs,
  runToEnd,
  throwIfUnreachable,
} from "./programs.ts";
import { isSystemError } from "./system-error.ts";

export const socketPort = 5432; // only a part of the socket's name: nothing listens on a network
export const superuserName = "postgres";

// sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included.
const socketPathBytesMax = 103;
/** The owner's has its name from the time when it was the only role. */
const passwordFileOf = { owner: "role-password", service: "service-password" };
const superuserPasswordFile = "superuser-password";
export const passwordFiles = [...Object.values(passwordFileOf), superuserPasswordFile];
const leftoverAgeMs = 10 * 60_000;
const unfinishedName = /^postgres\.new-(\d+)-/;
export const unfinishedRestore = /^restore-(\d+)$/;

export type Cluster = {
  programs: Programs;
  account: Account;
  data: string;
  logFile: string;
  socketDirectory: string;
  superuserPassword: string;
  ownerPassword: string;
  servicePassword: string;
};

export async function openCluster(dataDir: string, sayCreating: () => void): Promise<Cluster> {
  try {
    const programs = await findPrograms();
    const root = await makeDataDirectory(dataDir);
    const home = join(root, "postgres");
    await removeUnfinished(root);
    if (!(await exists(join(home, "data")))) {
      await refuseUnfinishedRestore(root);
      sayCreating();
      await createCluster(root, home, programs);
    }
    return await readCluster(home, programs);
  } catch (error) {
    if (error instanceof OperatorFault || !isSystemError(error)) throw error;
    throw new OperatorFault(
      `DATA_DIR ${dataDir} cannot be used (${error.message}). Set DATA_DIR to a folder that this user may write to, or run as the user who owns it.`,
      { cause: error },
    );
  }
}

export async function makeDataDirectory(dataDir: string): Promise<string> {
  await mkdir(dirname(dataDir), { recursive: true });
  await makePrivateDirectory(dataDir);
  return realpath(dataDir);
}

/** The remains of a first start that was killed. If its process lives, they are work in progress. */
export async function removeUnfinished(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = unfinishedName.exec(name)?.[1];
    if (pid === undefined) continue;
    const directory = join(root, name);
    const isOld = Date.now() - (await modifiedAt(directory)) > leftoverAgeMs;
    if (isOld || !isAlive(Number(pid))) await removeDirectory(directory);
  }
}

/** A restore that was killed has left no database, and a new, empty one in its place would look like a success. */
async function refuseUnfinishedRestore(root: string): Promise<void> {
  const left = (await readdir(root)).find((name) => unfinishedRestore.test(name));
  if (left === undefined) return;
  throw new OperatorFault(
    `A restore into ${root} has not finished. Wait for it, or run \`countersign restore\` again. To begin with an empty database instead, remove ${join(root, left)}.`,
  );
}

/**
 * Everything is made in a directory beside its place and then renamed, so that a cluster is there
 * whole or not at all. Of two first starts side by side the second to rename uses the other's.
 */
async function createCluster(root: string, home: string, programs: Programs): Promise<void> {
  const account = await accountForNewCluster();
  await handOverIfEmpty(root, account);
  const unfinished = join(root, `postgres.new-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    for (const directory of [unfinished, join(unfinished, "socket")]) {
      await mkdir(directory, { mode: 0o700 });
      await handOver(directory, account);
    }
    for (const name of Object.values(passwordFileOf)) await writeSecret(join(unfinished, name));
    await initializeCluster(unfinished, programs, account);
    await rename(unfinished, home);
    await flushDirectory(root);
  } catch (error) {
    if (!isSystemError(error, "ENOTEMPTY", "EEXIST")) throw error;
  } finally {
    await removeDirectory(unfinished);
  }
}

async function initializeCluster(directory: string, programs: Programs, account: Account) {
  const passwordFile = join(directory, superuserPasswordFile);
  await writeSecret(passwordFile);
  const launch = {
    program: programs.initdb,
    args: [
      `--pgdata=${join(directory, "data")}`,
      `--username=${superuserName}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // PostgreSQL's own C.UTF-8 is the same on every system, unlike those of the C libraries.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      "--no-instructions",
    ],
    account,
    directory,
  };
  // initdb reads the password as its own user; afterwards only we may.
  await handOver(passwordFile, account);
  const { code, output } = await runToEnd(launch);
  if (code !== 0) {
    await throwIfUnreachable(launch, code);
    throw new OperatorFault(`PostgreSQL's initdb could not make the database. It said: ${output}`);
  }
  if (!isOurselves(account)) await chown(passwordFile, 0, 0);
}

export async function readCluster(home: string, programs: Programs): Promise<Cluster> {
  const data = join(home, "data");
  const account = await accountOwning(data);
  const read = async (name: string) => (await readFile(join(home, name), "utf8")).trim();
  return {
    programs,
    account,
    data,
    logFile: join(home, "log"),
    socketDirectory: await findSocketDirectory(home, account),
    superuserPassword: await read(superuserPasswordFile),
    ownerPassword: await read(passwordFileOf.owner),
    servicePassword: await readOrMakeSecret(join(home, passwordFileOf.service)),
  };
}

/** A path too long for a socket is replaced by a short one in the folder for temporary files. */
async function findSocketDirectory(home: string, account: Account): Promise<string> {
  const usual = join(home, "socket");
  const bytes = Buffer.byteLength(join(usual, `.s.PGSQL.${socketPort}`));
  if (bytes <= socketPathBytesMax) return usual;
  const hash = createHash("sha256").update(home).digest("hex").slice(0, 16);
  const short = join(await realpath(tmpdir()), `countersign-${hash}`);
  await makePrivateDirectory(short);
  await handOverIfEmpty(short, account);
  // Anybody may have made this name before us in such a folder, and would then own the socket.
  const found = await lstat(short);
  if (!found.isDirectory() || found.uid !== account.uid || (found.mode & 0o077) !== 0) {
    throw new OperatorFault(
      `${short} is to hold PostgreSQL's socket, but it is not a directory of its user alone. Remove it, or set DATA_DIR to a shorter path.`,
    );
  }
  return short;
}

async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
  }
}

/** Never gives away a non-empty directory: somebody else may rely on owning it. */
export async function handOverIfEmpty(directory: string, account: Account): Promise<void> {
  const found = await lstat(directory);
  if (found.uid !== 0 || !found.isDirectory()) return;
  if ((await readdir(directory)).length === 0) await handOver(directory, account);
}

export async function handOver(path: string, account: Account): Promise<void> {
  if (!isOurselves(account)) await chown(path, account.uid, account.gid);
}

export async function writeSecret(path: string): Promise<void> {
  await writeFile(path, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
}

/** A cluster from before the service had a role of its own lacks its password. Of two starts, one makes it. */
async function readOrMakeSecret(path: string): Promise<string> {
  if (!(await exists(path))) {
    const unfinished = `${path}.new-${process.pid}-${randomBytes(4).toString("hex")}`;
    await writeSecret(unfinished);
    try {
      await link(unfinished, path);
      await flushDirectory(dirname(path));
    } catch (error) {
      if (!isSystemError(error, "EEXIST")) throw error;
    } finally {
      await rm(unfinished, { force: true });
    }
  }
  return (await readFile(path, "utf8")).trim();
}

/** After this, a power failure can't undo the renaming and hide later commits. */
export async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path);
  await directory.sync();
  await directory.close();
}

/** An initdb whose starter was killed may still be writing; hence the retries. */
export async function removeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function modifiedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return Date.now();
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return false;
    throw error;
  }
}
