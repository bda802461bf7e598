// countersign workspace …

import { Command } from "commander";
import { OperatorFault } from "../domain/operator-fault.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import {
  rotateCallbackSecret,
  showCallbackSecret,
} from "../operations/deliveries/callback-secret.ts";
import {
  createWorkspace,
  updateWorkspace,
  type WorkspaceInput,
} from "../operations/workspaces/manage-workspace.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import * as workspaces from "../storage/workspaces/workspaces.ts";
import {
  approverOf,
  onStore,
  type Printed,
  type ReadCommandConfig,
  table,
  wholeNumber,
} from "./command.ts";

type SettingFlags = {
  name?: string;
  plan?: string;
  included?: number | "plan";
  cap?: number | "plan";
  expiry?: number;
  reminder?: number | "off";
  reviewCode?: boolean;
  defaultApprover?: string;
};

export function workspaceCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("workspace").description("create, change and list workspaces");
  command.addCommand(
    onStore(withSettings(new Command("create"), "create a workspace"), readConfig, {
      run: (store, flags: SettingFlags & { name: string }) =>
        createWorkspace(store.db, { ...settingsOf(flags), name: flags.name }),
      toJson,
      toText: (workspace) =>
        `Created workspace ${workspace.id} (${toTerminalText(workspace.name)}, plan ${workspace.plan}).\nNext: countersign key create --workspace ${workspace.id} --name "My agent"`,
    }),
  );
  command.addCommand(
    onStore(
      withSettings(new Command("update").argument("<id>"), "change a workspace's settings", {
        isUpdate: true,
      }),
      readConfig,
      {
        run: (store, id: string, flags: SettingFlags) =>
          updateWorkspace(store.db, id, settingsOf(flags)),
        toJson,
        toText: (workspace) => `Changed workspace ${workspace.id}.`,
      },
    ),
  );
  command.addCommand(
    onStore(new Command("list").description("list all workspaces"), readConfig, {
      run: (store) => workspaces.list(store.db),
      toJson: (found) =>
        found.map((each) => ({ ...toJson(each), requestsThisMonth: each.requestsThisMonth })),
      toText: (found) =>
        table(
          [
            "ID",
            "NAME",
            "PLAN",
            "INCLUDED",
            "CAP",
            "EXPIRY",
            "REMINDER",
            "REVIEW CODE",
            "DEFAULT APPROVER",
            "THIS MONTH",
          ],
          found.map((each) => [
            each.id,
            each.name,
            each.plan,
            orPlan(each.included),
            orPlan(each.cap),
            `${each.expiryMinutes} min`,
            each.reminderPercent === null ? "off" : `${each.reminderPercent} %`,
            each.reviewCode ? "on" : "off",
            each.defaultApprover ?? "none",
            String(each.requestsThisMonth),
          ]),
          'No workspaces yet. Create one: countersign workspace create --name "Acme"',
        ),
    }),
  );
  command.addCommand(callbackSecretCommand(readConfig));
  return command;
}

function callbackSecretCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("callback-secret")
      .description(
        "show the secret that signs a workspace's callbacks; it is made when first needed",
      )
      .argument("<id>")
      .option("--rotate", "make a new one; the old one signs beside it for a day"),
    readConfig,
    {
      run: async (store, id: string, { rotate }: { rotate?: boolean }) => {
        await requireSecretKeys(store);
        return rotate === true
          ? rotateCallbackSecret(store.db, store.keyring, id)
          : showCallbackSecret(store.db, store.keyring, id);
      },
      toJson: (shown) => shown,
      toText: ({ secret, oldSecretEndsAt }) =>
        oldSecretEndsAt === undefined
          ? secret
          : `${secret}\nThe old secret signs beside it until ${oldSecretEndsAt.toISOString()}.`,
    },
  );
}

function withSettings(command: Command, description: string, { isUpdate = false } = {}): Command {
  command.description(description);
  if (isUpdate) command.option("--name <name>", "what people call it");
  else command.requiredOption("--name <name>", "what people call it");
  return command
    .option("--plan <plan>", "hobby, pro, scale or unlimited (unlimited when it is created)")
    .option(
      "--included <requests>",
      "requests a month in place of the plan's; `plan` undoes it",
      volume,
    )
    .option(
      "--cap <requests>",
      "monthly safety cap in place of the plan's; `plan` undoes it",
      volume,
    )
    .option("--expiry <minutes>", "when requests expire by default, 5 to 10080 (1440)", wholeNumber)
    .option(
      "--reminder <percent>",
      "remind approvers when this share of the time is left, 1 to 50, or `off` (10)",
      percentOrOff,
    )
    .option(
      "--review-code <on|off>",
      "have approvers type a code that is printed in their mail (off)",
      onOrOff,
    )
    .option(
      "--default-approver <approver>",
      "whom MCP asks when an agent names nobody: an address, group:<key>, or `none` (none)",
    );
}

function volume(text: string): number | "plan" {
  return text === "plan" ? text : wholeNumber(text);
}

function percentOrOff(text: string): number | "off" {
  return text === "off" ? text : wholeNumber(text);
}

function onOrOff(text: string): boolean {
  if (text !== "on" && text !== "off") throw new OperatorFault(`${text} is neither on nor off`);
  return text === "on";
}

function settingsOf(flags: SettingFlags): Partial<WorkspaceInput> {
  const { name, plan, included, cap, expiry, reminder, reviewCode, defaultApprover } = flags;
  return {
    ...(name === undefined ? {} : { name }),
    ...(plan === undefined ? {} : { plan }),
    ...(included === undefined ? {} : { included: included === "plan" ? null : included }),
    ...(cap === undefined ? {} : { cap: cap === "plan" ? null : cap }),
    ...(expiry === undefined ? {} : { expiryMinutes: expiry }),
    ...(reminder === undefined ? {} : { reminderPercent: reminder === "off" ? null : reminder }),
    ...(reviewCode === undefined ? {} : { reviewCode }),
    ...(defaultApprover === undefined ? {} : { defaultApprover: approverOf(defaultApprover) }),
  };
}

function toJson(workspace: workspaces.Workspace): Printed {
  const { id, name, plan, included, cap, expiryMinutes, reminderPercent, reviewCode } = workspace;
  const { defaultApprover, createdAt } = workspace;
  return {
    id,
    name,
    plan,
    included,
    cap,
    expiryMinutes,
    reminderPercent,
    reviewCode,
    defaultApprover,
    createdAt,
  };
}

function orPlan(value: number | null): string {
  return value === null ? "as plan" : String(value);
}
