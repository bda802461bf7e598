// countersign log …

import { readFileSync } from "node:fs";
import { Command } from "commander";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type LogStatus, readLogKey, readLogStatus } from "../operations/proof/log-status.ts";
import { reopenLog } from "../operations/proof/mend-logs.ts";
import { onStore, type ReadCommandConfig, table } from "./command.ts";
import { logExportCommand } from "./log-export.ts";

type ReopenFlags = { workspace?: string; after?: string };

export function logCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("log").description(
    "look at the logs of facts, and go on after a restore",
  );
  command.addCommand(
    onStore(
      new Command("status").description(
        "list the logs: size, newest checkpoint, what waits; and the key that witnesses need",
      ),
      readConfig,
      {
        run: (store) => readLogStatus(store.db),
        toJson: (logs) => logs.map(toJson),
        toText: (logs) =>
          table(
            ["LOG", "ENTRIES", "CHECKPOINT", "SIGNED", "WAITING", "LAG"],
            logs.map(toRow),
            "No log yet: it begins with the first workspace.",
          ) + forWitnesses(logs),
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("key")
        .description("print the key by which witnesses and auditors verify a log")
        .option("--workspace <id>", "the workspace's log; without it the installation's"),
      readConfig,
      {
        run: ({ db }, { workspace }: { workspace?: string }) => readLogKey(db, workspace ?? null),
        toJson: (key) => key,
        toText: ({ verifierKey }) => verifierKey,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("reopen")
        .description("go on under a new name, after a data directory was restored from a backup")
        .option("--workspace <id>", "the workspace's log; without it the installation's")
        .option(
          "--after <file>",
          "the newest checkpoint that anybody has kept; the new log names it",
        ),
      readConfig,
      {
        run: async ({ db, keyring, config }, { workspace, after }: ReopenFlags) => {
          const note = after === undefined ? null : readNote(after);
          const parts = { db, keyring, origin: config };
          return reopenLog(parts, { workspaceId: workspace ?? null, after: note });
        },
        toJson: (reopened) => reopened,
        toText: ({ closed, opened, leftBehind }) =>
          `Closed ${closed}. The log goes on as ${opened}.${leftBehind === 0 ? "" : sayLeftBehind(leftBehind)}`,
      },
    ),
  );
  command.addCommand(logExportCommand(readConfig));
  return command;
}

/** Witnesses watch the installation's log, which has the checkpoints of all others. */
function forWitnesses(logs: readonly LogStatus[]): string {
  const watched = logs.find(({ workspaceId, isClosed }) => workspaceId === null && !isClosed);
  if (watched === undefined || watched.verifierKey === null) return "";
  return `\n\nTo watch it: countersign witness --log ${watched.verifierKey}`;
}

function sayLeftBehind(count: number): string {
  const entries = count === 1 ? "1 entry is" : `${count} entries are`;
  return `\n${entries} in no checkpoint and not in the new log: nobody can tell who wrote them.`;
}

function readNote(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? error.code : error;
    throw new OperatorFault(`${path} can't be read (${why})`);
  }
}

function toJson(log: LogStatus) {
  return { ...log, signedAt: log.signedAt?.toISOString() ?? null };
}

function toRow(log: LogStatus): string[] {
  return [
    log.origin + (log.isClosed ? " (closed)" : ""),
    String(log.size),
    log.checkpoint === null ? "none" : String(log.checkpoint),
    log.signedAt?.toISOString() ?? "",
    log.isClosed ? "" : String(log.waiting),
    log.lagMs === null ? "" : `${(log.lagMs / 1_000).toFixed(1)} s`,
  ];
}
