// countersign slack …

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Command } from "commander";
import { whySlackCantCall } from "../domain/access/public-url.ts";
import type { CallSlack } from "../domain/channels/slack-answer.ts";
import { slackManifest } from "../domain/channels/slack-manifest.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import {
  connectSlack,
  disconnectSlack,
  notConnected,
  type SlackProofOfClicks,
} from "../operations/channels/connect-slack.ts";
import { type TrialPlace, trySlack } from "../operations/channels/try-slack.ts";
import { callSlack } from "../outbound/slack-api.ts";
import * as slackConnections from "../storage/channels/slack-connections.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import {
  type CommandContext,
  onStore,
  type Printed,
  type ReadCommandConfig,
  table,
} from "./command.ts";

export function slackCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("slack").description(
    "connect workspaces to Slack, where people are asked and can decide",
  );
  command.addCommand(manifestCommand(readConfig));
  command.addCommand(connectCommand(readConfig));
  command.addCommand(testCommand(readConfig));
  command.addCommand(statusCommand(readConfig));
  command.addCommand(disconnectCommand(readConfig));
  return command;
}

function manifestCommand(readConfig: ReadCommandConfig): Command {
  return new Command("manifest")
    .description("print the manifest of the app, for api.slack.com/apps, “From a manifest”")
    .option("--http", "Slack calls this service at PUBLIC_URL, instead of a socket that it opens")
    .option("--match-email", "with the right to read the addresses in people's profiles")
    .action((flags: { http?: boolean; matchEmail?: boolean }) => {
      const interactionsUrl =
        flags.http === true ? interactionsUrlOf(readConfig().publicUrl) : null;
      const matchesEmail = flags.matchEmail === true;
      const manifest = slackManifest({ interactionsUrl, matchesEmail });
      process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
    });
}

function interactionsUrlOf(publicUrl: string): string {
  const flaw = whySlackCantCall(publicUrl);
  if (flaw === null) return `${publicUrl}/slack/interactions`;
  throw new OperatorFault(`${flaw}; leave --http out, and a socket is used`);
}

type ConnectFlags = {
  workspace: string;
  botToken?: string;
  appToken?: string;
  signingSecret?: string;
  http?: boolean;
  matchEmail?: boolean;
  withoutPayload?: boolean;
};

function connectCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("connect")
      .description(
        "connect a workspace by the tokens of its app; those that no flag gives are read from standard input, a line each",
      )
      .requiredOption("--workspace <id>", "the workspace whose requests are asked in Slack")
      .option("--bot-token <token>", "the Bot User OAuth Token, xoxb-…")
      .option("--app-token <token>", "the App-Level Token with connections:write, xapp-…")
      .option("--http", "Slack calls /slack/interactions, instead of a socket that we open")
      .option("--signing-secret <secret>", "with --http: the Signing Secret of the app")
      .option(
        "--match-email",
        "a Slack profile counts as the person whose confirmed address it has",
      )
      .option("--without-payload", "keep payloads out of Slack: people decide in the inbox"),
    readConfig,
    {
      run: async (store, flags: ConnectFlags) => {
        await requireSecretKeys(store);
        const { botToken, proof } = await readSecrets(flags);
        return connectSlack(partsOf(store), {
          workspaceId: flags.workspace,
          botToken,
          proof,
          matchesEmail: flags.matchEmail === true,
          showsPayload: flags.withoutPayload !== true,
        });
      },
      toJson,
      toText: (connection) =>
        `Connected ${connection.workspaceId} to the Slack workspace ${toTerminalText(connection.teamName)}. Try it: countersign slack test --workspace ${connection.workspaceId} --channel C…`,
    },
  );
}

function testCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("test")
      .description("ask Slack whether the connection works, and post a test message where told")
      .requiredOption("--workspace <id>", "the connected workspace")
      .option("--channel <id>", "post to this channel, such as C0123456789")
      .option("--person <email>", "post to the person with this address"),
    readConfig,
    {
      run: (store, flags: { workspace: string; channel?: string; person?: string }) =>
        trySlack(partsOf(store), { workspaceId: flags.workspace, place: placeOf(flags) }),
      toJson: ({ teamName, postedTo }) => ({ teamName, postedTo }),
      toText: ({ teamName, postedTo }) => {
        const told = postedTo === null ? "" : ` A test message was posted to ${postedTo}.`;
        return `Slack takes the token of ${toTerminalText(teamName)}.${told}`;
      },
    },
  );
}

