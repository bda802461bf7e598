// The one handler for what people do in Slack, whether it came by socket or by HTTP: no click is silent, and Slack has
// its acknowledgement within three seconds. A submission is acknowledged with its result, after the commit.

import { asHolder } from "../database/holder.ts";
import {
  linkCallback,
  ourFault,
  said,
  slackActions,
  stillWorking,
  unknownAction,
} from "../domain/channels/slack-answers.ts";
import { clickPatience } from "../domain/channels/slack-limits.ts";
import { decisionCallback, saidModal } from "../domain/channels/slack-modal.ts";
import { type ChatParts, callFor, inboxUrlOf } from "./chat-parts.ts";
import { openDecision, type Pressed, type Submitted, submitDecision } from "./decision.ts";
import { connectionsOf, type SlackProof } from "./identity.ts";
import { type Interaction, type Press, parseInteraction, type Submission } from "./interaction.ts";
import { LinkTries, openLinking, submitLinking } from "./linking.ts";
import { answerPrivately } from "./private-answer.ts";

/** The body of the acknowledgement; null for an empty one. */
export type SlackAcknowledgement = Record<string, unknown> | null;

export type Interactions = {
  handle: (payload: unknown, proof: SlackProof) => Promise<SlackAcknowledgement>;
  /** When all that was begun has ended. */
  ended: () => Promise<void>;
};

export function makeInteractions(given: ChatParts): Interactions {
  const parts = { ...given, tries: new LinkTries() };
  const { acknowledgeMs } = given.patience ?? clickPatience;
  const underWay = new Set<Promise<unknown>>();
  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    const done = work.catch(() => {}).finally(() => underWay.delete(done));
    underWay.add(done);
    return work;
  };
  const handle = async (payload: unknown, proof: SlackProof): Promise<SlackAcknowledgement> => {
    const interaction = parseInteraction(payload);
    if (interaction === null) return null;
    // Clicks of one workspace take no more of the database than its share.
    return asHolder(proof.workspaceIds[0] ?? null, () => carryOut(interaction, proof));
  };
  const carryOut = async (
    interaction: Interaction,
    proof: SlackProof,
  ): Promise<SlackAcknowledgement> => {
    if (interaction.kind === "press") {
      await soon(track(press(parts, interaction, proof)), acknowledgeMs, () => {});
      return null;
    }
    const submitting = track(submit(parts, interaction, proof));
    return soon(submitting, acknowledgeMs, () => {
      track(showLate(parts, interaction, { submitting, proof }));
      return acknowledgementOf({ view: saidModal("Being recorded", [stillWorking]) });
    });
  };
  return { handle, ended: async () => void (await Promise.all(underWay)) };
}

type Parts = ChatParts & { tries: LinkTries };

async function press(parts: Parts, pressed: Interaction & Press, proof: SlackProof): Promise<void> {
  let answer: Pressed;
  try {
    answer = await pressedOf(parts, pressed, proof);
  } catch (error) {
    parts.log.error({ err: error }, "a click in Slack met a fault of ours");
    answer = { said: said(ourFault), connection: null };
  }
  const { said: told, connection } = answer;
  if (told !== null) await answerPrivately(parts, pressed, told, connection);
}

async function pressedOf(
  parts: Parts,
  pressed: Interaction & Press,
  proof: SlackProof,
): Promise<Pressed> {
  const { actionId } = pressed;
  // A browser has opened the page already.
  if (actionId.startsWith(slackActions.review)) return { said: null, connection: null };
  switch (actionId) {
    case slackActions.approve:
      return openDecision(parts, pressed, { verdict: "approve", proof });
    case slackActions.reject:
      return openDecision(parts, pressed, { verdict: "reject", proof });
    case slackActions.link:
      return openLinking(parts, pressed, proof);
    default: {
      const ways = [{ label: "Open inbox", url: inboxUrlOf(parts) }];
      return { said: said(unknownAction, { ways }), connection: null };
    }
  }
}

async function submit(
  parts: Parts,
  submission: Interaction & Submission,
  proof: SlackProof,
): Promise<SlackAcknowledgement> {
  try {
    switch (submission.callbackId) {
      case decisionCallback:
        return acknowledgementOf(await submitDecision(parts, submission, proof));
      case linkCallback:
        return acknowledgementOf(await submitLinking(parts, submission, proof));
      default:
        return acknowledgementOf({ view: saidModal("Nothing was recorded", [unknownAction]) });
    }
  } catch (error) {
    parts.log.error({ err: error }, "a submission in Slack met a fault of ours");
    return acknowledgementOf({ view: saidModal("Not sure", [ourFault]) });
  }
}

/** Slack has been told that it takes longer. Now the modal shows the result. */
async function showLate(
  parts: Parts,
  submission: Interaction & Submission,
  { submitting, proof }: { submitting: Promise<SlackAcknowledgement>; proof: SlackProof },
): Promise<void> {
  const result = await submitting;
  try {
    const connections = await connectionsOf(parts, submission, proof);
    // Workspaces that share an app share its windows: any connection that works can show it.
    const connection =
      typeof connections === "string"
        ? undefined
        : connections.find(({ brokenAt }) => brokenAt === null);
    const view = result?.view ?? saidModal("Nothing was recorded", [errorTextOf(result)]);
    if (connection === undefined) return;
    const body = { view_id: submission.viewId, view };
    await callFor(parts, connection, { method: "views.update", body });
  } catch (error) {
    parts.log.warn({ err: error }, "a late answer could not be shown in Slack");
  }
}

function errorTextOf(result: SlackAcknowledgement): string {
  return Object.values(result?.errors ?? {}).join(" ");
}

function acknowledgementOf(submitted: Submitted): SlackAcknowledgement {
  return "view" in submitted
    ? { response_action: "update", view: submitted.view }
    : { response_action: "errors", errors: submitted.errors };
}

/** The work's result, or `late()` if it takes too long. The work goes on. */
async function soon<Result>(
  work: Promise<Result>,
  withinMs: number,
  late: () => Result,
): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result | typeof isLate>();
  const timer = setTimeout(() => resolve(isLate), withinMs);
  try {
    const first = await Promise.race([work, promise]);
    return first === isLate ? late() : (first as Result);
  } finally {
    clearTimeout(timer);
  }
}

const isLate = Symbol("late");
