// Changes how people are known in a workspace's Slack, and whether payloads leave. The tokens stay as they are.

import type { Database } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { CallSlack } from "../../domain/channels/slack-answer.ts";
import { neededScopes } from "../../domain/channels/slack-manifest.ts";
import { slackRefusal } from "../../domain/channels/slack-refusals.ts";
import { type ChangeRefusal, refuseField } from "../../domain/refusal.ts";
import { type Doer, operator } from "../../domain/workspace/activity.ts";
import * as slackConnections from "../../storage/channels/slack-connections.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTurnBy } from "../transaction-by.ts";
import { notConnected, refuseOthers, type SlackSettings } from "./connect-slack.ts";
import { openBotToken } from "./slack-tokens.ts";

type Parts = { db: Database; keyring: Keyring; callSlack: CallSlack };

export async function changeSlack(
  parts: Parts,
  { workspaceId, ...wanted }: SlackSettings & { workspaceId: string },
  by: Doer = operator,
): Promise<slackConnections.SlackConnection | ChangeRefusal> {
  const before = await slackConnections.find(parts.db, workspaceId);
  if (before === null) return notConnected();
  const flaw = wanted.matchesEmail && !before.matchesEmail ? await flawOf(parts, before) : null;
  if (flaw !== null) return flaw;
  return inTurnBy(parts.db, workspaceId, by, async (tx, { doer }) => {
    const refusal = refuseOthers(doer);
    if (refusal !== null) return refusal;
    const changed = await slackConnections.change(tx, workspaceId, wanted);
    if (changed === null) return notConnected();
    if (isSame(before, wanted)) return changed;
    await activity.insert(tx, {
      ...{ workspaceId, actor: by.actor, subject: changed.teamName, action: "slack.changed" },
      detail: {
        matchesEmail: onOff(changed.matchesEmail),
        showsPayload: onOff(changed.showsPayload),
      },
    });
    return changed;
  });
}

/** Addresses can be read only if the app may. */
async function flawOf(
  { keyring, callSlack }: Parts,
  connection: slackConnections.SlackConnection,
): Promise<ChangeRefusal | null> {
  const token = openBotToken(keyring, connection);
  if (token === null)
    return refuseField("matchesEmail", "the token can't be opened; connect again");
  const tested = await callSlack({ token, method: "auth.test" });
  if (!tested.ok) return refuseField("matchesEmail", slackRefusal("the bot token", tested));
  const missing = neededScopes({ matchesEmail: true }).filter(
    (scope) => tested.scopes?.includes(scope) === false,
  );
  if (missing.length === 0) return null;
  const failure = { ok: false, error: "missing_scope", retryAfterSeconds: null } as const;
  const needed = missing.join(", ");
  return refuseField("matchesEmail", slackRefusal("the bot token", { ...failure, needed }));
}

function isSame(before: SlackSettings, wanted: SlackSettings): boolean {
  return before.matchesEmail === wanted.matchesEmail && before.showsPayload === wanted.showsPayload;
}

function onOff(isOn: boolean): string {
  return isOn ? "on" : "off";
}
