// Who clicked, as far as Slack can prove it. Slack is asked anew each time: people leave, become guests and change their
// addresses. Being in a channel proves nothing.

import type { SlackBody } from "../domain/channels/slack-answer.ts";
import { meaningOfSlackError } from "../domain/channels/slack-answer.ts";
import type { Unidentified } from "../domain/channels/slack-answers.ts";
import { flawOfEmailAddress } from "../domain/workspace/email-address.ts";
import * as slackAccounts from "../storage/channels/slack-accounts.ts";
import type { SlackConnection } from "../storage/channels/slack-connections.ts";
import * as slackConnections from "../storage/channels/slack-connections.ts";
import { type ChatParts, callFor } from "./chat-parts.ts";
import type { Interaction } from "./interaction.ts";

/** The workspaces whose own secret proved that Slack sent this. */
export type SlackProof = { workspaceIds: readonly string[] };

/** A person, by the one address that is proven. */
export type Identified = { email: string; isLinked: boolean };

/** The connections that this click may be about: of its app and team, and proven by their own secret. */
export async function connectionsOf(
  { db }: ChatParts,
  { appId, teamId, user }: Pick<Interaction, "appId" | "teamId" | "user">,
  { workspaceIds }: SlackProof,
): Promise<SlackConnection[] | Unidentified> {
  if (teamId === null) return "whole_organization";
  const found = await slackConnections.listOfApp(db, { teamId, appId });
  const proven = found.filter(({ workspaceId }) => workspaceIds.includes(workspaceId));
  if (proven.length === 0) return "other_team";
  return user.teamId !== null && user.teamId !== teamId ? "stranger" : proven;
}

export async function identify(
  parts: ChatParts,
  connection: SlackConnection,
  slackUserId: string,
): Promise<Identified | Unidentified> {
  const profile = await examine(parts, connection, slackUserId);
  if (typeof profile === "string") return profile;
  const { teamId, appId } = connection;
  const account = await slackAccounts.find(parts.db, { teamId, appId, slackUserId });
  if (account?.source === "linked") return { email: account.email, isLinked: true };
  if (!connection.matchesEmail || profile.email === null) return "unlinked";
  if (!profile.isConfirmed) return "unconfirmed";
  const other = await slackAccounts.findByEmail(parts.db, { teamId, appId, email: profile.email });
  const isTaken = other?.source === "linked" && other.slackUserId !== slackUserId;
  return isTaken ? "linked_elsewhere" : { email: profile.email, isLinked: false };
}

type Profile = { email: string | null; isConfirmed: boolean };

/** A full and active member of the connected Slack workspace, as Slack says at this moment. */
export async function examine(
  parts: ChatParts,
  connection: SlackConnection,
  slackUserId: string,
): Promise<Profile | Unidentified> {
  const answer = await callFor(parts, connection, {
    method: "users.info",
    body: { user: slackUserId },
  });
  if (!answer.ok) return whyUnknown(answer.error);
  const user: SlackBody = answer.body.user ?? {};
  if (user.id !== slackUserId) return "slack_fails";
  if (user.is_stranger === true) return "stranger";
  if (user.team_id !== connection.teamId) return "other_team";
  if (user.deleted === true) return "inactive";
  if (user.is_bot === true || user.is_workflow_bot === true) return "bot";
  if (user.is_restricted === true || user.is_ultra_restricted === true) return "guest";
  return { email: addressOf(user.profile?.email), isConfirmed: user.is_email_confirmed === true };
}

function whyUnknown(error: string): Unidentified {
  if (error === "not_connected" || meaningOfSlackError(error) === "broken") return "disconnected";
  return error === "user_not_found" || error === "user_not_visible" ? "stranger" : "slack_fails";
}

function addressOf(value: unknown): string | null {
  if (typeof value !== "string" || flawOfEmailAddress(value) !== null) return null;
  return value.toLowerCase();
}
