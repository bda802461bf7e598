// countersign request …

import { Command, Option } from "commander";
import {
  type Approval,
  type ApprovalStatus,
  approvalStatuses,
  editOf,
} from "../domain/approval/approval.ts";
import { type ExportFormat, exportedFiles, exportFormats } from "../domain/approval/export-rows.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type ChangeRefusal, isRefusal, refuse } from "../domain/refusal.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { cancelByOperator } from "../operations/approvals/cancel-many.ts";
import { findWithExpiry } from "../operations/approvals/expire-approvals.ts";
import { nobodyToRemind, tooEarly } from "../operations/approvals/remind-approval.ts";
import { refusePartial } from "../operations/approvals/whole-list.ts";
import { unknownWorkspace } from "../operations/transaction-by.ts";
import { remind } from "../operations/votings/remind.ts";
import { noteExport } from "../operations/workspaces/note-export.ts";
import { readPages } from "../storage/approvals/approval-export.ts";
import { findWorkspaceOf, list } from "../storage/approvals/approval-lists.ts";
import { findCallbackUrl } from "../storage/approvals/approvals.ts";
import type { ListedApproval } from "../storage/approvals/list-terms.ts";
import type { Store } from "../storage/store.ts";
import * as workspaces from "../storage/workspaces/workspaces.ts";
import {
  onStore,
  type Printed,
  type ReadCommandConfig,
  table,
  toTerminalJson,
  wholeNumber,
  withStore,
} from "./command.ts";
import { print, writeFileWhole } from "./terminal/output-file.ts";
import { chosenIn, type FilterFlags, filterOf } from "./terminal/request-flags.ts";
import { voteLines } from "./terminal/request-votes.ts";
import { timeHint } from "./terminal/typed-time.ts";

export function requestCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("request").description(
    "find requests, see who decided what and when, remind people, cancel, and export lists",
  );
  command.addCommand(listCommand(readConfig));
  command.addCommand(showCommand(readConfig));
  command.addCommand(remindCommand(readConfig));
  command.addCommand(cancelCommand(readConfig));
  command.addCommand(exportCommand(readConfig));
  return command;
}

const listedMax = 10_000;

function listCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("list")
    .description("list requests, newest first")
    .option("--limit <number>", `how many at most, 1 to ${listedMax}`, toLimit, 100);
  return onStore(withFilters(command), readConfig, {
    run: async ({ db }, flags: FilterFlags & { limit: number }) => {
      if ((await workspaces.find(db, flags.workspace)) === null) {
        return unknownWorkspace(flags.workspace);
      }
      const { limit, workspace } = flags;
      const filter = filterOf(flags);
      const partial = await refusePartial(db, workspace, filter);
      // A part of the list helps somebody who looks for a request.
      if (partial !== null) process.stderr.write(`${partial.message}\n`);
      const { found, last } = await list(db, workspace, { ...filter, limit });
      if (last !== null) process.stderr.write(thereAreMore(limit));
      return found;
    },
    toJson: (found) => found.map(listedToJson),
    toText: (found) =>
      table(
        ["ID", "STATUS", "CREATED", "AGENT", "APPROVER", "DECIDED BY", "DECIDED", "SUMMARY"],
        found.map(listedToCells),
        "No such requests.",
      ),
  });
}

/** A list that ends without a word would pass for all there is. */
function thereAreMore(limit: number): string {
  return `Only the first ${limit} are listed. --limit shows up to ${listedMax}; \`countersign request export\` has all.\n`;
}

function listedToCells(listed: ListedApproval): string[] {
  const { resolvedByEmail, resolvedAt } = listed;
  return [
    listed.id,
    listed.status,
    listed.createdAt.toISOString(),
    listed.agentName ?? "-",
    approverText(listed),
    resolvedByEmail ?? "-",
    resolvedByEmail === null ? "-" : (resolvedAt?.toISOString() ?? "-"),
    listed.summary,
  ];
}

function listedToJson({ approver, ...listed }: ListedApproval): Printed {
  return { ...listed, approver: approverText({ approver }) };
}

function approverText({ approver }: Pick<ListedApproval, "approver">): string {
  return approver.kind === "address" ? approver.email : `group:${approver.key}`;
}

