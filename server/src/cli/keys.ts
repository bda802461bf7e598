// countersign key …

import { Command } from "commander";
import type { Database } from "../database/database.ts";
import { isRefusal } from "../domain/refusal.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { changeKey, issueKey } from "../operations/workspaces/issue-key.ts";
import { revokeWithPending } from "../operations/workspaces/revoke-key.ts";
import * as apiKeys from "../storage/workspaces/api-keys.ts";
import * as connections from "../storage/workspaces/connections.ts";
import { approverOf, onStore, type Printed, type ReadCommandConfig, table } from "./command.ts";

type CreateFlags = { workspace: string; name: string; defaultApprover: string; owner: string };

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
        )
        .option("--owner <email>", `${ownerHint}; or \`none\``, "none"),
      readConfig,
      {
        run: (store, { workspace: workspaceId, name, defaultApprover, owner }: CreateFlags) =>
          issueKey(store.db, {
            workspaceId,
            name,
            defaultApprover: approverOf(defaultApprover),
            ownerEmail: approverOf(owner),
          }),
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
  command.addCommand(setOwnerCommand(readConfig));
  command.addCommand(
    onStore(
      new Command("revoke")
        .description("revoke an API key: its next call is refused")
        .argument("<id>", "key_…, as `key list` shows")
        .option("--cancel-pending", "also cancel the requests of this key that nobody has decided"),
      readConfig,
      {
        run: async (store, id: string, { cancelPending = false }: { cancelPending?: boolean }) => {
          const revoked = await revokeWithPending(store.db, { id, cancelPending });
          return isRefusal(revoked) ? revoked : { ...revoked, cancelPending };
        },
        toJson: ({ key, cancelled, cancelPending }) => ({
          ...toJson(key),
          ...(cancelPending ? { cancelled } : {}),
        }),
        toText: ({ key, cancelled, cancelPending }) =>
          `Revoked ${key.id} (${toTerminalText(key.name)}).${cancelPending ? ` ${cancelled} pending request(s) were cancelled.` : ""}`,
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
              "OWNER",
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
              key.ownerEmail ?? "nobody",
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

const ownerHint =
  "the person behind the agent, who never approves what this key asks for: an address";

function setOwnerCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("set-owner")
      .description("name the person behind a key's agent, who never approves what it asks for")
      .argument("<id>", "key_…, as `key list` shows")
      .argument("<email>", "an address, or `none`"),
    readConfig,
    {
      run: (store, id: string, email: string) =>
        changeKey(store.db, { id, ownerEmail: approverOf(email) }),
      toJson,
      toText: ({ id, ownerEmail }) =>
        ownerEmail === null
          ? `${id} has no owner.`
          : `${toTerminalText(ownerEmail)} owns ${id} and never approves what it asks for.`,
    },
  );
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
  const { id, workspaceId, name, lastFour, defaultApprover, ownerEmail: owner } = key;
  const { createdAt, lastUsedAt, revokedAt } = key;
  const settings = { defaultApprover, owner };
  return { id, workspaceId, name, lastFour, createdAt, lastUsedAt, revokedAt, ...settings };
}
