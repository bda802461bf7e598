// countersign workspace …

import { Command } from "commander";
import { OperatorFault } from "../domain/operator-fault.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { type ApproverLimit, approverLimits } from "../domain/workspace/approver-limit.ts";
import { type HandOver, handOvers } from "../domain/workspace/workspace-settings.ts";
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
  onOrOff,
  onStore,
  type Printed,
  type ReadCommandConfig,
  several,
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
  approverLimit?: ApproverLimit;
  approverDomain?: string[];
  handOver?: HandOver;
  requireSignature?: boolean;
  receiptHours?: number;
  retentionDays?: number | "none";
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
            "WHO CAN BE ASKED",
            "HAND-OVER",
            "SIGNATURES",
            "RECEIPTS",
            "KEPT",
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
            each.approverLimit === "domains" ? each.approverDomains.join(", ") : limitOf(each),
            each.handOver,
            each.requiresSignature ? "required" : "as asked",
            `${each.receiptHours} h`,
            each.retentionDays === null ? "for ever" : `${each.retentionDays} days`,
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
    )
    .option(
      "--approver-limit <limit>",
      "whom agents may ask: anybody, members (and people in groups), or domains (anybody)",
      (text: string) => oneOf(approverLimits, text),
    )
    .option(
      "--approver-domain <domain>",
      "a domain of approvers; may be repeated, and replaces those listed before",
      several,
    )
    .option(
      "--hand-over <to>",
      "whether approvers may pass a request on: off, group or workspace (workspace)",
      (text: string) => oneOf(handOvers, text),
    )
    .option(
      "--require-signature <on|off>",
      "let nobody approve without a passkey, in requests from now on (off)",
      onOrOff,
    )
    .option("--receipt-hours <hours>", "how long receipts are valid, 1 to 8760 (24)", wholeNumber)
    .option(
      "--retention-days <days>",
      "delete requests that ended longer ago, 30 to 3650, or `none` to keep them for ever (none)",
      daysOrNone,
    );
}

function oneOf<Value extends string>(values: readonly Value[], text: string): Value {
  const found = values.find((value) => value === text);
  if (found === undefined) throw new OperatorFault(`${text} is none of ${values.join(", ")}`);
  return found;
}

function volume(text: string): number | "plan" {
  return text === "plan" ? text : wholeNumber(text);
}

function percentOrOff(text: string): number | "off" {
  return text === "off" ? text : wholeNumber(text);
}

function daysOrNone(text: string): number | "none" {
  return text === "none" ? text : wholeNumber(text);
}

function settingsOf(flags: SettingFlags): Partial<WorkspaceInput> {
  const { name, plan, included, cap, expiry, reminder, reviewCode, defaultApprover } = flags;
  const { approverLimit, approverDomain: approverDomains, handOver } = flags;
  const { requireSignature: requiresSignature, receiptHours, retentionDays } = flags;
  return {
    ...(name === undefined ? {} : { name }),
    ...(plan === undefined ? {} : { plan }),
    ...(included === undefined ? {} : { included: included === "plan" ? null : included }),
    ...(cap === undefined ? {} : { cap: cap === "plan" ? null : cap }),
    ...(expiry === undefined ? {} : { expiryMinutes: expiry }),
    ...(reminder === undefined ? {} : { reminderPercent: reminder === "off" ? null : reminder }),
    ...(reviewCode === undefined ? {} : { reviewCode }),
    ...(defaultApprover === undefined ? {} : { defaultApprover: approverOf(defaultApprover) }),
    ...(approverLimit === undefined ? {} : { approverLimit }),
    ...(approverDomains === undefined ? {} : { approverDomains }),
    ...(handOver === undefined ? {} : { handOver }),
    ...(requiresSignature === undefined ? {} : { requiresSignature }),
    ...(receiptHours === undefined ? {} : { receiptHours }),
    ...(retentionDays === undefined
      ? {}
      : { retentionDays: retentionDays === "none" ? null : retentionDays }),
  };
}

function toJson(workspace: workspaces.Workspace): Printed {
  const { id, name, plan, included, cap, expiryMinutes, reminderPercent, reviewCode } = workspace;
  const { defaultApprover, approverDomains, handOver, createdAt } = workspace;
  const { requiresSignature, receiptHours, retentionDays } = workspace;
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
    approverLimit: limitOf(workspace),
    approverDomains,
    handOver,
    requiresSignature,
    receiptHours,
    retentionDays,
    createdAt,
  };
}

function limitOf({ approverLimit }: workspaces.Workspace): string {
  return approverLimit ?? "anybody";
}

function orPlan(value: number | null): string {
  return value === null ? "as plan" : String(value);
}
