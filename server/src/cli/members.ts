// countersign member …

import { Command } from "commander";
import { roles } from "../domain/workspace/role.ts";
import { addMember, removeMemberByEmail } from "../operations/people/add-member.ts";
import * as members from "../storage/people/members.ts";
import { onStore, type Printed, type ReadCommandConfig, table } from "./command.ts";

export function memberCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("member").description("add, list and remove members of a workspace");
  command.addCommand(
    onStore(
      new Command("add")
        .description("add a member, or change a member's role")
        .requiredOption("--workspace <id>", "the workspace to run")
        .requiredOption("--email <address>", "who")
        .requiredOption("--role <role>", roles.join(", ")),
      readConfig,
      {
        run: (store, flags: { workspace: string; email: string; role: string }) =>
          addMember(store.db, {
            workspaceId: flags.workspace,
            email: flags.email,
            role: flags.role,
          }),
        toJson,
        toText: (member) => `${member.email} is now ${member.role} of ${member.workspaceId}.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("remove")
        .description("remove a member or revoke an invitation: their next call is refused")
        .requiredOption("--workspace <id>", "which workspace")
        .requiredOption("--email <address>", "who")
        .option("--groups", "also from every approver group: they can decide for none any more"),
      readConfig,
      {
        run: (store, flags: { workspace: string; email: string; groups?: true }) =>
          removeMemberByEmail(store.db, {
            workspaceId: flags.workspace,
            email: flags.email,
            groups: flags.groups ?? false,
          }),
        toJson,
        toText: (member) => `${member.email} is no longer ${member.role} of ${member.workspaceId}.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("list")
        .description("list the members of a workspace")
        .requiredOption("--workspace <id>", "which workspace"),
      readConfig,
      {
        run: (store, flags: { workspace: string }) => members.list(store.db, flags.workspace),
        toJson: (found) => found.map(toJson),
        toText: (found) =>
          table(
            ["ID", "EMAIL", "ROLE", "SINCE"],
            found.map(({ id, email, role, joinedAt }) => [
              id,
              email,
              role,
              joinedAt?.toISOString() ?? "invited",
            ]),
            "This workspace has no members yet.",
          ),
      },
    ),
  );
  return command;
}

function toJson({ id, workspaceId, email, role, createdAt, joinedAt }: members.Member): Printed {
  return { id, workspaceId, email, role, createdAt, joinedAt };
}
