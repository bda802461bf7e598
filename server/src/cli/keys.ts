// countersign key …

import { Command } from "commander";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { issueKey, revokeKey } from "../operations/workspaces/issue-key.ts";
import * as apiKeys from "../storage/workspaces/api-keys.ts";
import { onStore, type Printed, type ReadCommandConfig, table } from "./command.ts";

export function keyCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("key").description("issue, revoke and list API keys");
  command.addCommand(
    onStore(
      new Command("create")
        .description("issue an API key; it is shown once")
        .requiredOption("--workspace <id>", "the workspace that the key opens")
        .requiredOption("--name <name>", "what it is for"),
      readConfig,
      {
        run: (store, flags: { workspace: string; name: string }) =>
          issueKey(store.db, { workspaceId: flags.workspace, name: flags.name }),
        toJson: (issued) => ({ id: issued.id, key: issued.key, ...toJson(issued) }),
        toText: (issued) => `${issued.key}\nThis is ${issued.id}. It is shown this once; keep it.`,
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
        .description("list API keys by their last four characters")
        .option("--workspace <id>", "only this workspace's"),
      readConfig,
      {
        run: (store, flags: { workspace?: string }) =>
          apiKeys.list(store.db, flags.workspace ?? null),
        toJson: (keys) => keys.map(toJson),
        toText: (keys) =>
          table(
            ["ID", "WORKSPACE", "NAME", "KEY", "CREATED", "LAST USED", "REVOKED"],
            keys.map((key) => [
              key.id,
              key.workspaceId,
              key.name,
              `cs_…${key.lastFour}`,
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

function toJson(key: apiKeys.ApiKey): Printed {
  const { id, workspaceId, name, lastFour, createdAt, lastUsedAt, revokedAt } = key;
  return { id, workspaceId, name, lastFour, createdAt, lastUsedAt, revokedAt };
}
