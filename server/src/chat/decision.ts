// A decision in Slack: the button opens a modal with everything the page would show, its submission decides. What may
// have changed in between is looked up anew, and the one operation that decides has the last word.

import { issueReviewTicket } from "../domain/access/review-ticket.ts";
import { openStageOf, placeOf } from "../domain/approval/voting-record.ts";
import {
  modalFailure,
  needsPage,
  notAskedSaid,
  notInSlack,
  outcomeSentence,
  type SlackSaid,
  said,
  type Unidentified,
  unidentifiedSaid,
  unknownMessage,
} from "../domain/channels/slack-answers.ts";
import { theirs } from "../domain/channels/slack-blocks.ts";
import { modalJsonBytesMax } from "../domain/channels/slack-limits.ts";
import {
  decisionModal,
  fitsIntoModal,
  noteAction,
  noteBlock,
  type SlackView,
  saidModal,
} from "../domain/channels/slack-modal.ts";
import {
  isOldModal,
  issueModalTicket,
  type ModalTicket,
  readModalTicket,
} from "../domain/channels/slack-modal-ticket.ts";
import { obstacleOf, type Verdict, votedSaid } from "../domain/channels/slack-voting-words.ts";
import type { DecisionEvidence } from "../domain/proof/evidence.ts";
import { digestOfShown } from "../domain/proof/shown-digest.ts";
import { resolutionNoteCharactersMax } from "../domain/shown/field-limits.ts";
import { placeShown } from "../domain/shown/reviewer-place.ts";
import { flawOfText, isBlank } from "../domain/workspace/plain-text.ts";
import {
  findReviewLink,
  findReviewUpTo,
  noteReviewOpened,
  type Review,
  type ReviewLink,
  type ReviewRefusal,
} from "../operations/approvals/open-review.ts";
import { redrawMessage } from "../operations/channels/redraw-message.ts";
import type { ReviewAccess } from "../storage/approvals/reviews.ts";
import type { ClickedMessage } from "../storage/channels/clicked-messages.ts";
import * as clickedMessages from "../storage/channels/clicked-messages.ts";
import type { SlackConnection } from "../storage/channels/slack-connections.ts";
import { type ChatParts, callFor, inboxUrlOf, pageUrlOf } from "./chat-parts.ts";
import { connectionsOf, identify, type SlackProof } from "./identity.ts";
import type { Interaction, Press, Submission } from "./interaction.ts";

/** Somebody who may read a review in Slack, and where they came from. */
type Reading = {
  message: ClickedMessage;
  connection: SlackConnection;
  access: ReviewAccess & { kind: "person" };
  review: Review;
};

/** `isOver` when the request has ended: then it says how. */
type Unread = { refused: SlackSaid; connection: SlackConnection | null; isOver?: true };

export type Pressed = { said: SlackSaid | null; connection: SlackConnection | null };

/** Opens the modal; otherwise says why not. */
export async function openDecision(
  parts: ChatParts,
  press: Interaction & Press,
  { verdict, proof }: { verdict: Verdict; proof: SlackProof },
): Promise<Pressed> {
  const reading = await read(parts, press, { messageId: press.value, proof });
  if ("refused" in reading) return { said: reading.refused, connection: reading.connection };
  const { connection, review, message } = reading;
  const obstacle = obstacleTo(review, verdict);
  if (obstacle !== null) {
    return { said: said(obstacle, { ways: [wayToPage(parts, message)] }), connection };
  }
  const view = modalFor(parts, reading, { verdict, press });
  const body = { trigger_id: press.triggerId, view };
  const opened = await callFor(parts, connection, { method: "views.open", body });
  if (!opened.ok) {
    const ways = [wayToPage(parts, message)];
    return { said: said(modalFailure(opened.error), { ways }), connection };
  }
  await noteReviewOpened(parts.db, review);
  return { said: null, connection };
}

export type Submitted = { view: SlackView } | { errors: Record<string, string> };

