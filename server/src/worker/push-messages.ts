// Tells people on their devices how many requests wait for them. A message goes to each of a person's browsers; those that
// take none any more are forgotten. If none takes it, mail takes over.

import { createECDH, randomBytes } from "node:crypto";
import { type Database, inOneStatement } from "../database/database.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { encryptPush, pushCurve, pushSaltBytes } from "../domain/channels/push-encryption.ts";
import { pushesInFlightMax, pushPaddedBytes } from "../domain/channels/push-limits.ts";
import { keptSeconds, pushText, pushTurn } from "../domain/channels/push-step.ts";
import { type PushSender, vapidAuthorization } from "../domain/channels/vapid.ts";
import type { MessageOutcome } from "../operations/channels/complete-message.ts";
import { openPushIdentity } from "../operations/channels/push-identity.ts";
import type { PushMessage, PushOutcome } from "../outbound/send-push.ts";
import type { ClaimedMessage } from "../storage/channels/channel-messages.ts";
import * as pushSubscriptions from "../storage/channels/push-subscriptions.ts";
import { countWaiting, type WaitingCount } from "../storage/channels/waiting-count.ts";
import type { MessageChannel } from "./message-channel.ts";

export type PushOptions = {
  db: Database;
  keyring: Keyring;
  send: (message: PushMessage) => Promise<PushOutcome>;
  /** Where the operator of a push service can ask. Read at each message: an address may be known only once we listen. */
  subject: () => string;
};

const topic = "waiting";
/** Another message to the same person is under way. */
const busySeconds = 1;
const keySeconds = 5;

export function pushChannel(options: PushOptions): MessageChannel {
  const underWay = new Set<string>();
  return {
    channel: "push",
    inFlightMax: pushesInFlightMax,
    send: async (message) => {
      const { target } = message;
      if (underWay.has(target)) return { kind: "wait", afterSeconds: busySeconds };
      underWay.add(target);
      try {
        return await tell(options, message);
      } finally {
        underWay.delete(target);
      }
    },
  };
}

async function tell(options: PushOptions, message: ClaimedMessage): Promise<MessageOutcome> {
  const { db, keyring } = options;
  const waiting = await countWaiting(db, message.target, message);
  if (!waiting.isWaiting) return { kind: "needless" };
  const { subscriptions, toldAt } = await pushSubscriptions.findAudience(db, message.target);
  if (subscriptions.length === 0) return nobodyLeft;
  const { createdAt, wanted } = message;
  const turn = pushTurn({ toldAt, now: waiting.now, createdAt, isAgain: wanted > 1 });
  if (turn === "counted") return { kind: "sent" };
  if (turn !== null) return { kind: "wait", ...turn };
  const sender = await openPushIdentity(db, keyring);
  if (sender === null) return keyMissing;
  const answers = await Promise.all(
    subscriptions.map(async (subscription) => ({
      subscription,
      outcome: await sendTo(options, { subscription, sender, waiting }),
    })),
  );
  await record(db, answers, waiting.now);
  return outcomeOf(answers.map(({ outcome }) => outcome));
}

type Sending = {
  subscription: pushSubscriptions.PushSubscription;
  sender: PushSender;
  waiting: WaitingCount;
};

/** One that can't be encrypted for will never get a message. */
async function sendTo(
  { send, subject }: PushOptions,
  { subscription, sender, waiting }: Sending,
): Promise<PushOutcome> {
  const { endpoint, keys } = subscription;
  const { count, lastEndsAt, now } = waiting;
  const body = encryptPush({
    plaintext: Buffer.from(pushText(count)),
    keys,
    senderPrivateKey: freshPrivateKey(),
    salt: randomBytes(pushSaltBytes),
    paddedBytes: pushPaddedBytes,
  });
  if (body === null) return { kind: "gone" };
  return send({
    endpoint,
    body,
    authorization: vapidAuthorization({ sender, endpoint, subject: subject(), now }),
    keptSeconds: keptSeconds(lastEndsAt ?? now, now),
    // Somebody's work stands still until they look.
    urgency: "high",
    topic,
  });
}

function freshPrivateKey(): Buffer {
  const pair = createECDH(pushCurve);
  pair.generateKeys();
  return pair.getPrivateKey();
}

type PushAnswer = { subscription: pushSubscriptions.PushSubscription; outcome: PushOutcome };

async function record(db: Database, answers: readonly PushAnswer[], countedAt: Date) {
  const those = (kind: PushOutcome["kind"]) =>
    answers.filter(({ outcome }) => outcome.kind === kind).map((each) => each.subscription);
  const told = those("accepted").map(({ id }) => id);
  const gone = those("gone");
  if (told.length + gone.length === 0) return;
  await pushSubscriptions.noteAnswers(inOneStatement(db), { told, gone, countedAt });
}

/** One browser is enough. Otherwise the one that may still take it decides. */
function outcomeOf(outcomes: readonly PushOutcome[]): MessageOutcome {
  if (outcomes.some(({ kind }) => kind === "accepted")) return { kind: "sent" };
  for (const outcome of outcomes) {
    switch (outcome.kind) {
      case "too_many":
      case "unreachable":
        return {
          kind: "retry",
          afterSeconds: outcome.retryAfterSeconds ?? 0,
          failure: failures[outcome.kind],
        };
      case "timeout":
        return { kind: "retry", afterSeconds: 0, failure: failures.timeout };
      default:
    }
  }
  const isRefused = outcomes.some(({ kind }) => kind === "refused");
  return isRefused ? { kind: "failed", failure: failures.refused } : nobodyLeft;
}

const failures = {
  too_many: "the push service takes no more messages for now",
  unreachable: "the push service can’t be reached",
  timeout: "the push service doesn’t answer",
  refused: "the push service refuses the message",
};

const nobodyLeft: MessageOutcome = {
  kind: "failed",
  failure: "no browser takes push messages any more",
};

const keyMissing: MessageOutcome = {
  kind: "retry",
  afterSeconds: keySeconds,
  failure: "the key of push messages is not in SECRET_KEY",
};
