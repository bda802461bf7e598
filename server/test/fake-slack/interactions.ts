// What Slack sends when somebody presses a button or submits a modal, and how it is signed.

import { createHmac } from "node:crypto";
import type {
  Json,
  SlackApp,
  SlackMessage,
  SlackState,
  SlackUser,
  SlackView,
} from "./slack-state.ts";
import { messageToJson, viewToJson } from "./web-api.ts";

export function signatureOf(
  signingSecret: string,
  timestamp: string | number,
  body: string,
): string {
  const digest = createHmac("sha256", signingSecret)
    .update(`v0:${timestamp}:${body}`)
    .digest("hex");
  return `v0=${digest}`;
}

type Press = {
  app: SlackApp;
  user: SlackUser;
  message: SlackMessage;
  actionId: string;
  responseUrl: string;
  triggerId: string;
};

/** Throws when there is no such button: nobody can press it. */
export function pressPayload(state: SlackState, press: Press): Json {
  const { app, user, message, actionId, responseUrl, triggerId } = press;
  const { block, element } = findButton(message.blocks, actionId);
  const channel = state.channels.get(message.channel);
  return {
    type: "block_actions",
    ...whoOf(app, user),
    container: {
      type: "message",
      message_ts: message.ts,
      channel_id: message.channel,
      is_ephemeral: message.onlyFor !== null,
    },
    trigger_id: triggerId,
    channel: {
      id: message.channel,
      name: channel?.kind === "im" ? "directmessage" : channel?.name,
    },
    ...(message.onlyFor === null ? { message: messageToJson(message, state) } : {}),
    state: { values: {} },
    response_url: responseUrl,
    actions: [actionOf(block, element)],
  };
}

/** For a button inside of a modal, which has no response URL. */
export function pressInViewPayload({
  app,
  user,
  view,
  actionId,
  triggerId,
}: Omit<Press, "message" | "responseUrl"> & { view: SlackView }): Json {
  const { block, element } = findButton(view.view.blocks, actionId);
  return {
    type: "block_actions",
    ...whoOf(app, user),
    container: { type: "view", view_id: view.id },
    trigger_id: triggerId,
    view: viewToJson(view, app.teamId),
    actions: [actionOf(block, element)],
  };
}

export function submissionPayload({
  app,
  user,
  view,
  values,
  triggerId,
}: {
  app: SlackApp;
  user: SlackUser;
  view: SlackView;
  values: Json;
  triggerId: string;
}): Json {
  return {
    type: "view_submission",
    ...whoOf(app, user),
    trigger_id: triggerId,
    view: viewToJson(view, app.teamId, values),
    response_urls: [],
  };
}

/** What a person typed, by the id of the block or of the field. Throws where Slack's client wouldn't let them. */
export function typedValues(view: Json, typed: Record<string, string>): Json {
  const inputs = view.blocks.filter((block: Json) => block.type === "input");
  const known = inputs.flatMap((block: Json) => [block.block_id, block.element.action_id]);
  const unknown = Object.keys(typed).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`the modal has no field ${unknown.join(", ")}`);
  return Object.fromEntries(
    inputs.map((block: Json) => {
      const { action_id, type, min_length = 0, max_length = 3_000, initial_value } = block.element;
      const value = typed[block.block_id] ?? typed[action_id] ?? initial_value ?? null;
      if (value === null && block.optional !== true)
        throw new Error(`${action_id} must be filled in`);
      if (value !== null && (value.length < min_length || value.length > max_length))
        throw new Error(`${action_id} takes ${min_length} to ${max_length} characters`);
      return [block.block_id, { [action_id]: { type, value: value === "" ? null : value } }];
    }),
  );
}

function whoOf(app: SlackApp, user: SlackUser): Json {
  return {
    user: { id: user.id, username: user.name, name: user.name, team_id: user.teamId },
    api_app_id: app.id,
    token: "deprecated-verification-token",
    team: { id: app.teamId, domain: "fake" },
    enterprise: null,
    is_enterprise_install: false,
  };
}

function findButton(blocks: Json[], actionId: string): { block: Json; element: Json } {
  for (const block of blocks) {
    const elements = [...(block.elements ?? []), block.accessory, block.element];
    const element = elements.find((each) => each?.type === "button" && each.action_id === actionId);
    if (element !== undefined) return { block, element };
  }
  throw new Error(`there is no button ${actionId}`);
}

function actionOf(block: Json, { type, action_id, text, value, style }: Json): Json {
  return {
    action_id,
    block_id: block.block_id,
    text,
    ...(value === undefined ? {} : { value }),
    ...(style === undefined ? {} : { style }),
    type,
    action_ts: String(Date.now() / 1_000),
  };
}
