// Tells groups in Teams: a card when they are asked, and a second one at the end. Votes in between change neither. Teams
// keeps nothing that we could change later, so a worker that dies right after it has posted leads to the same card twice.

import { createHash } from "node:crypto";
import type { Database } from "../database/database.ts";
import { findSecretKey, type Keyring } from "../domain/access/keyring.ts";
import { unseal } from "../domain/access/sealed-secret.ts";
import { type TeamsOutcome, teamsMessageOf } from "../domain/channels/teams-card.ts";
import { awaitedKeyDelayMs } from "../domain/limits.ts";
import type { MessageOutcome } from "../operations/channels/complete-message.ts";
import { teamsRecordOf } from "../operations/channels/group-channels.ts";
import type { TeamsOutcome as Posted, TeamsSender } from "../outbound/send-teams.ts";
import type { ClaimedMessage } from "../storage/channels/channel-messages.ts";
import * as teamsRequests from "../storage/channels/teams-requests.ts";
import type { MessageChannel } from "./message-channel.ts";

export type TeamsOptions = {
  db: Database;
  keyring: Keyring;
  origin: { readonly publicUrl: string };
  sender: Pick<TeamsSender, "send">;
};

const teamsInFlightMax = 8;

export function teamsChannel(options: TeamsOptions): MessageChannel {
  return {
    channel: "teams",
    inFlightMax: teamsInFlightMax,
    send: (message) => tell(options, message),
  };
}

async function tell(options: TeamsOptions, message: ClaimedMessage): Promise<MessageOutcome> {
  const { db, origin, sender } = options;
  const groupId = message.groupId ?? message.target;
  const request = await teamsRequests.find(db, message, groupId);
  if (request === null) return { kind: "needless" };
  const card = cardOf(request, message.wasSent);
  if (card === null) return { kind: "needless" };
  const digest = createHash("sha256").update(card).digest();
  if (message.digest?.equals(digest)) return { kind: "unchanged" };
  if (request.webhook === null) return { kind: "failed", failure: "not_connected" };
  const place = { workspaceId: message.workspaceId, groupId };
  const url = openUrl(options.keyring, place, request.webhook);
  if (typeof url !== "string") return url;
  const drawn = teamsMessageOf({ ...request, outcome: outcomeOf(request) }, origin.publicUrl);
  return toOutcome(await sender.send(url, drawn), digest);
}

/** Which of the cards it is just now; null when none is to be posted. */
function cardOf(request: teamsRequests.ToldRequest, wasSent: boolean): string | null {
  if (request.status !== "PENDING") return wasSent ? "ended" : null;
  return request.askedInStage === null ? null : `asked in stage ${request.askedInStage}`;
}

function outcomeOf(request: teamsRequests.ToldRequest): TeamsOutcome | null {
  const { status, resolvedByEmail, isEdited } = request;
  switch (status) {
    case "PENDING":
      return null;
    case "APPROVED":
    case "REJECTED":
      return { status, byEmail: resolvedByEmail ?? "", isEdited };
    case "EXPIRED":
    case "CANCELLED":
      return { status };
    default:
      return status satisfies never;
  }
}

function openUrl(
  keyring: Keyring,
  place: { workspaceId: string; groupId: string },
  { secretKeyId, sealed }: { secretKeyId: string; sealed: Buffer },
): string | MessageOutcome {
  const key = findSecretKey(keyring, secretKeyId);
  // During a rotation another node may have it already.
  if (key === null)
    return { kind: "retry", afterSeconds: awaitedKeyDelayMs / 1_000, failure: unreadable };
  try {
    return unseal(key, teamsRecordOf(place), sealed);
  } catch {
    return { kind: "failed", failure: unreadable };
  }
}

const unreadable = "secret_unreadable";

function toOutcome(posted: Posted, digest: Buffer): MessageOutcome {
  switch (posted.kind) {
    case "accepted":
      return { kind: "sent", digest };
    case "later": {
      const { failure, retryAfterSeconds } = posted;
      return { kind: "retry", afterSeconds: retryAfterSeconds ?? 0, failure };
    }
    case "refused":
      return { kind: "failed", failure: posted.failure };
    default:
      return posted satisfies never;
  }
}
