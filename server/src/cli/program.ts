// The command `countersign`: its commands, and the help that teaches them.

import { Command, CommanderError } from "commander";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { witnessCommand } from "../witness/witness-command.ts";
import { absenceCommand } from "./absences.ts";
import { backupCommand, restoreCommand } from "./backups.ts";
import { teamsCommand } from "./channels.ts";
import type { ReadCommandConfig } from "./command.ts";
import { decideCommand } from "./decide.ts";
import { deliveryCommand } from "./deliveries.ts";
import { doctorCommand } from "./doctor.ts";
import { groupCommand } from "./groups.ts";
import { keyCommand } from "./keys.ts";
import { listenCommand } from "./listen.ts";
import { logCommand } from "./log.ts";
import { memberCommand } from "./members.ts";
import { migrateCommand } from "./migrate.ts";
import { receiptKeyCommand } from "./receipt-keys.ts";
import { requestCommand } from "./requests.ts";
import { signInLinkCommand } from "./sign-in-link.ts";
import { slackCommand } from "./slack.ts";
import { webhookCommand } from "./webhooks.ts";
import { workspaceCommand } from "./workspaces.ts";

export type ProgramOptions = {
  readConfig: ReadCommandConfig;
  serve: (flags: { isJson: boolean }) => Promise<void>;
  variables: readonly (readonly [name: string, meaning: string])[];
};

/** The exit code is null when a command has run, to its end or as a service that continues. */
export async function runProgram(options: ProgramOptions): Promise<{ exitCode: number | null }> {
  try {
    await buildProgram(options).parseAsync();
    return { exitCode: null };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // A command without a sub-command has printed its help.
    return { exitCode: error.code === "commander.help" ? 0 : error.exitCode };
  }
}

export function buildProgram({ readConfig, serve, variables }: ProgramOptions): Command {
  const program = new Command("countersign")
    .description("Countersign: an agent pauses before a sensitive action and waits for a person.")
    .exitOverride()
    .configureOutput({
      // A failing command prints one line.
      writeErr: (text) => void process.stdout.write(text),
      outputError: (text) =>
        void process.stderr.write(
          `countersign: ${toTerminalText(
            text
              .trim()
              .replace(/^error: /, "")
              .replaceAll("\n", " "),
          )}\n`,
        ),
    })
    .addHelpText(
      "after",
      `
A first workspace, from nothing to a request:
  $ countersign workspace create --name "Acme"
  $ countersign key create --workspace ws_… --name "Refund agent"
  $ curl http://localhost:3000/v1/requests -H "Authorization: Bearer cs_…" \\
      -d '{"summary":"Refund order 1042","notify":"ann@example.com"}'

Every command reads the same environment as \`countersign serve\` (see its --help), takes --json,
and works whether or not the server is running.

\`countersign verify receipt|export|consistency\` checks proof without settings or a database.`,
    );
  program
    .command("serve")
    .description("run the service until Ctrl-C")
    .option("--json", "log JSON, for machines")
    .addHelpText("after", environmentHelp(variables))
    .action((flags: { json?: boolean }) => serve({ isJson: flags.json === true }));
  program.addCommand(migrateCommand(readConfig));
  program.addCommand(backupCommand(readConfig));
  program.addCommand(restoreCommand(readConfig));
  program.addCommand(workspaceCommand(readConfig));
  program.addCommand(keyCommand(readConfig));
  program.addCommand(receiptKeyCommand(readConfig));
  program.addCommand(webhookCommand(readConfig));
  program.addCommand(requestCommand(readConfig));
  program.addCommand(deliveryCommand(readConfig));
  program.addCommand(groupCommand(readConfig));
  program.addCommand(teamsCommand(readConfig));
  program.addCommand(slackCommand(readConfig));
  program.addCommand(memberCommand(readConfig));
  program.addCommand(absenceCommand(readConfig));
  program.addCommand(signInLinkCommand(readConfig));
  program.addCommand(decideCommand(readConfig));
  program.addCommand(listenCommand(readConfig));
  program.addCommand(logCommand(readConfig));
  program.addCommand(doctorCommand(readConfig));
  program.addCommand(witnessCommand());
  for (const command of program.commands) inherit(command, program);
  return program;
}

/** Commander's sub-commands don't inherit their parent's error handling. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
}

function environmentHelp(variables: ProgramOptions["variables"]): string {
  const width = Math.max(...variables.map(([name]) => name.length));
  const lines = variables.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
  return `\nEnvironment (default in brackets):\n${lines.join("\n")}`;
}
