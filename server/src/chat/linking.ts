// Links a Slack account to a person: a button opens a modal, and a code from the inbox is typed there.

import { decideRate, type RateLimit } from "../domain/access/rate-limit.ts";
import {
  codeAction,
  codeBlock,
  linkModal,
  modalFailure,
  said,
  type Unidentified,
  unidentifiedSaid,
} from "../domain/channels/slack-answers.ts";
import { theirs, toMarkup } from "../domain/channels/slack-blocks.ts";
import { saidModal } from "../domain/channels/slack-modal.ts";
import { linkSlackAccount } from "../operations/channels/link-slack-account.ts";
import type { SlackConnection } from "../storage/channels/slack-connections.ts";
import { type ChatParts, callFor, inboxUrlOf } from "./chat-parts.ts";
import type { Pressed, Submitted } from "./decision.ts";
import { connectionsOf, examine, type SlackProof } from "./identity.ts";
import type { Interaction, Press, Submission } from "./interaction.ts";

export async function openLinking(
  parts: ChatParts,
  press: Interaction & Press,
  proof: SlackProof,
): Promise<Pressed> {
  const member = await memberOf(parts, press, proof);
  if (typeof member === "string") {
    return { said: unidentifiedSaid(member, inboxUrlOf(parts)), connection: null };
  }
  const body = { trigger_id: press.triggerId, view: linkModal() };
  const opened = await callFor(parts, member, { method: "views.open", body });
  return { said: opened.ok ? null : said(modalFailure(opened.error)), connection: member };
}

export async function submitLinking(
  parts: ChatParts & { tries: LinkTries },
  submission: Interaction & Submission,
  proof: SlackProof,
): Promise<Submitted> {
  const { teamId, appId, user } = submission;
  const member = await memberOf(parts, submission, proof);
  if (teamId === null || typeof member === "string") {
    const why = typeof member === "string" ? member : "whole_organization";
    return { view: saidModal("Not linked", [unidentifiedSaid(why, inboxUrlOf(parts)).text]) };
  }
  if (!parts.tries.take(`${teamId} ${user.id}`)) return wrong(tooManyTries);
  const code = submission.typed(codeBlock, codeAction);
  const linked = await linkSlackAccount(parts.db, { code, teamId, appId, slackUserId: user.id });
  if (linked === null) return wrong(unknownCode);
  const { email, formerUserId, formerEmail } = linked;
  if (formerUserId !== null) await tellOf(parts, member, formerUserId, otherAccount);
  // The submission may be forged by a holder of the app's secrets, so the account's owner hears of it in Slack.
  if (formerEmail !== null) {
    await tellOf(parts, member, user.id, takenOver({ from: formerEmail, by: email }));
  }
  return {
    view: saidModal("Linked", [
      `This Slack account is linked to ${theirs(email)}. Your clicks here count as yours now. Your inbox shows the link, and can end it.`,
      ...(formerEmail === null ? [] : [`It was linked to ${theirs(formerEmail)} before.`]),
      ...(formerUserId === null
        ? []
        : ["The Slack account that was linked to you before is no longer."]),
    ]),
  };
}

/** A full member of a connected Slack workspace, by one of its working connections. */
async function memberOf(
  parts: ChatParts,
  interaction: Interaction,
  proof: SlackProof,
): Promise<SlackConnection | Unidentified> {
  const connections = await connectionsOf(parts, interaction, proof);
  if (typeof connections === "string") return connections;
  const connection = connections.find(({ brokenAt }) => brokenAt === null);
  if (connection === undefined) return "disconnected";
  const profile = await examine(parts, connection, interaction.user.id);
  return typeof profile === "string" ? profile : connection;
}

/** By a message of their own, which doesn't need the window that was submitted. */
async function tellOf(
  parts: ChatParts,
  connection: SlackConnection,
  slackUserId: string,
  text: string,
): Promise<void> {
  const ways = [{ label: "Open settings", url: `${inboxUrlOf(parts)}/settings` }];
  const told = said(text, { ways });
  const body = { channel: slackUserId, text: toMarkup(told.text), blocks: told.blocks };
  await callFor(parts, connection, { method: "chat.postMessage", body });
}

const otherAccount =
  "Another Slack account of this workspace was linked to you, so clicks with this one no longer count as yours. If that wasn’t you, end the link in the settings of your inbox.";

function takenOver({ from, by }: { from: string; by: string }): string {
  return `This Slack account was linked to ${theirs(from)}, and is linked to ${theirs(by)} now: clicks with it count as theirs. If that wasn’t you, link it again, and tell the owner of the Countersign workspace.`;
}

const unknownCode =
  "This code is wrong, used up or older than ten minutes. Get a new one in your inbox.";
const tooManyTries =
  "Too many tries. Wait a quarter of an hour, then get a new code in your inbox.";

function wrong(text: string): Submitted {
  return { errors: { [codeBlock]: text } };
}

/** Tries of each Slack account: five at once, and one more every three minutes. */
const triesLimit: RateLimit = { perSecond: 1 / 180, burst: 5 };
const accountsMax = 10_000;

/** In this process's memory. An account that is forgotten starts over; a code has 39 bits and lives ten minutes. */
export class LinkTries {
  readonly #clock: () => number;
  readonly #fullAtMs = new Map<string, number>();

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  take(account: string): boolean {
    const { allowed, fullAtMs } = decideRate(
      triesLimit,
      this.#fullAtMs.get(account) ?? 0,
      this.#clock(),
    );
    this.#fullAtMs.delete(account);
    this.#fullAtMs.set(account, fullAtMs);
    const [oldest] = this.#fullAtMs.keys();
    if (this.#fullAtMs.size > accountsMax && oldest !== undefined) this.#fullAtMs.delete(oldest);
    return allowed;
  }
}
