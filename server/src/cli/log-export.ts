// countersign log export: the log of a workspace as a file that can be verified without the service.

import { Command, Option } from "commander";
import { type ExportFormat, exportFormats } from "../domain/approval/export-rows.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type ChangeRefusal, isRefusal } from "../domain/refusal.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { exportInstallationLog, exportLogAtOnce } from "../operations/proof/export-log.ts";
import { unknownWorkspace } from "../operations/transaction-by.ts";
import { noteExport } from "../operations/workspaces/note-export.ts";
import type { Store } from "../storage/store.ts";
import * as workspaces from "../storage/workspaces/workspaces.ts";
import { type ReadCommandConfig, withStore } from "./command.ts";
import { print, writeFileWhole } from "./terminal/output-file.ts";

type Flags = { workspace?: string; installation?: true; format: ExportFormat; out?: string };

export function logExportCommand(readConfig: ReadCommandConfig): Command {
  return new Command("export")
    .description("write the log of a workspace to a file, with all that verifying it needs")
    .option("--workspace <id>", "whose log")
    .option(
      "--installation",
      "the installation's own log instead, as anybody may read it: for verify export --log",
    )
    .addOption(
      new Option("--format <format>", "jsonl (JSON Lines) to verify, csv for spreadsheets")
        .choices(exportFormats)
        .default("jsonl"),
    )
    .option("--out <file>", "the file to write; standard output by default")
    .action(async (flags: Flags) => {
      if (flags.out === undefined && process.stdout.isTTY) {
        throw new OperatorFault("a file is no text for a terminal; use --out, or redirect it");
      }
      if ((flags.workspace === undefined) === (flags.installation === undefined)) {
        throw new OperatorFault("give either --workspace or --installation");
      }
      if (flags.installation && flags.format === "csv") {
        throw new OperatorFault(
          "the installation's log has no fact to show: there is no csv of it",
        );
      }
      const refused = await withStore(readConfig(), (store) => exportTo(store, flags));
      if (isRefusal(refused)) throw new OperatorFault(toTerminalText(refused.message));
    });
}

async function exportTo(
  { db }: Store,
  { workspace: workspaceId, format, out }: Flags,
): Promise<ChangeRefusal | null> {
  if (workspaceId === undefined) return writeTo(out, exportInstallationLog(db));
  if ((await workspaces.find(db, workspaceId)) === null) return unknownWorkspace(workspaceId);
  await noteExport(db, { workspaceId, actor: null }, { of: "log", format, filter: {} });
  await exportLogAtOnce(db, { workspaceId, format }, (texts) => writeTo(out, texts));
  return null;
}

async function writeTo(out: string | undefined, texts: AsyncIterable<string>): Promise<null> {
  if (out === undefined) await print(texts);
  else await writeFileWhole(out, texts);
  return null;
}
