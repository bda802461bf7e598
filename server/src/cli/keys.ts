// countersign key …

import { Command } from "commander";
import type { Database } from "../database/database.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { changeKey, issueKey, revokeKey } from "../operations/workspaces/issue-key.ts";
import * as apiKeys from "../storage/workspaces/api-keys.ts";
import * as connections from "../storage/workspaces/connections.ts";
import { approverOf, onStore, type Printed, type ReadCommandConfig, table } from "./command.ts";

type CreateFlags = { workspace: string; name: string; defaultApprover: string };

export function keyCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("key").description("issue, revoke and list API keys");
  command.addCommand(
    onStore(
      new Command("create")
        .description("issue an API key; it is shown once")
        .requiredOption("--workspace <id>", "the workspace that the key opens")
        .requiredOption("--name <name>", "what it is for")
        .option(
          "--default-approver <approver>",
          "whom MCP asks when the agent names nobody: an address, group:<key>, or `none` for the workspace's",
          "none",
        ),
      readConfig,
      {
        run: (store, { workspace: workspaceId, name, defaultApprover }: CreateFlags) =>
          issueKey(store.db, { workspaceId, name, defaultApprover: approverOf(defaultApprover) }),
        toJson: (issued) => ({ id: issued.id, key: issued.key, ...toJson(issued) }),
        toText: (issued) => `${issued.key}\nThis is ${issued.id}. It is shown this once; keep it.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("update")
        .description("change whom MCP asks for agents with this key that name nobody")
        .argument("<id>", "key_…, as `key list` shows")
        .requiredOption(
          "--default-approver <approver>",
          "an address, group:<key>, or `none` for the workspace's",
        ),
      readConfig,
      {
        run: (store, id: string, { defaultApprover }: { defaultApprover: string }) =>
          changeKey(store.db, { id, defaultApprover: approverOf(defaultApprover) }),
        toJson,
        toText: ({ id, defaultApprover }) =>
          `Changed ${id}: ${defaultApprover === null ? "the workspace's default approver is asked" : `${toTerminalText(defaultApprover)} is asked`}.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("revoke")
        .description("revoke an API key: its next call is refused")
        .argument("<id>", "key_…, as `key list` shows"),
      readConfig,
      {
        run: (store, id: string) => revokeKey(store.db, id),
        toJson,
        toText: (revoked) => `Revoked ${revoked.id} (${toTerminalText(revoked.name)}).`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("list")
        .description("list API keys by their last four characters, and connected apps")
        .option("--workspace <id>", "only this workspace's"),
      readConfig,
      {
        run: ({ db }, { workspace = null }: { workspace?: string | null }) =>
          listKeys(db, workspace),
        toJson: (keys) => keys.map(toListedJson),
        toText: (keys) =>
          table(
            [
              "ID",
              "WORKSPACE",
              "NAME",
              "KEY",
              "DEFAULT APPROVER",
              "CREATED",
              "LAST USED",
              "REVOKED",
            ],
            keys.map((key) => [
              key.id,
              key.workspaceId,
              key.name,
              key.connection === undefined
                ? `cs_…${key.lastFour}`
                : `connected app, by ${key.connection.email}`,
              key.defaultApprover ?? "as workspace",
              key.createdAt.toISOString(),
              key.lastUsedAt?.toISOString() ?? "never",
              key.revokedAt?.toISOString() ?? "",
            ]),
            'No keys yet. Issue one: countersign key create --workspace ws_… --name "My agent"',
          ),
      },
    ),
  );
  return command;
}

/** A connected app acts as a key that nobody has: its last characters would say nothing. */
type ListedKey = apiKeys.ApiKey & { connection: connections.Connection | undefined };

async function listKeys(db: Database, workspaceId: string | null): Promise<ListedKey[]> {
  const keys = await apiKeys.list(db, workspaceId);
  const connected = await connections.findByKey(db, workspaceId, keys);
  return keys.map((key) => ({ ...key, connection: connected.get(key.id) }));
}

function toListedJson(key: ListedKey): Printed {
  if (key.connection === undefined) return toJson(key);
  const { email, redirectHost, redirectUri } = key.connection;
  return { ...toJson(key), connection: { email, redirectHost, redirectUri } };
}

function toJson(key: apiKeys.ApiKey): Printed {
  const { id, workspaceId, name, lastFour, defaultApprover } = key;
  const { createdAt, lastUsedAt, revokedAt } = key;
  return { id, workspaceId, name, lastFour, createdAt, lastUsedAt, revokedAt, defaultApprover };
}
