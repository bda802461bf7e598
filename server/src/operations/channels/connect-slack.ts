// Connects a workspace to a Slack team by the tokens of an app that was made there, and disconnects it. Slack is asked
// whether it takes them before anything is stored; the call is passed in.

import type { Database, Transaction } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { CallSlack, SlackAnswer } from "../../domain/channels/slack-answer.ts";
import { neededScopes } from "../../domain/channels/slack-manifest.ts";
import { slackRefusal } from "../../domain/channels/slack-refusals.ts";
import { type ChangeRefusal, isRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { type Doer, operator } from "../../domain/workspace/activity.ts";
import * as channelNews from "../../storage/channels/channel-news.ts";
import * as groupChannels from "../../storage/channels/group-channels.ts";
import * as slackConnections from "../../storage/channels/slack-connections.ts";
import { announceDue } from "../../storage/deliveries/new-deliveries.ts";
import type * as members from "../../storage/people/members.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTurnBy, refuseUnlessOwner } from "../transaction-by.ts";
import { sealSlackSecret } from "./slack-tokens.ts";

/** The token that opens a socket, or the secret that signs what Slack sends. */
export type SlackProofOfClicks =
  | { mode: "socket"; appToken: string }
  | { mode: "http"; signingSecret: string };

export type SlackSettings = { matchesEmail: boolean; showsPayload: boolean };

export type NewConnection = SlackSettings & {
  workspaceId: string;
  botToken: string;
  proof: SlackProofOfClicks;
};

export type ConnectParts = { db: Database; keyring: Keyring; callSlack: CallSlack };

/** Replaces an earlier connection. */
export async function connectSlack(
  { db, keyring, callSlack }: ConnectParts,
  { workspaceId, botToken, proof, matchesEmail, showsPayload }: NewConnection,
  by: Doer = operator,
): Promise<slackConnections.SlackConnection | ChangeRefusal> {
  if (by.workspaceId !== null && by.workspaceId !== workspaceId) return notConnected();
  const flaw = flawOfForms(botToken, proof);
  if (flaw !== null) return flaw;
  const identity = await identify(callSlack, { botToken, proof, matchesEmail });
  if (isRefusal(identity)) return identity;
  const sealed = (name: "bot_token" | "app_token" | "signing_secret", secret: string) =>
    sealSlackSecret(keyring, { workspaceId, name, secret });
  return inTurnBy(db, workspaceId, by, async (tx, { doer }) => {
    const refusal = refuseOthers(doer);
    if (refusal !== null) return refusal;
    const before = await slackConnections.find(tx, workspaceId);
    await slackConnections.put(tx, {
      ...identity,
      workspaceId,
      mode: proof.mode,
      secretKeyId: keyring.current.id,
      sealedBotToken: sealed("bot_token", botToken),
      sealedAppToken: proof.mode === "socket" ? sealed("app_token", proof.appToken) : null,
      sealedSigningSecret:
        proof.mode === "http" ? sealed("signing_secret", proof.signingSecret) : null,
      matchesEmail,
      showsPayload,
      connectedBy: by.actor,
    });
    // Channels belong to their team: in another one these ids mean nothing.
    if (before?.teamId !== identity.teamId) {
      await groupChannels.forgetSlackChannels(tx, workspaceId);
    }
    await redrawAll(tx, workspaceId);
    const entry = { workspaceId, actor: by.actor, subject: identity.teamName };
    await activity.insert(tx, { ...entry, action: "slack.connected" });
    return (await slackConnections.find(tx, workspaceId)) ?? notConnected();
  });
}

export async function disconnectSlack(
  db: Database,
  workspaceId: string,
  by: Doer = operator,
): Promise<{ teamName: string } | ChangeRefusal> {
  if (by.workspaceId !== null && by.workspaceId !== workspaceId) return notConnected();
  return inTurnBy(db, workspaceId, by, async (tx, { doer }) => {
    const refusal = refuseOthers(doer);
    if (refusal !== null) return refusal;
    const connection = await slackConnections.find(tx, workspaceId);
    if (connection === null) return notConnected();
    await slackConnections.remove(tx, workspaceId);
    // Nothing remembers their team from now on, and the next connection may be to another one.
    await groupChannels.forgetSlackChannels(tx, workspaceId);
    await redrawAll(tx, workspaceId);
    const { teamName } = connection;
    const entry = { workspaceId, actor: by.actor, subject: teamName };
    await activity.insert(tx, { ...entry, action: "slack.disconnected" });
    return { teamName };
  });
}

/** Cards that can't be drawn any more fail, and the mails that waited for them leave. Cards of an earlier connection, too. */
async function redrawAll(tx: Transaction, workspaceId: string): Promise<void> {
  await channelNews.insertOfSlack(tx, workspaceId);
  await announceDue(tx);
}

/** The holder of the app's secrets can press buttons in anybody's name, so no admin may put in an app of their own. */
export function refuseOthers(doer: members.Member | null): ChangeRefusal | null {
  return refuseUnlessOwner(doer, "connect, change or disconnect Slack");
}

export function notConnected(): ChangeRefusal {
  return refuse("not_found", "Slack is not connected to this workspace");
}

/** Names the token that was mistaken for another, before Slack is asked. */
function flawOfForms(botToken: string, proof: SlackProofOfClicks): ChangeRefusal | null {
  if (!/^xoxb-[\w-]{10,500}$/.test(botToken)) {
    return refuseField(
      "botToken",
      "must be the Bot User OAuth Token, which begins with xoxb-; the app's page “OAuth & Permissions” shows it once the app is installed",
    );
  }
  if (proof.mode === "socket" && !/^xapp-[\w-]{10,500}$/.test(proof.appToken)) {
    return refuseField(
      "appToken",
      "must be an App-Level Token with the scope connections:write, which begins with xapp-; the app's page “Basic Information” makes one",
    );
  }
  if (proof.mode === "http" && !/^[0-9a-f]{32,64}$/.test(proof.signingSecret)) {
    return refuseField(
      "signingSecret",
      "must be the Signing Secret, 32 digits and letters from a to f; the app's page “Basic Information” shows it",
    );
  }
  return null;
}

type Identity = { teamId: string; teamName: string; appId: string; botUserId: string };

async function identify(
  callSlack: CallSlack,
  { botToken, proof, matchesEmail }: Pick<NewConnection, "botToken" | "proof" | "matchesEmail">,
): Promise<Identity | ChangeRefusal> {
  const token = botToken;
  const tested = await callSlack({ token, method: "auth.test" });
  if (!tested.ok) return refuseToken("botToken", "the bot token", tested);
  const flaw = flawOfInstall(tested, { matchesEmail });
  if (flaw !== null) return flaw;
  const { team_id: teamId, team: teamName, user_id: botUserId, bot_id: bot } = tested.body;
  const told = await callSlack({ token, method: "bots.info", body: { bot } });
  if (!told.ok) return refuseToken("botToken", "the bot token", told);
  const appId = told.body.bot?.app_id;
  const identity = { teamId, teamName, appId, botUserId };
  if (!Object.values(identity).every((each) => typeof each === "string" && each !== "")) {
    return refuseField("botToken", "Slack doesn't say to which team and app this token belongs");
  }
  const flawOfApp = proof.mode === "http" ? null : await flawOfAppToken(callSlack, proof, appId);
  return flawOfApp ?? identity;
}

function flawOfInstall(
  { body, scopes }: Extract<SlackAnswer, { ok: true }>,
  { matchesEmail }: { matchesEmail: boolean },
): ChangeRefusal | null {
  if (body.is_enterprise_install === true) {
    return refuseField(
      "botToken",
      "the app is installed for a whole organization; install it for one Slack workspace",
    );
  }
  const missing = neededScopes({ matchesEmail }).filter(
    (scope) => scopes?.includes(scope) === false,
  );
  if (missing.length === 0) return null;
  const failure = { ok: false, error: "missing_scope", retryAfterSeconds: null } as const;
  return refuseToken("botToken", "the bot token", { ...failure, needed: missing.join(", ") });
}

/** An app-level token names its app. */
async function flawOfAppToken(
  callSlack: CallSlack,
  { appToken }: { appToken: string },
  appId: string,
): Promise<ChangeRefusal | null> {
  const [, named] = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(appToken) ?? [];
  if (named !== undefined && named !== appId) {
    return refuseField("appToken", `belongs to the app ${named}, and the bot token to ${appId}`);
  }
  const opened = await callSlack({ token: appToken, method: "apps.connections.open" });
  return opened.ok ? null : refuseToken("appToken", "the app-level token", opened);
}

function refuseToken(
  field: string,
  what: string,
  failure: Extract<SlackAnswer, { ok: false }>,
): ChangeRefusal {
  return { ...refuse("validation_error", slackRefusal(what, failure)), field };
}
