// Clicks that Slack sends over HTTP. Only a signature of an app that is connected this way lets one in; everybody else
// learns nothing.

import { type Database, withoutWaiting } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { isSignedBy, isTimely } from "../../domain/access/slack-signature.ts";
import { textOf } from "../../domain/approval/json-body.ts";
import { openSigningSecret } from "../../operations/channels/slack-tokens.ts";
import * as slackConnections from "../../storage/channels/slack-connections.ts";
import type { Answer, Call } from "../frame/call.ts";
import { unprovenSlack } from "../frame/problems.ts";

export type SlackCalls = {
  db: Database;
  keyring: Keyring;
  /** What is done with a click. The workspaces are those whose secret has signed it. */
  onSlackInteraction: (
    payload: unknown,
    proof: { workspaceIds: readonly string[] },
  ) => Promise<Record<string, unknown> | null>;
  /** Milliseconds since 1970, to compare with Slack's. */
  wallClock: () => number;
};

export async function interact(calls: SlackCalls, call: Call): Promise<Answer> {
  const { db, keyring, onSlackInteraction, wallClock } = calls;
  const timestamp = call.header("x-slack-request-timestamp");
  const signature = call.header("x-slack-signature");
  if (typeof timestamp !== "string" || typeof signature !== "string") return unprovenSlack();
  if (!isTimely(timestamp, wallClock())) return unprovenSlack();
  const signed = { timestamp, signature, body: call.body };
  // What the body says is believed only once a secret of that very app has signed it.
  const payload = payloadOf(call.body);
  const appId = appIdOf(payload);
  if (appId === null) return unprovenSlack();
  // Slack waits for three seconds, so a short outage isn't waited for.
  const connections = await slackConnections.listOverHttp(withoutWaiting(db), appId);
  // Workspaces that share an app share its secret. However many they are, a stranger's call costs one try of each.
  const isProof = new Map<string, boolean>();
  const proving = connections.filter((connection) => {
    const secret = openSigningSecret(keyring, connection);
    if (secret === null) return false;
    const isSigned = isProof.get(secret) ?? isSignedBy(secret, signed);
    isProof.set(secret, isSigned);
    return isSigned;
  });
  if (proving.length === 0) return unprovenSlack();
  const workspaceIds = proving.map(({ workspaceId }) => workspaceId);
  const body = await onSlackInteraction(payload, { workspaceIds });
  return { status: 200, body: body === null ? "" : JSON.stringify(body) };
}

function appIdOf(payload: unknown): string | null {
  if (typeof payload !== "object" || payload === null || !("api_app_id" in payload)) return null;
  const { api_app_id: appId } = payload;
  return typeof appId === "string" && appIdPattern.test(appId) ? appId : null;
}

/** Looked for before anything is proven, so nothing stranger than an id of Slack's reaches the database. */
const appIdPattern = /^\w{1,64}$/;

function payloadOf(body: Uint8Array): unknown {
  const text = new URLSearchParams(textOf(body) ?? "").get("payload");
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
