// Tells of faults that every call meets while the database can't do its work: once per kind and some seconds, in
// PostgreSQL's own words, and with how many were left out.

import { NotReplicated } from "./database-client.ts";
import { isNotifyQueueFull, isNotMigrated, isSignInRefused } from "./faults.ts";
import { UnfitConnection } from "./session-settings.ts";

const tellEveryDefaultMs = 10_000;
/** Kinds are codes, and few. Messages without a code could be many. */
const kindsMax = 50;

export class OutageLog {
  readonly #everyMs: number;
  readonly #told = new Map<string, { atMs: number; untold: number }>();

  constructor(everyMs = tellEveryDefaultMs) {
    this.#everyMs = everyMs;
  }

  /** Null while a fault of this kind was told a moment ago. Else how many were not told since. */
  due(error: unknown): { untold?: number } | null {
    const kind = kindOf(error);
    const told = this.#told.get(kind);
    const now = performance.now();
    if (told !== undefined && now - told.atMs < this.#everyMs) {
      told.untold += 1;
      return null;
    }
    if (this.#told.size >= kindsMax) this.#told.clear();
    this.#told.set(kind, { atMs: now, untold: 0 });
    return told === undefined || told.untold === 0 ? {} : { untold: told.untold };
  }
}

/** What an operator should look at, in a few words. */
export function outageWords(error: unknown): string {
  const code = codeOf(error);
  if (code === "25006") return "the database takes no writes: it is a standby, or read-only";
  if (code === "53100") return "the database has no room left on its disk";
  if (code === "53300") return "the database has no connection left for us";
  if (code === "EMFILE" || code === "ENFILE") return "this process has no file descriptor left";
  if (isNotifyQueueFull(error)) return "the database's queue of notifications is full";
  if (error instanceof UnfitConnection) {
    return "connections to the database lack settings that the service needs";
  }
  if (error instanceof NotReplicated) return "a synchronous standby did not confirm a commit";
  if (isSignInRefused(error)) return "the database does not let us in";
  if (isNotMigrated(error)) return "the database's schema is not the one of this program";
  return "the database is out of reach";
}

function kindOf(error: unknown): string {
  return codeOf(error) || (error instanceof Error ? error.message : typeof error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}
