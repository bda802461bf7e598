// The frame of every operator's command: opens the store, runs the command, prints for people or for machines, and
// closes the store.

import type { Command } from "commander";
import { listMissingMigrations } from "../database/migrations.ts";
import type { AllowedCidr } from "../domain/access/network-address.ts";
import type { OidcSettings } from "../domain/access/openid.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import type { WitnessSetting } from "../domain/proof/witness-settings.ts";
import { type ChangeRefusal, isRefusal, type Refusal } from "../domain/refusal.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import type { Mailbox } from "../domain/workspace/mailbox.ts";
import { openStore, type Store, type StoreOptions } from "../storage/store.ts";

export type CommandConfig = Omit<StoreOptions, "purpose" | "log"> & {
  publicUrl: string;
  smtpUrl: string | null;
  mailFrom: Mailbox;
  oidc: OidcSettings | null;
  webhookAllowed: readonly AllowedCidr[];
  callbackAllowed: readonly AllowedCidr[];
  slackApiUrl: string;
  witnesses: readonly WitnessSetting[];
};

/** Reads the environment when a command runs, not before: `--help` needs none of it. */
export type ReadCommandConfig = () => CommandConfig;

export type CommandContext = Store & { config: CommandConfig };

export type Printed = Record<string, unknown>;

/** Adds `--json` to a command and runs it on the store. `print` turns the result into lines for people. */
export function onStore<Args extends unknown[], Result>(
  command: Command,
  readConfig: ReadCommandConfig,
  steps: {
    run: (context: CommandContext, ...args: Args) => Promise<Result | Refusal | ChangeRefusal>;
    toJson: (result: Result) => Printed | Printed[];
    toText: (result: Result) => string;
  },
): Command {
  return command
    .option("--json", "print JSON, for machines")
    .action(async (...given: unknown[]) => {
      // Commander calls with the arguments, the options and the command itself.
      const args = given.slice(0, -1) as Args;
      const config = readConfig();
      const result = await withStore(config, (store) => steps.run({ ...store, config }, ...args));
      if (isRefusal(result)) throw new OperatorFault(toTerminalText(result.message));
      const isJson = command.opts().json === true;
      const text = isJson ? toJsonLine(steps.toJson(result)) : steps.toText(result);
      process.stdout.write(`${text}\n`);
    });
}

export function toJsonLine(value: Printed | Printed[]): string {
  return toTerminalJson(JSON.stringify(value));
}

/**
 * The same JSON to a machine. Control characters are escaped, so a terminal obeys and hides nothing. A tab or a line
 * break stands between the parts of JSON, where no escape may.
 */
export function toTerminalJson(json: string): string {
  return json.replaceAll(/[\t\r\n]/g, " ").replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

export async function withStore<Result>(
  config: CommandConfig,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openCommandStore(config);
  try {
    await requireMigrations(store);
    return await work(store);
  } finally {
    await store.close();
  }
}

export async function openCommandStore(config: CommandConfig): Promise<Store> {
  const store = await openStore({ ...config, purpose: "command", log: toStandardError });
  if ("inUseBy" in store) throw new OperatorFault("the embedded database is in use");
  return store;
}

/** We migrate the embedded database ourselves. An external one is the operator's, who may run older nodes on it. */
async function requireMigrations(store: Store): Promise<void> {
  if (store.kind === "embedded") {
    await store.migrate();
    return;
  }
  const missing = await listMissingMigrations(store.db);
  if (missing.length > 0) {
    throw new OperatorFault("the database is not migrated; run `countersign migrate` first");
  }
}

/** Standard output holds only the command's result. Errors go to standard error. */
const toStandardError = {
  info: () => {},
  warn: (message: string) => void process.stderr.write(`${message}\n`),
};

/** Rows with a heading, in columns as wide as their widest cell. A cell is always one line. */
export function table(heading: string[], rows: string[][], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty;
  const lines = [heading, ...rows.map((row) => row.map((cell) => toTerminalText(cell)))];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Commander's parser for a whole number. The domain checks its bounds. */
export function wholeNumber(text: string): number {
  if (!/^[0-9]{1,12}$/.test(text)) throw new OperatorFault(`${text} is not a whole number`);
  return Number(text);
}

export function onOrOff(text: string): boolean {
  if (text !== "on" && text !== "off") throw new OperatorFault(`${text} is neither on nor off`);
  return text === "on";
}

/** The default approver that a flag names. Commander itself turns null into an empty text. */
export function approverOf(flag: string): string | null {
  return flag === "none" ? null : flag;
}

/** Commander's collector for an option that may be given several times. */
export function several(text: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}
