// What Slack sends when somebody presses a button or submits a modal, read once into the little that we use of it.

export type Interaction = {
  appId: string;
  /** Null where the app is installed for a whole organization. */
  teamId: string | null;
  user: { id: string; teamId: string | null };
} & (Press | Submission);

export type Press = {
  kind: "press";
  actionId: string;
  value: string;
  triggerId: string;
  /** Where a private answer goes. */
  responseUrl: string | null;
  channelId: string | null;
};

export type Submission = {
  kind: "submission";
  callbackId: string;
  viewId: string;
  metadata: string;
  /** What was typed into a field; empty if nothing was. */
  typed: (blockId: string, actionId: string) => string;
};

/** Null when it is neither, or nobody did it: then there is nobody to answer. */
export function parseInteraction(payload: unknown): Interaction | null {
  const appId = textAt(payload, "api_app_id");
  const userId = textAt(payload, "user", "id");
  if (appId === null || userId === null) return null;
  const isOrganization = at(payload, "is_enterprise_install") === true;
  const who = {
    appId,
    teamId: isOrganization ? null : textAt(payload, "team", "id"),
    user: { id: userId, teamId: textAt(payload, "user", "team_id") },
  };
  switch (at(payload, "type")) {
    case "block_actions":
      return { ...who, ...toPress(payload) };
    case "view_submission":
      return { ...who, ...toSubmission(payload) };
    default:
      return null;
  }
}

function toPress(payload: unknown): Press {
  return {
    kind: "press",
    actionId: textAt(payload, "actions", 0, "action_id") ?? "",
    value: textAt(payload, "actions", 0, "value") ?? "",
    triggerId: textAt(payload, "trigger_id") ?? "",
    responseUrl: textAt(payload, "response_url"),
    channelId: textAt(payload, "container", "channel_id"),
  };
}

function toSubmission(payload: unknown): Submission {
  return {
    kind: "submission",
    callbackId: textAt(payload, "view", "callback_id") ?? "",
    viewId: textAt(payload, "view", "id") ?? "",
    metadata: textAt(payload, "view", "private_metadata") ?? "",
    typed: (blockId, actionId) =>
      textAt(payload, "view", "state", "values", blockId, actionId, "value") ?? "",
  };
}

function textAt(payload: unknown, ...path: (string | number)[]): string | null {
  const value = at(payload, ...path);
  return typeof value === "string" && value !== "" ? value : null;
}

function at(payload: unknown, ...path: (string | number)[]): unknown {
  let value = payload;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
