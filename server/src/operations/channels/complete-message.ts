// Records what became of a message, only for the worker that still holds it. Where one is given up, or fails again before it
// ever arrived, the mails that waited for it become due in the same transaction.

import {
  type Database,
  inOneStatement,
  inTransaction,
  type Transaction,
} from "../../database/database.ts";
import * as channelMessages from "../../storage/channels/channel-messages.ts";
import { hurryMailsOf } from "./hurry-mails.ts";

export type MessageOutcome =
  | { kind: "sent"; slack?: { channel: string; ts: string }; digest?: Buffer }
  /** It says already what it should. */
  | { kind: "unchanged" }
  /** Nobody needs it any more. */
  | { kind: "needless" }
  /** It may work later. Too many of these in a row, and it is given up. */
  | { kind: "retry"; afterSeconds: number; failure: string }
  /** It was not its turn yet, which is nobody's failure: too many at once, or a key that isn't here yet. */
  | { kind: "wait"; afterSeconds: number }
  | { kind: "failed"; failure: string };

/** What is recorded: a retry that was one too many is a failure by now. */
export type MessageStep =
  | Exclude<MessageOutcome, { kind: "retry" | "wait" }>
  | { kind: "due"; delayMs: number; failure: string | null };

export type CompletedMessage = channelMessages.MessageEnd & { hurried: number };

export async function completeMessage(
  db: Database,
  message: channelMessages.ClaimedMessage,
  step: MessageStep,
): Promise<CompletedMessage> {
  if (step.kind === "failed") {
    const { failure } = step;
    return andHurry(db, message, (tx) => channelMessages.noteFailed(tx, message, failure));
  }
  // It may be tried for an hour, and its request be over by then. Being asked twice is better than not being asked.
  if (step.kind === "due" && step.failure !== null && isLate(message)) {
    return andHurry(db, message, (tx) => channelMessages.postpone(tx, message, step));
  }
  return { ...(await recordIn(db, message, step)), hurried: 0 };
}

function recordIn(
  db: Database,
  message: channelMessages.ClaimedMessage,
  step: Exclude<MessageStep, { kind: "failed" }>,
): Promise<channelMessages.MessageEnd> {
  const tx = inOneStatement(db);
  switch (step.kind) {
    case "sent": {
      const { slack = null, digest = null } = step;
      return channelMessages.noteSent(tx, message, { slack, digest });
    }
    case "unchanged":
    case "needless":
      return channelMessages.noteNotSent(tx, message);
    case "due":
      return channelMessages.postpone(tx, message, step);
    default:
      return step satisfies never;
  }
}

/** It never arrived, and not for want of a second try. */
function isLate({ wasSent, attempts }: channelMessages.ClaimedMessage): boolean {
  return !wasSent && attempts > 1;
}

async function andHurry(
  db: Database,
  message: channelMessages.ClaimedMessage,
  record: (tx: Transaction) => Promise<channelMessages.MessageEnd>,
): Promise<CompletedMessage> {
  return inTransaction(db, async (tx) => {
    const end = await record(tx);
    const hurried = end.wasHeld ? await hurryMailsOf(tx, message) : 0;
    return { ...end, hurried };
  });
}
