// Answers a click so that only its doer sees it: at the address that came with the click, or as an ephemeral message.

import type { SlackSaid } from "../domain/channels/slack-answers.ts";
import { toMarkup } from "../domain/channels/slack-blocks.ts";
import { privateAnswerTimeoutMs } from "../domain/channels/slack-limits.ts";
import { answerAtResponseUrl } from "../outbound/slack-api.ts";
import type { SlackConnection } from "../storage/channels/slack-connections.ts";
import { type ChatParts, callFor } from "./chat-parts.ts";
import type { Interaction, Press } from "./interaction.ts";

export async function answerPrivately(
  parts: ChatParts,
  press: Interaction & Press,
  said: SlackSaid,
  connection: SlackConnection | null,
): Promise<void> {
  const { responseUrl, channelId, user } = press;
  const content = { text: toMarkup(said.text), blocks: said.blocks };
  if (responseUrl !== null && isSlacks(responseUrl, parts.slackApiUrl)) {
    const message = { ...content, response_type: "ephemeral", replace_original: false };
    const answer = await answerAtResponseUrl(responseUrl, message, {
      timeoutMs: privateAnswerTimeoutMs,
    });
    if (answer.ok) return;
  }
  const told =
    connection === null || channelId === null
      ? null
      : await callFor(parts, connection, {
          method: "chat.postEphemeral",
          body: { channel: channelId, user: user.id, ...content },
        });
  if (told?.ok !== true) {
    const { workspaceId = null } = connection ?? {};
    parts.log.warn({ workspaceId, reason: told?.error ?? null }, "a click in Slack got no answer");
  }
}

/** The payload is proven to be Slack's, but no address in it leads us anywhere else. */
function isSlacks(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { origin } = new URL(url);
  return origin === "https://hooks.slack.com" || origin === new URL(apiUrl).origin;
}
