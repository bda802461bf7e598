// Notes that Slack no longer takes a connection's token, so that nothing more is sent by it and the dashboard says why.
// Cards that have arrived lead nowhere from then on. They are news in the same transaction: the worker fails them, and the
// mails that waited for them leave.

import { type Database, inTransaction } from "../../database/database.ts";
import { meaningOfSlackError } from "../../domain/channels/slack-answer.ts";
import * as channelNews from "../../storage/channels/channel-news.ts";
import type { SlackConnection } from "../../storage/channels/slack-connections.ts";
import * as slackConnections from "../../storage/channels/slack-connections.ts";
import { announceDue } from "../../storage/deliveries/new-deliveries.ts";

/** Other errors say nothing about the connection. */
export async function noteSlackBroken(
  db: Database,
  { workspaceId, connectedAt }: Pick<SlackConnection, "workspaceId" | "connectedAt">,
  error: string,
): Promise<void> {
  if (meaningOfSlackError(error) !== "broken") return;
  const broken = { workspaceId, connectedAt, reason: error };
  await inTransaction(db, async (tx) => {
    if (!(await slackConnections.markBroken(tx, broken))) return;
    await channelNews.insertOfSlack(tx, workspaceId);
    await announceDue(tx);
  });
}
