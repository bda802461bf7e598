// Slack under test: the fake one, a workspace that is connected to it, and the worker that sends there.

import assert from "node:assert/strict";
import type { Database } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { connectSlack, type SlackSettings } from "../src/operations/channels/connect-slack.ts";
import { callSlack } from "../src/outbound/slack-api.ts";
import { slackMessages } from "../src/worker/slack-messages.ts";
import type { FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackApp } from "./fake-slack/slack-state.ts";
import type { TestDatabase } from "./test-database.ts";
import { testKeyring } from "./test-service.ts";
import { startWorker, type TestWorker, testPublicUrl } from "./test-worker.ts";

/** Slack's pace would make each test wait for seconds. */
export const quickRules = { post: { everyMs: 1, burst: 1 }, update: { everyMs: 1, burst: 10 } };

export async function connectTo(
  slack: FakeSlack,
  { db, workspaceId }: { db: Database; workspaceId: string },
  app: SlackApp,
  settings: Partial<SlackSettings> = {},
) {
  const connection = await connectSlack(
    { db, keyring: testKeyring, callSlack: (call) => callSlack({ ...call, apiUrl: slack.apiUrl }) },
    {
      workspaceId,
      botToken: app.botToken,
      proof:
        app.interactionsUrl === null
          ? { mode: "socket", appToken: app.appToken }
          : { mode: "http", signingSecret: app.signingSecret },
      matchesEmail: false,
      showsPayload: true,
      ...settings,
    },
  );
  assert.ok(!isRefusal(connection), JSON.stringify(connection));
  return connection;
}

/** A worker that sends to the fake Slack and nowhere else. */
export function startSlackWorker(
  database: Pick<TestDatabase, "serviceConnection">,
  slack: FakeSlack,
  { db, rules = quickRules }: { db: Database; rules?: typeof quickRules },
): TestWorker {
  const origin = { publicUrl: testPublicUrl };
  const apiUrl = slack.apiUrl;
  const channel = slackMessages({ db, keyring: testKeyring, origin, apiUrl, rules });
  return startWorker(database, { messageChannels: [channel] });
}
