// countersign absence …

import { Command } from "commander";
import { OperatorFault } from "../domain/operator-fault.ts";
import { endAbsence, setAbsence } from "../operations/people/manage-absences.ts";
import * as absences from "../storage/people/absences.ts";
import { onStore, type Printed, type ReadCommandConfig, table } from "./command.ts";
import { toTime } from "./terminal/typed-time.ts";

type SetFlags = {
  workspace: string;
  email: string;
  delegate: string;
  from?: string;
  until: string;
};

const timeWords = "ISO 8601 in UTC, such as 2026-12-24 or 2026-12-24T09:00Z";

export function absenceCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("absence").description(
    "say that somebody is away, and who is asked instead",
  );
  command.addCommand(
    onStore(
      new Command("set")
        .description("have a colleague asked instead of somebody who is away")
        .requiredOption("--workspace <id>", "which workspace")
        .requiredOption("--email <address>", "who is away")
        .requiredOption("--delegate <address>", "who is asked instead: a member, or in a group")
        .option("--from <time>", `when it begins (now); ${timeWords}`)
        .requiredOption("--until <time>", `when it ends; ${timeWords}`),
      readConfig,
      {
        run: (store, { workspace, email, delegate, from, until }: SetFlags) =>
          setAbsence(store.db, {
            workspaceId: workspace,
            email,
            delegateEmail: delegate,
            startsAt: from === undefined ? new Date(0) : toMoment(from),
            endsAt: toMoment(until),
          }),
        toJson,
        toText: ({ id, email, delegateEmail, startsAt, endsAt }) =>
          `${delegateEmail} is asked instead of ${email} from ${startsAt.toISOString()} until ${endsAt.toISOString()} (${id}).`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("end")
        .description("end an absence, or delete one that hasn't begun")
        .argument("<id>", "abs_…, as `absence list` shows"),
      readConfig,
      {
        run: (store, id: string) => endAbsence(store.db, id),
        toJson,
        toText: ({ email }) => `Ended the absence of ${email}.`,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("list")
        .description("list the absences of a workspace that are not over")
        .requiredOption("--workspace <id>", "which workspace"),
      readConfig,
      {
        run: (store, flags: { workspace: string }) => absences.list(store.db, flags.workspace),
        toJson: (found) => found.map(toJson),
        toText: (found) =>
          table(
            ["ID", "AWAY", "ASKED INSTEAD", "FROM", "UNTIL"],
            found.map((absence) => [
              absence.id,
              absence.email,
              askedInstead(absence),
              absence.startsAt.toISOString(),
              absence.endsAt.toISOString(),
            ]),
            "Nobody is away.",
          ),
      },
    ),
  );
  return command;
}

function askedInstead(absence: absences.Absence): string {
  const { delegateEmail, isDelegateHere, isDelegateAllowed } = absence;
  if (!isDelegateHere) return `nobody, ${delegateEmail} has left`;
  return isDelegateAllowed ? delegateEmail : `nobody, ${delegateEmail} may not be asked`;
}

/** Unlike other commands, this one is about times to come: a span before now would mislead. */
function toMoment(text: string): Date {
  if (/^[0-9]+[mhd]$/.test(text)) {
    throw new OperatorFault(`${text} is a span; write a time such as 2026-12-24T09:00Z`);
  }
  return toTime(text);
}

function toJson(absence: absences.Absence): Printed {
  const { id, workspaceId, email, delegateEmail, startsAt, endsAt } = absence;
  return { id, workspaceId, email, delegateEmail, startsAt, endsAt };
}
