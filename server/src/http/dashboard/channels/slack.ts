// A workspace's connection to Slack on the dashboard: connect, change, try, disconnect. Tokens only ever go in.

import { z } from "zod";
import { whySlackCantCall } from "../../../domain/access/public-url.ts";
import { slackManifest } from "../../../domain/channels/slack-manifest.ts";
import { isRefusal, refuse } from "../../../domain/refusal.ts";
import { changeSlack } from "../../../operations/channels/change-slack.ts";
import { connectSlack, disconnectSlack } from "../../../operations/channels/connect-slack.ts";
import { findSlackChannel } from "../../../operations/channels/slack-channel.ts";
import { type TrialPlace, trySlack } from "../../../operations/channels/try-slack.ts";
import type { SlackConnection, SlackTrial } from "../../../wire/dashboard-channels.ts";
import type { Done } from "../../../wire/dashboard-contract.ts";
import { tellRefusal } from "../change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  type MemberVisit,
  readForm,
} from "../visit.ts";
import { toSlack } from "./channels.ts";

const settings = { matchesEmail: z.boolean(), showsPayload: z.boolean() };
const newConnection = z.discriminatedUnion("mode", [
  z.object({ ...settings, mode: z.literal("socket"), botToken: z.string(), appToken: z.string() }),
  z.object({
    ...settings,
    mode: z.literal("http"),
    botToken: z.string(),
    signingSecret: z.string(),
  }),
]);

export async function connect(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<SlackConnection | DashboardRefusal> {
  const form = readForm(visit.call, newConnection);
  if (isRefusal(form)) return form;
  const { botToken, matchesEmail, showsPayload } = form;
  const unreachable = form.mode === "http" ? whySlackCantCall(calls.origin.publicUrl) : null;
  if (unreachable !== null)
    return refuse("validation_error", `${unreachable}. Choose Socket Mode.`);
  const proof =
    form.mode === "socket"
      ? { mode: form.mode, appToken: form.appToken }
      : { mode: form.mode, signingSecret: form.signingSecret };
  const { workspaceId } = visit;
  const wanted = { workspaceId, botToken, proof, matchesEmail, showsPayload };
  const connected = await connectSlack(calls, wanted, doerOf(visit));
  return isRefusal(connected) ? tellRefusal(connected) : toSlack(connected);
}

export async function change(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<SlackConnection | DashboardRefusal> {
  const form = readForm(visit.call, z.object(settings));
  if (isRefusal(form)) return form;
  const { workspaceId } = visit;
  const changed = await changeSlack(calls, { workspaceId, ...form }, doerOf(visit));
  return isRefusal(changed) ? tellRefusal(changed) : toSlack(changed);
}

export async function disconnect(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Done | DashboardRefusal> {
  const disconnected = await disconnectSlack(db, visit.workspaceId, doerOf(visit));
  return isRefusal(disconnected) ? tellRefusal(disconnected) : { done: true };
}

const trial = z.object({ to: z.string().nullable() });

/** Asks Slack whether the token is good and, if told where, posts a message. */
export async function test(
  calls: DashboardCalls,
  visit: MemberVisit,
): Promise<SlackTrial | DashboardRefusal> {
  const form = readForm(visit.call, trial);
  if (isRefusal(form)) return form;
  const { workspaceId } = visit;
  const place = await placeOf(calls, workspaceId, form.to);
  if (isRefusal(place)) return { ...place, field: "to" };
  const tried = await trySlack(calls, { workspaceId, place: place.place });
  if (isRefusal(tried)) return tellRefusal(tried);
  return { teamName: tried.teamName, isPosted: tried.postedTo !== null };
}

async function placeOf(
  calls: DashboardCalls,
  workspaceId: string,
  to: string | null,
): Promise<{ place: TrialPlace } | DashboardRefusal> {
  if (to === null) return { place: null };
  if (to.includes("@")) return { place: { email: to } };
  const channel = await findSlackChannel(calls, { workspaceId, text: to });
  return isRefusal(channel) ? channel : { place: { channel: channel.id } };
}

/** To make the app from: for clicks by socket, or by calls to this service. */
export function manifest({ origin }: DashboardCalls, { call }: MemberVisit): { text: string } {
  const made = slackManifest({
    interactionsUrl:
      call.query.get("mode") === "http" ? `${origin.publicUrl}/slack/interactions` : null,
    matchesEmail: call.query.get("matchesEmail") === "true",
  });
  return { text: JSON.stringify(made, null, 2) };
}