/** Decides. The answer says what is recorded, so it comes after the commit. */
export async function submitDecision(
  parts: ChatParts,
  submission: Interaction & Submission,
  proof: SlackProof,
): Promise<Submitted> {
  const note = submission.typed(noteBlock, noteAction);
  const flaw = flawOfText(note, resolutionNoteCharactersMax);
  if (flaw !== null) return { errors: { [noteBlock]: `The note ${flaw}.` } };
  const { user, teamId, metadata } = submission;
  const owner = { teamId: teamId ?? "", slackUserId: user.id };
  const ticket = readModalTicket(parts.keyring, metadata, owner);
  if (ticket === null) return nothingRecorded(foreignModal);
  const reading = await read(parts, submission, { messageId: ticket.messageId, proof });
  if ("refused" in reading) {
    const { isOver, refused } = reading;
    return isOver ? alreadyDecided(refused.text) : nothingRecorded(refused.text);
  }
  const { review, access, message } = reading;
  if (access.reviewerId !== ticket.reviewerId) return nothingRecorded(foreignModal);
  const obstacle = obstacleTo(review, ticket.verdict);
  if (obstacle !== null) return votedView(review) ?? nothingRecorded(obstacle);
  const isOld = isOldModal(ticket, review.now);
  const isOther = ticket.digest !== digestOfShown(review) || isElsewhere(review, ticket);
  if (isOld || isOther || ticket.revision !== revisionOf(review)) {
    const notice = isOld ? oldModal : changedModal(review, ticket);
    return showAgain(parts, reading, { submission, ticket, notice, note });
  }
  const decision = {
    ...{ verdict: ticket.verdict, digest: ticket.digest, ticket: ticket.reviewTicket },
    // A modal that was opened before an update has none.
    place: ticket.place ?? null,
    ...{ note: isBlank(note) ? null : note, code: null, edit: null, signed: null },
  };
  const evidence = { ...slackEvidence, openedAt: ticket.issuedAt };
  const result = await parts.decideApproval(access, review, decision, evidence);
  if (!("refusal" in result)) return { view: recordedView(result.decided, ticket.verdict) };
  return tellRefusal(parts, message, result);
}

/** Everything that a click and a submission have in common: who it is, what it is about, and whether they may see it. */
async function read(
  parts: ChatParts,
  interaction: Interaction,
  { messageId, proof }: { messageId: string; proof: SlackProof },
): Promise<Reading | Unread> {
  const connections = await connectionsOf(parts, interaction, proof);
  if (typeof connections === "string") return unidentified(parts, connections, null);
  const workspaceIds = connections.map(({ workspaceId }) => workspaceId);
  const message = await clickedMessages.find(parts.db, { id: messageId, workspaceIds });
  const connection = connections.find(({ workspaceId }) => workspaceId === message?.workspaceId);
  if (message === null || connection === undefined) {
    const ways = [{ label: "Open inbox", url: inboxUrlOf(parts) }];
    return { refused: said(unknownMessage, { ways }), connection: connections[0] ?? null };
  }
  const person = await identify(parts, connection, interaction.user.id);
  if (typeof person === "string") return unidentified(parts, person, connection);
  const { workspaceId, approvalId } = message;
  const { email } = person;
  const where = { workspaceId, approvalId, email };
  const reviewerId = await clickedMessages.findReviewerId(parts.db, where);
  if (reviewerId === null) return { refused: notAskedSaid(email, person), connection };
  const access = { reviewerId, email, kind: "person", via: "slack" } as const;
  const review = await findReviewUpTo(parts.db, access, modalJsonBytesMax);
  const isLarge = review !== null && "bytes" in review;
  const link = isLarge ? await findReviewLink(parts.db, access) : review;
  if (review === null || link === null) {
    return { refused: notAskedSaid(email, person), connection };
  }
  const ways = [wayToPage(parts, message)];
  if (link.state.kind !== "PENDING") {
    await redrawMessage(parts, message);
    return { refused: said(outcomeSentence(link.state), { ways }), connection, isOver: true };
  }
  const isHeld = !connection.showsPayload || !message.isAllowed;
  if (isLarge || isHeld || !fitsIntoModal(review)) {
    return { refused: said(isHeld ? notInSlack : needsPage, { ways }), connection };
  }
  return { message, connection, access, review };
}

function unidentified(
  parts: ChatParts,
  why: Unidentified,
  connection: SlackConnection | null,
): Unread {
  return { refused: unidentifiedSaid(why, inboxUrlOf(parts)), connection };
}

/** Why this verdict can't be given just now, known before anybody is asked for it. */
function obstacleTo(review: Review, verdict: Verdict): string | null {
  if (review.isKeyOwner) return ownKey;
  // Slack has no passkeys, but a rejection needs none.
  if (review.needsSignature && verdict === "approve") return needsPasskey;
  return review.voting === null ? null : obstacleOf(review.voting, review.reviewer.email, verdict);
}

