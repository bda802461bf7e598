// The parts that a click in Slack works with.

import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import type { SlackAnswer, SlackArguments } from "../domain/channels/slack-answer.ts";
import { clickPatience } from "../domain/channels/slack-limits.ts";
import type { DecideApproval } from "../operations/approvals/decide-approval.ts";
import { noteSlackBroken } from "../operations/channels/note-slack-broken.ts";
import { openBotToken } from "../operations/channels/slack-tokens.ts";
import { callSlack } from "../outbound/slack-api.ts";
import type { SlackConnection } from "../storage/channels/slack-connections.ts";

export type ChatParts = {
  db: Database;
  keyring: Keyring;
  /** The start of links to the inbox. */
  origin: { readonly publicUrl: string };
  /** Where Slack's web API is called; ends with a slash. */
  slackApiUrl: string;
  decideApproval: DecideApproval;
  /** Call it when a message is to be drawn again. */
  onDue: () => void;
  /** How long a call of Slack may take, and when a click is acknowledged at the latest. */
  patience?: typeof clickPatience | undefined;
  log: Logger;
};

/** Calls Slack for a workspace. A token that Slack no longer takes is noted, so that the dashboard says so. */
export async function callFor(
  parts: ChatParts,
  connection: SlackConnection,
  call: { method: string; body: SlackArguments },
): Promise<SlackAnswer> {
  const token = connection.brokenAt === null ? openBotToken(parts.keyring, connection) : null;
  if (token === null) return { ok: false, error: "not_connected", retryAfterSeconds: null };
  const { slackApiUrl: apiUrl, db, patience = clickPatience } = parts;
  const answer = await callSlack({ ...call, token, apiUrl, timeoutMs: patience.callMs });
  if (!answer.ok) await noteSlackBroken(db, connection, answer.error);
  return answer;
}

export function inboxUrlOf({ origin }: ChatParts): string {
  return `${origin.publicUrl}/inbox`;
}

/** The request's page. The address carries no right. */
export function pageUrlOf(parts: ChatParts, approvalId: string): string {
  return `${inboxUrlOf(parts)}/requests/${approvalId}`;
}
