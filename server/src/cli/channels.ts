// countersign group channels … and countersign teams …: where groups are asked beside mail.

import { Command } from "commander";
import { makeAddressPolicy } from "../domain/access/network-address.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type ChangeRefusal, isRefusal, refuse } from "../domain/refusal.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import {
  type Changed,
  type GroupPlace,
  removeGroupSlackChannel,
  removeGroupTeams,
  setGroupMailDelay,
  setGroupSlackChannel,
  setGroupTeams,
} from "../operations/channels/group-channels.ts";
import { findSlackChannel } from "../operations/channels/slack-channel.ts";
import { examineWebhookUrl } from "../outbound/resolve-host.ts";
import { callSlack } from "../outbound/slack-api.ts";
import * as groupChannels from "../storage/channels/group-channels.ts";
import * as groups from "../storage/people/groups.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import {
  type CommandContext,
  onStore,
  type Printed,
  type ReadCommandConfig,
  wholeNumber,
} from "./command.ts";

type Where = { workspace: string; group: string };
type ChannelFlags = Where & { slackChannel?: string; mailAfter?: string };

export function groupChannelsCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    named("channels")
      .description("show or change where a group is asked beside mail")
      .option("--slack-channel <id>", "a channel's ID or link; none takes it away")
      .option("--mail-after <minutes>", "mail waits so long for the others; none sends it at once"),
    readConfig,
    {
      run: async (store, flags: ChannelFlags) => {
        const place = await placeOf(store, flags);
        if (isRefusal(place)) return place;
        for (const step of stepsOf(store, place, flags)) {
          const changed = await step();
          if (isRefusal(changed)) return changed;
        }
        return groupChannels.get(store.db, place);
      },
      toJson,
      toText,
    },
  );
}

export function teamsCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("teams").description("ask groups in Microsoft Teams");
  command.addCommand(
    onStore(
      named("connect")
        .description("give a group a Workflows webhook; its address is sealed and never shown")
        .option("--url <url>", "the webhook's address; without it, it is read from standard input"),
      readConfig,
      {
        run: async (store, { url, ...where }: Where & { url?: string }) => {
          const place = await placeOf(store, where);
          if (isRefusal(place)) return place;
          await requireSecretKeys(store);
          const policy = makeAddressPolicy(store.config.webhookAllowed);
          return setGroupTeams(store.db, store.keyring, {
            ...place,
            url: url ?? (await readFirstLine()),
            examineAddress: (given) => examineWebhookUrl(given, policy),
          });
        },
        toJson,
        toText,
      },
    ),
  );
  command.addCommand(
    onStore(named("disconnect").description("take a group's webhook away"), readConfig, {
      run: async (store, where: Where) => {
        const place = await placeOf(store, where);
        return isRefusal(place) ? place : removeGroupTeams(store.db, place);
      },
      toJson,
      toText,
    }),
  );
  return command;
}

function named(name: string): Command {
  return new Command(name)
    .requiredOption("--workspace <id>", "the group's workspace")
    .requiredOption("--group <key>", "what agents write after group:");
}

async function placeOf(
  { db }: CommandContext,
  { workspace, group: key }: Where,
): Promise<GroupPlace | ChangeRefusal> {
  const [group] = await groups.listByKeys(db, workspace, [key]);
  if (group !== undefined) return { workspaceId: workspace, groupId: group.id };
  return refuse(
    "not_found",
    `there is no group ${key} in ${workspace}; \`countersign group list\` shows all`,
  );
}

function stepsOf(
  { db, keyring, config }: CommandContext,
  place: GroupPlace,
  { slackChannel, mailAfter }: ChannelFlags,
): (() => Promise<Changed>)[] {
  const { workspaceId } = place;
  const setSlackChannel = async (text: string): Promise<Changed> => {
    const channel = await findSlackChannel(
      {
        ...{ db, keyring },
        callSlack: (call) => callSlack({ ...call, apiUrl: config.slackApiUrl }),
      },
      { workspaceId, text },
    );
    return isRefusal(channel) ? channel : setGroupSlackChannel(db, { ...place, channel });
  };
  const minutes = mailAfter === undefined ? undefined : minutesOf(mailAfter);
  return [
    ...(slackChannel === undefined
      ? []
      : [
          () =>
            slackChannel === "none"
              ? removeGroupSlackChannel(db, place)
              : setSlackChannel(slackChannel),
        ]),
    ...(minutes === undefined ? [] : [() => setGroupMailDelay(db, { ...place, minutes })]),
  ];
}

function minutesOf(text: string): number | null {
  return text === "none" ? null : wholeNumber(text);
}

/** So that a secret need not stand in a shell's history, nor in a list of processes. */
async function readFirstLine(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin) {
    text += chunk;
    if (text.includes("\n") || text.length > lineCharactersMax) break;
  }
  const [line = ""] = text.split("\n");
  if (line.trim() === "") {
    throw new OperatorFault("standard input has no address; give it there, or with --url");
  }
  return line.trim();
}

const lineCharactersMax = 10_000;

function toJson({
  groupId,
  slackChannel,
  teamsHost,
  ...rest
}: groupChannels.GroupChannels): Printed {
  const { mailAfterMinutes } = rest;
  return { groupId, slackChannel, teamsHost, mailAfterMinutes };
}

function toText({ slackChannel, teamsHost, mailAfterMinutes }: groupChannels.GroupChannels) {
  const lines = [
    `slack  ${slackChannel === null ? "none" : `#${slackChannel.name} (${slackChannel.id})`}`,
    `teams  ${teamsHost ?? "none"}`,
    `mail   ${mailAfterMinutes === null ? "at once" : `${mailAfterMinutes} min after the others`}`,
  ];
  return lines.map((line) => toTerminalText(line)).join("\n");
}