function placeOf({ channel, person }: { channel?: string; person?: string }): TrialPlace {
  if (channel !== undefined) return { channel };
  return person === undefined ? null : { email: person };
}

function statusCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("status")
      .description("show which workspaces are connected, and whether Slack takes their tokens")
      .option("--workspace <id>", "only this workspace's"),
    readConfig,
    {
      run: async ({ db }, { workspace }: { workspace?: string }) => {
        if (workspace === undefined) return slackConnections.list(db);
        const connection = await slackConnections.find(db, workspace);
        return connection === null ? notConnected() : [connection];
      },
      toJson: (found) => found.map(toJson),
      toText: (found) =>
        table(
          ["WORKSPACE", "SLACK", "MODE", "PEOPLE BY", "PAYLOAD", "STATE"],
          found.map((each) => [
            each.workspaceId,
            each.teamName,
            each.mode,
            each.matchesEmail ? "link or address" : "link",
            each.showsPayload ? "shown" : "kept out",
            each.brokenReason === null ? "connected" : `broken: ${each.brokenReason}`,
          ]),
          "Slack is not connected. See: countersign slack connect --help",
        ),
    },
  );
}

function disconnectCommand(readConfig: ReadCommandConfig): Command {
  return onStore(
    new Command("disconnect")
      .description(
        "forget a workspace's tokens and its groups' channels; people are asked by mail again",
      )
      .requiredOption("--workspace <id>", "the connected workspace"),
    readConfig,
    {
      run: ({ db }, { workspace }: { workspace: string }) => disconnectSlack(db, workspace),
      toJson: ({ teamName }) => ({ teamName }),
      toText: ({ teamName }) =>
        `Disconnected ${toTerminalText(teamName)}. Its tokens and the groups' Slack channels are deleted here; remove the app in Slack as well.`,
    },
  );
}

function partsOf({ db, keyring, config }: CommandContext) {
  const { slackApiUrl: apiUrl } = config;
  const call: CallSlack = (each) => callSlack({ ...each, apiUrl });
  return { db, keyring, callSlack: call };
}

async function readSecrets(
  flags: ConnectFlags,
): Promise<{ botToken: string; proof: SlackProofOfClicks }> {
  const isHttp = flags.http === true;
  const given = [flags.botToken, isHttp ? flags.signingSecret : flags.appToken];
  const names = ["Bot User OAuth Token", isHttp ? "Signing Secret" : "App-Level Token"];
  const missing = names.filter((_, at) => given[at] === undefined);
  const typed = missing.length === 0 ? [] : await readLines(missing);
  const [botToken = "", second = ""] = given.map((each) => each ?? typed.shift());
  const proof: SlackProofOfClicks = isHttp
    ? { mode: "http", signingSecret: second }
    : { mode: "socket", appToken: second };
  return { botToken, proof };
}

/** So that secrets stand neither in a shell's history nor in a list of processes. A terminal doesn't show them. */
async function readLines(names: readonly string[]): Promise<string[]> {
  const isTerminal = process.stdin.isTTY === true;
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal });
  const read: string[] = [];
  try {
    if (isTerminal) process.stderr.write(`${names[0]}: `);
    for await (const line of lines) {
      read.push(line.trim());
      if (isTerminal) process.stderr.write("\n");
      if (read.length === names.length) break;
      if (isTerminal) process.stderr.write(`${names[read.length]}: `);
    }
  } finally {
    lines.close();
  }
  if (read.length === names.length) return read;
  throw new OperatorFault(
    `standard input lacks the ${names.slice(read.length).join(" and the ")}; give it there in a line of its own, or with a flag`,
  );
}

/** Never with a secret. */
function toJson(connection: slackConnections.SlackConnection): Printed {
  const { workspaceId, teamId, teamName, appId, mode, matchesEmail, showsPayload } = connection;
  const { connectedBy, connectedAt, brokenAt, brokenReason } = connection;
  return {
    ...{ workspaceId, teamId, teamName, appId, mode, matchesEmail, showsPayload },
    ...{ connectedBy, connectedAt, brokenAt, brokenReason },
  };
}
