// Which PostgreSQL runs on a DATA_DIR, asked from outside the program.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The process number of the PostgreSQL that runs on a DATA_DIR, or null when none does. */
export function postmasterPid(dataDir: string): number | null {
  const lock = join(dataDir, "postgres/data/postmaster.pid");
  if (!existsSync(lock)) return null;
  const pid = Number.parseInt(readFileSync(lock, "utf8"), 10);
  return pid > 0 && isAlive(pid) ? pid : null;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process, but a process.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