function modalFor(
  parts: ChatParts,
  { message, review, access }: Reading,
  {
    verdict,
    press,
    ...more
  }: { verdict: Verdict; press: Interaction; notice?: string; note?: string },
): SlackView {
  const { keyring } = parts;
  const { now } = review;
  const ticket: ModalTicket = {
    messageId: message.id,
    reviewerId: access.reviewerId,
    verdict,
    revision: revisionOf(review),
    digest: digestOfShown(review),
    reviewTicket: issueReviewTicket(keyring, access.reviewerId, now),
    place: placeIn(review),
  };
  const owner = { teamId: press.teamId ?? "", slackUserId: press.user.id };
  const metadata = issueModalTicket(keyring, ticket, { owner, now });
  return decisionModal(review, { verdict, metadata, ...more });
}

/** The same question about the text as it is now. What was typed stays. */
function showAgain(
  parts: ChatParts,
  reading: Reading,
  again: {
    submission: Interaction;
    ticket: ModalTicket;
    notice: string;
    note: string;
  },
): Submitted {
  const { submission: press, ticket, notice, note } = again;
  return { view: modalFor(parts, reading, { verdict: ticket.verdict, press, notice, note }) };
}

/** Somebody was faster, or the rules refuse it. */
async function tellRefusal(
  parts: ChatParts,
  message: ClickedMessage,
  refused: ReviewRefusal,
): Promise<Submitted> {
  if (!("link" in refused)) return nothingRecorded(refused.message);
  const { state } = refused.link;
  if (state.kind === "PENDING") return votedView(refused.link) ?? nothingRecorded(refused.message);
  await redrawMessage(parts, message);
  return alreadyDecided(outcomeSentence(state));
}

/** Slack may send one submission twice, so a vote that is recorded already is no failure. */
function votedView({ voting, reviewer }: ReviewLink): Submitted | null {
  const place = voting === null ? null : placeOf(voting, reviewer.email);
  if (voting === null || place?.kind !== "voted") return null;
  return { view: saidModal("Recorded already", [votedSaid(voting, place)]) };
}

function recordedView({ state, voting, reviewer }: ReviewLink, verdict: Verdict): SlackView {
  if (state.kind === "PENDING") {
    const place = voting === null ? null : placeOf(voting, reviewer.email);
    const told = voting !== null && place?.kind === "voted" ? votedSaid(voting, place) : recorded;
    return saidModal("Recorded", [told]);
  }
  return verdict === "approve"
    ? saidModal("Approved", ["You approved this request. The agent is told so."])
    : saidModal("Rejected", ["You rejected this request. The agent is told not to do it."]);
}

function alreadyDecided(text: string): Submitted {
  return { view: saidModal("Already decided", [text, nothingChanged]) };
}

function nothingRecorded(text: string): Submitted {
  return { view: saidModal("Nothing was recorded", [text]) };
}

/** The vote would count in another stage, or for somebody else, than the modal showed. */
function isElsewhere(review: Review, { place }: ModalTicket): boolean {
  return (place ?? null) !== null && place !== placeIn(review);
}

function placeIn({ voting, reviewer }: Review): string | null {
  if (voting === null) return null;
  return placeShown({ stage: openStageOf(voting), you: placeOf(voting, reviewer.email) });
}

function revisionOf({ voting }: Review): number {
  return voting?.revision ?? 1;
}

function wayToPage(parts: ChatParts, { approvalId }: ClickedMessage) {
  return { label: "Open request", url: pageUrlOf(parts, approvalId) };
}

/** Slack calls us, not the person's browser. */
const slackEvidence = {
  amr: ["slack"],
  address: null,
  userAgent: null,
  page: null,
  signed: null,
} as const satisfies Omit<DecisionEvidence, "openedAt">;

const ownKey =
  "The agent acts for you, or with your key, so you can’t decide about its request. Nothing was recorded.";
const needsPasskey =
  "This request can only be approved with a passkey, which Slack can’t ask for. Nothing was recorded. Open the request and sign there.";
const foreignModal =
  "This window was opened by another account, or was changed on the way. Nothing was recorded. Press the button in the message again.";
const oldModal =
  "You opened this more than an hour ago. Nothing was recorded. Read it once more, then decide again.";
const changedAround =
  "What this window showed has changed meanwhile. Nothing was recorded. Read it once more, then decide again.";
const nothingChanged = "What you sent just now changed nothing.";
const recorded = "Your decision is recorded.";

function changedModal(review: Review, shown: ModalTicket): string {
  if (shown.revision === revisionOf(review)) return changedAround;
  const { change } = review;
  const who = change === null ? "Somebody" : theirs(change.byEmail);
  return `${who} changed the payload meanwhile. Nothing was recorded. Read what it is now, then decide again.`;
}