function showCommand(readConfig: ReadCommandConfig): Command {
  return new Command("show")
    .description("show a request: its payload to the last digit, and who decided what and when")
    .argument("<id>")
    .option("--json", "print JSON, for machines")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const shown = await withStore(readConfig(), (store) => findAnywhere(store, id));
      if (isRefusal(shown)) throw new OperatorFault(toTerminalText(shown.message));
      process.stdout.write(`${json === true ? toTerminalJson(jsonOf(shown)) : showText(shown)}\n`);
    });
}

/** Exports leave the callback's address out: files travel, and it may be a secret. */
type ShownRequest = { approval: Approval; callbackUrl: string | null };

async function findAnywhere({ db }: Store, id: string): Promise<ShownRequest | ChangeRefusal> {
  const workspaceId = await findWorkspaceOf(db, id);
  const found = workspaceId === null ? null : await findWithExpiry(db, workspaceId, id);
  if (workspaceId === null || found === null) return unknownRequest(id);
  return { approval: found.approval, callbackUrl: await findCallbackUrl(db, { workspaceId, id }) };
}

/** The exact text: a parser in between would round its numbers. */
function jsonOf({ approval, callbackUrl }: ShownRequest): string {
  const line = exportedFiles.jsonl.line(approval).trimEnd();
  if (callbackUrl === null) return line;
  return `${line.slice(0, -1)},"callbackUrl":${JSON.stringify(callbackUrl)}}`;
}

function unknownRequest(id: string): ChangeRefusal {
  return refuse("not_found", `there is no request ${id}; \`countersign request list\` shows them`);
}

function showText({ approval, callbackUrl }: ShownRequest): string {
  const { state } = approval;
  const facts: [name: string, value: string | null][] = [
    ["summary", approval.summary],
    ["agent", approval.agentName],
    ["approver", approverText(approval)],
    ["for", approval.requestedBy],
    ["channels", approval.channels?.join(", ") ?? null],
    ["valid only for", approval.audience?.join(", ") ?? null],
    ["signature", approval.requireSignature === true ? "asked for by the caller" : null],
    ["created", approval.createdAt.toISOString()],
    ["expires", approval.expiresAt.toISOString()],
    ["resolved", "at" in state ? state.at.toISOString() : null],
    ["decided by", "byEmail" in state ? state.byEmail : null],
    ["note", "note" in state ? state.note : null],
    ["payload", onOneLine(approval.payload)],
    ["edited to", onOneLine(editOf(state))],
    ["metadata", onOneLine(approval.metadata)],
    ["callback", callbackUrl],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`  ${name.padEnd(10)}  ${toTerminalText(value)}`],
  );
  return [`${approval.id}  ${state.kind}`, ...lines, ...voteLines(approval.voting)].join("\n");
}

/** Line breaks and tabs stand between the parts of JSON only, where they mean no more than a space. */
function onOneLine(json: string | null): string | null {
  return json?.replaceAll(/[\t\r\n][\t\r\n ]*/g, " ") ?? null;
}

function remindCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("remind")
    .description("mail everybody who can still vote once more, at most once in an hour")
    .argument("<id>");
  return onStore(command, readConfig, {
    run: ({ db }, id: string) => remindAnywhere(db, id),
    toJson: ({ id, people }) => ({ id, reminded: people }),
    toText: ({ id, people }) =>
      `${people} ${people === 1 ? "person is" : "people are"} being reminded of ${id}.`,
  });
}

async function remindAnywhere(
  db: Store["db"],
  id: string,
): Promise<{ id: string; people: number } | ChangeRefusal> {
  const workspaceId = await findWorkspaceOf(db, id);
  if (workspaceId === null) return unknownRequest(id);
  // It may be past its time, and nobody has looked since.
  await findWithExpiry(db, workspaceId, id);
  const result = await remind(db, { workspaceId, approvalId: id });
  switch (result.kind) {
    case "reminded":
      return { id, people: result.people };
    case "too_early":
      return refuse("conflict", tooEarly(result.retryAfterSeconds).message);
    case "nobody":
      return refuse("conflict", nobodyToRemind);
    case "closed":
      return refuse("conflict", `${id} is decided already, so nobody is asked any more`);
    case "not_found":
      return unknownRequest(id);
    default:
      return result satisfies never;
  }
}

function cancelCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("cancel")
    .description("cancel pending requests; their links, and what is still to be asked, end")
    .argument("<id...>");
  return onStore(command, readConfig, {
    run: ({ db }, ids: string[]) => cancelAnywhere(db, [...new Set(ids)]),
    toJson: (ended) => ended,
    toText: (ended) =>
      ended
        .map(({ id, isCancelled, status }) =>
          isCancelled ? `Cancelled ${id}.` : `${id} stays as it was: ${status}.`,
        )
        .join("\n"),
  });
}

type Ended = { id: string; isCancelled: boolean; status: ApprovalStatus };

/** An id that is unknown cancels nothing, the others' included: it may be a slip. */
async function cancelAnywhere(db: Store["db"], ids: string[]): Promise<Ended[] | ChangeRefusal> {
  const places: { id: string; workspaceId: string }[] = [];
  for (const id of ids) {
    const workspaceId = await findWorkspaceOf(db, id);
    if (workspaceId === null) return unknownRequest(id);
    places.push({ id, workspaceId });
  }
  const ended: Ended[] = [];
  for (const { id, workspaceId } of places) {
    const isCancelled = await cancelByOperator(db, { workspaceId, id });
    const found = await findWithExpiry(db, workspaceId, id);
    if (found === null) return unknownRequest(id);
    ended.push({ id, isCancelled, status: found.approval.state.kind });
  }
  return ended;
}

type ExportFlags = FilterFlags & { format: ExportFormat; output?: string };

function exportCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("export")
    .description("write a list of requests to a file, a line for each")
    .addOption(
      new Option("--format <format>", "csv for spreadsheets, jsonl (JSON Lines) for programs")
        .choices(exportFormats)
        .default("csv"),
    )
    .option("--output <file>", "the file to write; standard output by default");
  return withFilters(command).action(async (flags: ExportFlags) => {
    if (flags.output === undefined && process.stdout.isTTY) {
      throw new OperatorFault("a file is no text for a terminal; use --output, or redirect it");
    }
    const refused = await withStore(readConfig(), (store) => exportTo(store, flags));
    if (isRefusal(refused)) throw new OperatorFault(toTerminalText(refused.message));
  });
}

/** Reads a page when the one before is written, so that any number of requests takes the same memory. */
async function exportTo({ db }: Store, flags: ExportFlags): Promise<ChangeRefusal | null> {
  const { workspace: workspaceId, format, output } = flags;
  if ((await workspaces.find(db, workspaceId)) === null) return unknownWorkspace(workspaceId);
  const filter = filterOf(flags);
  const partial = await refusePartial(db, workspaceId, filter);
  if (partial !== null) return partial;
  await noteExport(
    db,
    { workspaceId, actor: null },
    { of: "requests", format, filter: chosenIn(flags) },
  );
  const { start, line } = exportedFiles[format];
  async function* texts(): AsyncGenerator<string> {
    if (start !== "") yield start;
    for await (const page of readPages(db, workspaceId, filter)) yield page.map(line).join("");
  }
  if (output === undefined) await print(texts());
  else await writeFileWhole(output, texts());
  return null;
}

function withFilters(command: Command): Command {
  return command
    .requiredOption("--workspace <id>", "whose requests")
    .addOption(new Option("--status <status>", "only these").choices(approvalStatuses))
    .option(
      "--search <words>",
      "words, or their beginnings, of summary, payload, people …; or an id",
    )
    .option("--agent <name>", "only those of one agent, by its exact name")
    .option("--approver <who>", "an address, or group:<key>")
    .option("--from <time>", `created at or after: ${timeHint}`)
    .option("--to <time>", "created before")
    .option("--decided-by <address>", "only those that this person approved or rejected")
    .option(
      "--waiting-for <address>",
      "only pending ones that this person can still decide or vote on",
    )
    .option(
      "--escalated",
      "only those for which more people were asked, because a stage stayed open",
    )
    .option("--unreachable", "only those for which too few people are left, or no mail arrived")
    .option("--decided-from <time>", "decided at or after")
    .option("--decided-to <time>", "decided before")
    .addOption(
      new Option("--sort <order>", "by age, or pending ones by the time left")
        .choices(["newest", "oldest", "expiry"])
        .default("newest"),
    );
}

function toLimit(text: string): number {
  const limit = wholeNumber(text);
  if (limit >= 1 && limit <= listedMax) return limit;
  throw new OperatorFault(`${text} is not a limit; it is a whole number from 1 to ${listedMax}`);
}
