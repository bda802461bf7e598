// countersign delivery …

import { Command } from "commander";
import type { Database } from "../database/database.ts";
import { isEventKind, testEventKind } from "../domain/approval/event.ts";
import { eventBody, testEventBody } from "../domain/approval/event-body.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import { holdAfterRestore, releaseHeld } from "../operations/deliveries/hold-after-restore.ts";
import {
  resendDelivery,
  resendUnsuccessful,
  unknownDelivery,
} from "../operations/deliveries/resend-delivery.ts";
import { unknownWorkspace } from "../operations/transaction-by.ts";
import * as approvals from "../storage/approvals/approvals.ts";
import * as deliveries from "../storage/deliveries/deliveries.ts";
import * as workspaces from "../storage/workspaces/workspaces.ts";
import { describeHeld } from "./backups.ts";
import { onStore, type Printed, type ReadCommandConfig, table, wholeNumber } from "./command.ts";
import {
  deliveryToJson,
  describeDestination,
  describeLast,
  describeOutcome,
} from "./delivery-words.ts";
import { timeHint, toTime } from "./terminal/typed-time.ts";

export function deliveryCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("delivery").description(
    "see deliveries to endpoints, callbacks and mailboxes with their responses, and resend them",
  );
  command.addCommand(listCommand(readConfig));
  command.addCommand(showCommand(readConfig));
  command.addCommand(
    onStore(
      new Command("resend")
        .description("send one delivery again, with the same id and the same bytes")
        .argument("<id>"),
      readConfig,
      {
        run: ({ db }, id: string) => resendDelivery(db, id),
        toJson: deliveryToJson,
        toText: (delivery) =>
          `${delivery.id} is due again. See how it goes: countersign delivery show ${delivery.id}`,
      },
    ),
  );
  command.addCommand(resendFailedCommand(readConfig));
  command.addCommand(
    onStore(
      new Command("hold").description(
        "hold all that is due, after an external database was restored and before the first start",
      ),
      readConfig,
      {
        run: ({ db }) => holdAfterRestore(db),
        toJson: (held) => held,
        toText: describeHeld,
      },
    ),
  );
  command.addCommand(
    onStore(
      new Command("release").description("send what a restore has held, though it may have been"),
      readConfig,
      {
        run: ({ db }) => releaseHeld(db),
        toJson: (result) => result,
        toText: ({ released }) =>
          released === 0
            ? "Nothing is held, except for endpoints that are disabled: enable them first."
            : `${released} deliveries are due again.`,
      },
    ),
  );
  return command;
}

const listedMax = 10_000;

type ListFlags = { workspace: string; request?: string; failed?: boolean; limit: number };

function listCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("list")
      .description("list deliveries, newest first")
      .requiredOption("--workspace <id>", "whose deliveries")
      .option("--request <id>", "only those of one request")
      .option("--failed", "only those that failed or were skipped")
      .option("--limit <number>", `how many at most, 1 to ${listedMax}`, toLimit, 100),
    readConfig,
    {
      run: async ({ db }, { workspace, request, failed, limit }: ListFlags) => {
        if ((await workspaces.find(db, workspace)) === null) return unknownWorkspace(workspace);
        return deliveries.list(db, {
          workspaceId: workspace,
          approvalId: request ?? null,
          isFailed: failed === true,
          limit,
        });
      },
      toJson: (found) => found.map(deliveryToJson),
      toText: (found) =>
        table(
          ["ID", "EVENT", "REQUEST", "DESTINATION", "STATE", "ATTEMPTS", "LAST", "SUMMARY"],
          found.map((delivery) => [
            delivery.id,
            delivery.event,
            delivery.approvalId ?? "-",
            describeDestination(delivery),
            delivery.state,
            String(delivery.attempts),
            describeLast(delivery),
            delivery.summary ?? "-",
          ]),
          "No such deliveries. They are made when a request is created or resolved.",
        ),
    },
  );
}

type Shown = {
  delivery: deliveries.Delivery;
  digest: Awaited<ReturnType<typeof deliveries.findDigest>>;
  attempts: deliveries.Attempt[];
  body: string | null;
};

function showCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("show")
      .description("show a delivery: its body, and every attempt with its response")
      .argument("<id>"),
    readConfig,
    {
      run: async ({ db }, id: string) => {
        const delivery = await deliveries.find(db, id);
        if (delivery === null) return unknownDelivery(id);
        const attempts = await deliveries.listAttempts(db, delivery);
        const digest = await deliveries.findDigest(db, delivery);
        return { delivery, digest, attempts, body: await bodyOf(db, delivery) };
      },
      toJson: ({ delivery, attempts, body }) => ({
        ...deliveryToJson(delivery),
        attempts: attempts.map(attemptToJson),
        body,
      }),
      toText: showText,
    },
  );
}

/** The exact bytes that the receiver gets. Mails aren't shown here: they hold a link that decides. */
async function bodyOf(
  db: Database,
  { destination, event, eventAt, workspaceId, approvalId }: deliveries.Delivery,
): Promise<string | null> {
  if (destination.kind === "mailbox") return null;
  if (event === testEventKind) return testEventBody(eventAt).toString();
  const found = approvalId === null ? null : await approvals.find(db, workspaceId, approvalId);
  if (found === null || !isEventKind(event)) return null;
  return eventBody(event, eventAt, found.approval).toString();
}

function attemptToJson(attempt: deliveries.Attempt): Printed {
  const { number, startedAt, finishedAt, outcome, httpStatus, durationMs, responseStart } = attempt;
  return { number, startedAt, finishedAt, outcome, httpStatus, durationMs, responseStart };
}

function showText({ delivery, digest, attempts, body }: Shown): string {
  const { nextAttemptAt } = delivery;
  const facts = [
    `${delivery.id}  ${delivery.state}`,
    `  event        ${delivery.event} of ${delivery.eventAt.toISOString()}`,
    `  request      ${delivery.approvalId ?? "-"}`,
    `  to           ${toTerminalText(describeDestination(delivery))}`,
    ...digestText(digest),
    ...(nextAttemptAt === null ? [] : [`  next         ${nextAttemptAt.toISOString()}`]),
    "",
    table(
      ["ATTEMPT", "STARTED", "OUTCOME", "MS"],
      attempts.map((attempt) => [
        String(attempt.number),
        attempt.startedAt.toISOString(),
        describeOutcome(attempt),
        attempt.durationMs === null ? "-" : String(attempt.durationMs),
      ]),
      "No attempt yet.",
    ),
  ];
  return [...facts, ...answerText(attempts), ...bodyText(body)].join("\n");
}

function digestText(digest: Shown["digest"]): string[] {
  if (digest === null) return [];
  return digest.kind === "held"
    ? ["  mail         held for the next digest to this address"]
    : [`  mail         a digest of ${digest.requests} requests`];
}

function answerText(attempts: deliveries.Attempt[]): string[] {
  const last = attempts.findLast(({ responseStart }) => (responseStart ?? "") !== "");
  if (last === undefined) return [];
  const answer = toTerminalText(last.responseStart ?? "", { isMultiLine: true });
  return ["", `Answer to attempt ${last.number}:`, answer];
}

function bodyText(body: string | null): string[] {
  if (body === null) return [];
  const visible = toTerminalText(body);
  const note =
    visible === body ? "" : " (what cannot be seen is named; --json has it as it is sent)";
  return ["", `Body${note}:`, visible];
}

type ResendFlags = { workspace: string; since: string; endpoint?: string };

function resendFailedCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("resend-failed")
      .description("send again everything that failed or was skipped since a time")
      .requiredOption("--workspace <id>", "whose deliveries")
      .requiredOption("--since <time>", timeHint)
      .option("--endpoint <id>", "only those to one endpoint"),
    readConfig,
    {
      run: async ({ db }, { workspace, since, endpoint }: ResendFlags) => {
        return resendUnsuccessful(db, {
          workspaceId: workspace,
          endpointId: endpoint ?? null,
          time: toTime(since),
        });
      },
      toJson: ({ resent }) => ({ resent }),
      toText: ({ resent }) => {
        if (resent === 0) {
          return "Nothing failed or was skipped since then. Endpoints that are disabled are left out: enable them first.";
        }
        return resent === 1 ? "1 delivery is due again." : `${resent} deliveries are due again.`;
      },
    },
  );
}

function toLimit(text: string): number {
  const limit = wholeNumber(text);
  if (limit >= 1 && limit <= listedMax) return limit;
  throw new OperatorFault(`${text} is not a limit; it is a whole number from 1 to ${listedMax}`);
}
