// The PostgreSQL of a run, on a disk of its own where the machine lets us mount one, so that it can be full.

import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../../../server/src/database/embedded-postgres/embedded-postgres.ts";
import { migrateAsOwner } from "../../../server/src/storage/service-rights.ts";

const diskMiB = 1_536;
const mebibyte = 1024 * 1024;
const upWithinMs = 120_000;

export type RunPostgres = {
  owner: EmbeddedPostgres["ownerConnection"];
  service: EmbeddedPostgres["connection"];
  /** Null where no disk could be mounted. */
  disk: { fill(): void; free(): void } | null;
  superuser(): Promise<pg.Client>;
  /** As `pg_ctl stop -m immediate`, or as the kernel when memory is short. */
  crash(signal: "SIGQUIT" | "SIGKILL"): void;
  untilUp(): Promise<void>;
  /** All that PostgreSQL has written, where it writes for us alone. */
  readLog?(): Promise<string>;
  end(): Promise<void>;
};

const log = { info: () => {}, warn: () => {} };

export async function startPostgres(): Promise<RunPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-faults-"));
  const isMounted = mount(folder);
  const dataDir = join(folder, "data");
  const use = () => useEmbeddedPostgres({ dataDir, purpose: "command", log });
  const started = await use();
  if ("inUseBy" in started) throw new Error("in use");
  const { ownerConnection: owner, connection: service } = started;
  await migrateAsOwner(owner, service.user);
  const password = await readFile(join(dataDir, "postgres", "superuser-password"), "utf8");
  const superuser = async () => {
    const { host, port } = owner;
    const who = { user: "postgres", password: password.trim(), database: owner.database };
    const client = new pg.Client({ host, port, ...who });
    // Its connection may end with any fault.
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const ballast = join(folder, "ballast");
  return {
    owner,
    service,
    disk: isMounted
      ? { fill: () => fill(ballast), free: () => rmSync(ballast, { force: true }) }
      : null,
    superuser,
    crash: (signal) => process.kill(postmasterOf(dataDir), signal),
    untilUp: async () => {
      // The embedded PostgreSQL is brought up again by whoever uses it, and that is us.
      for (const end = Date.now() + upWithinMs; ; await pause(100)) {
        try {
          await (await superuser()).end();
          return;
        } catch (error) {
          if (Date.now() > end) throw error;
        }
      }
    },
    readLog: async () => {
      const names = ["log.previous", "log"];
      const parts = names.map((name) =>
        readFile(join(dataDir, "postgres", name), "utf8").catch(() => ""),
      );
      return (await Promise.all(parts)).join("");
    },
    end: async () => {
      await started.release();
      if (isMounted) execFileSync("umount", ["--lazy", folder]);
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

function mount(folder: string): boolean {
  try {
    const options = ["-t", "tmpfs", "-o", `size=${diskMiB}m,mode=755`, "tmpfs", folder];
    execFileSync("mount", options, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Takes all the room that is left. */
function fill(path: string): void {
  const file = openSync(path, "w");
  const block = Buffer.alloc(mebibyte);
  try {
    for (;;) writeSync(file, block);
  } catch {
    for (const size of [4_096, 1]) {
      try {
        for (;;) writeSync(file, block, 0, size);
      } catch {}
    }
  } finally {
    closeSync(file);
  }
}

function postmasterOf(dataDir: string): number {
  const lock = readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8");
  return Number.parseInt(lock, 10);
}
