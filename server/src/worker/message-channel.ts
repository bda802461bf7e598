// A channel beside mail, as the worker needs it: messages.ts claims, retries, gives up, records and logs by it.

import type { MessageChannelName } from "../domain/channels/wanted-messages.ts";
import type { MessageOutcome } from "../operations/channels/complete-message.ts";
import type { ClaimedMessage } from "../storage/channels/channel-messages.ts";

export type MessageChannel = {
  channel: MessageChannelName;
  inFlightMax: number;
  /**
   * Draws from the current state and sends. Never throws for an expected no, and is over within `messageTimeoutMs`: a
   * lease outlives it by as much again.
   */
  send: (message: ClaimedMessage) => Promise<MessageOutcome>;
};
