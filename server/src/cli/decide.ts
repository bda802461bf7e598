// countersign decide: decides a request from the terminal, where Countersign is only tried out.

import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { isLoopbackUrl } from "../domain/access/public-url.ts";
import { approvalsOf, type VotingRecord } from "../domain/approval/voting-record.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type JsonText, scanJsonValue } from "../domain/shown/json-text.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { decideForTrial, type TrialDecision } from "../operations/approvals/decide-for-trial.ts";
import * as newDeliveries from "../storage/deliveries/new-deliveries.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import { type CommandConfig, onStore, type ReadCommandConfig } from "./command.ts";

type DecideFlags = { edit?: string; note?: string; as?: string };

export function decideCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("decide")
      .description("approve or reject a request in place of its approver (development only)")
      .argument("<request>", "req_…")
      .argument("<verdict>", "approve or reject")
      .option("--edit <file>", "approve with this JSON as the payload")
      .option("--note <text>", "what the approver writes beside the decision")
      .option("--as <address>", "who of several decides (the first of them)"),
    readConfig,
    {
      run: async (store, id: string, verdict: string, flags: DecideFlags) => {
        requireDevelopment("decide", store.config);
        await requireSecretKeys(store);
        const choice: TrialDecision = {
          id,
          verdict: verdictOf(verdict),
          note: flags.note ?? null,
          edit: flags.edit === undefined ? null : await readEdit(flags.edit),
          email: flags.as ?? null,
        };
        const { publicUrl } = store.config;
        const parts = { ...store, origin: { publicUrl }, onDue: () => {} };
        const decided = await decideForTrial(parts, choice);
        // The command ends at once, so its notice is sent before that.
        await newDeliveries.announceDue(store.db);
        return decided;
      },
      toJson: ({ approvalId, state, reviewer }) => ({
        id: approvalId,
        status: state.kind,
        resolvedByEmail: state.kind === "PENDING" ? null : reviewer.email,
        isEdited: state.kind === "APPROVED" && state.edit !== null,
      }),
      toText: ({ approvalId, state, reviewer, voting }) => {
        if (voting !== null && state.kind === "PENDING") {
          return `${approvalId} has the vote of ${toTerminalText(reviewer.email)}. ${progressOf(voting)}`;
        }
        const isEdited = state.kind === "APPROVED" && state.edit !== null;
        const how = `${state.kind}${isEdited ? " with changes" : ""}`;
        return `${approvalId} is ${how}, decided as ${toTerminalText(reviewer.email)}.`;
      },
    },
  );
}

/**
 * The commands that act for people, or on a laptop alone, must be impossible to use on a service that people rely on.
 * The environment of a shell may say less than that of the service, so `decide` looks into the database, too.
 */
export function requireDevelopment(
  command: string,
  { databaseUrl, smtpUrl, publicUrl }: CommandConfig,
): void {
  if (databaseUrl === null && smtpUrl === null && isLoopbackUrl(publicUrl)) return;
  throw new OperatorFault(
    `\`countersign ${command}\` is for development: with the embedded database, without SMTP_URL, and with PUBLIC_URL at this machine`,
  );
}

function progressOf(voting: VotingRecord): string {
  const { stage: open, stages } = approvalsOf(voting);
  const stage = stages[open - 1];
  const given = stage?.votes.filter(({ revision }) => revision === voting.revision).length ?? 0;
  return `It is PENDING: ${given} of ${stage?.required} approved in stage ${open} of ${stages.length}.`;
}

function verdictOf(text: string): TrialDecision["verdict"] {
  if (text === "approve" || text === "reject") return text;
  throw new OperatorFault(`${text} is neither approve nor reject`);
}

async function readEdit(path: string): Promise<JsonText> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new OperatorFault(`${path} cannot be read (${error.message})`);
  });
  const scanned = scanJsonValue(text);
  if (scanned.kind === "valid") return text as JsonText;
  throw new OperatorFault(`${path} is not valid JSON: ${scanned.message}`);
}
