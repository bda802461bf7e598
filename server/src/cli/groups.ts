// countersign group …

import { Command } from "commander";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { deleteGroup } from "../operations/people/delete-group.ts";
import {
  addGroupMember,
  createGroup,
  removeGroupMember,
  setGroupSignature,
} from "../operations/people/manage-group.ts";
import * as groups from "../storage/people/groups.ts";
import { groupChannelsCommand } from "./channels.ts";
import {
  onOrOff,
  onStore,
  type Printed,
  type ReadCommandConfig,
  several,
  table,
} from "./command.ts";

type CreateFlags = { workspace: string; key: string; name: string; member?: string[] };

export function groupCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("group").description(
    "create and delete approver groups and change their members",
  );
  command.addCommand(
    onStore(
      new Command("create")
        .description("create a group; agents notify it as group:<key>")
        .requiredOption("--workspace <id>", "the workspace it belongs to")
        .requiredOption("--key <key>", "what agents write: lower-case letters, digits, _ and -")
        .requiredOption("--name <name>", "what people read")
        .option("--member <email>", "a member; may be repeated", several),
      readConfig,
      {
        run: (store, { workspace, key, name, member }: CreateFlags) =>
          createGroup(store.db, { workspaceId: workspace, key, name, members: member ?? [] }),
        toJson,
        toText: (group) => `Created group ${group.id}. Agents notify it as group:${group.key}.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("add").description("add a member").argument("<group>").argument("<email>"),
      readConfig,
      {
        run: (store, id: string, email: string) => addGroupMember(store.db, id, email),
        toJson,
        toText: (group) =>
          `${toTerminalText(group.name)} now has ${group.members.length} member(s).`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("remove")
        .description("remove a member, who can no longer decide anything asked of the group")
        .argument("<group>")
        .argument("<email>"),
      readConfig,
      {
        run: (store, id: string, email: string) => removeGroupMember(store.db, id, email),
        toJson,
        toText: (group) =>
          `${toTerminalText(group.name)} now has ${group.members.length} member(s).`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("update")
        .description("change whether its people must sign what they approve")
        .argument("<group>")
        .requiredOption(
          "--require-signature <on|off>",
          "let nobody approve without a passkey what the group is asked, in requests from now on",
          onOrOff,
        ),
      readConfig,
      {
        run: (store, id: string, { requireSignature }: { requireSignature: boolean }) =>
          setGroupSignature(store.db, { id, requiresSignature: requireSignature }),
        toJson,
        toText: ({ name, requiresSignature }) =>
          requiresSignature
            ? `Nobody approves without a passkey what ${toTerminalText(name)} is asked from now on.`
            : `${toTerminalText(name)} asks for no signatures from now on.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("delete")
        .description("delete a group; requests that wait for it are cancelled")
        .argument("<group>"),
      readConfig,
      {
        run: (store, id: string) => deleteGroup(store.db, id),
        toJson: ({ group, cancelled }) => ({ ...toJson(group), cancelled }),
        toText: ({ group, cancelled }) =>
          `Deleted ${toTerminalText(group.name)}. ${cancelled} pending request(s) were cancelled.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("list")
        .description("list groups with their members")
        .option("--workspace <id>", "only this workspace's"),
      readConfig,
      {
        run: (store, flags: { workspace?: string }) =>
          groups.list(store.db, flags.workspace ?? null),
        toJson: (found) => found.map(toJson),
        toText: (found) =>
          table(
            ["ID", "WORKSPACE", "KEY", "NAME", "SIGNATURES", "MEMBERS"],
            found.map((group) => [
              group.id,
              group.workspaceId,
              group.key,
              group.name,
              group.requiresSignature ? "required" : "as asked",
              group.members.join(", "),
            ]),
            'No groups yet. Create one: countersign group create --workspace ws_… --key finance --name "Finance"',
          ),
      },
    ),
  );
  command.addCommand(groupChannelsCommand(readConfig));
  return command;
}

function toJson(group: groups.Group): Printed {
  const { id, workspaceId, key, name, members, requiresSignature } = group;
  return { id, workspaceId, key, name, members, requiresSignature };
}
