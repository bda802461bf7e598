// Asks the search what readers ask, over the real pages: the page that answers must come first.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSearchEntries } from "../scripts/docs/site.ts";
import { type SearchEntry, search } from "../web/src/docs/search.ts";

const root = join(import.meta.dirname, "..");
const entries: SearchEntry[] = await readSearchEntries(root);

/** A question as somebody types it, and the page on which they should land; with #, the section. */
const questions: readonly [typed: string, page: string][] = [
  ["how do I start", "quickstart"],
  ["install the sdk", "sdk#install"],
  ["cancel a request", "api#cancel-request"],
  ["withdraw request", "api#cancel-request"],
  ["revoke api key", "concepts#workspaces-and-keys"],
  ["verify webhook signature", "webhooks#verify-before-you-believe"],
  ["signature verify", "receipts#verify"],
  ["rename endpoint", "dashboard#remove-and-delete"],
  ["hook signature python", "webhooks#by-hand-in-typescript-python-and-go"],
  ["webhok", "webhooks"],
  ["express raw body", "webhooks#the-raw-body-framework-by-framework"],
  ["webhook retries", "webhooks#answers-and-retries"],
  ["resend failed deliveries", "webhooks#when-something-went-wrong"],
  ["rotate webhook secret", "webhooks#rotating-a-webhook-secret"],
  ["2fa", "dashboard#signing-in"],
  ["audit evidence of a decision", "proof"],
  ["login with passkey", "dashboard#signing-in"],
  ["sso okta", "operating#signing-in-by-openid-connect"],
  ["429", "errors#rate_limited"],
  ["too many calls throttled", "errors#rate_limited"],
  ["quota exceeded", "errors#quota_exceeded"],
  ["402", "errors#quota_exceeded"],
  ["idempotency key", "http-api#retrying-safely-idempotency-key"],
  ["idempotncy", "concepts#asking-once-idempotency"],
  ["avoid duplicate requests", "concepts#asking-once-idempotency"],
  ["bigint rounding", "recipes#exact-numbers"],
  ["exact numbers", "recipes#exact-numbers"],
  ["edited payload validate", "recipes#validate-an-edited-payload"],
  ["resume in another process", "recipes#ask-now-go-on-in-another-process"],
  ["github actions deploy gate", "automation#github-actions"],
  ["wait_timeout", "errors#wait_timeout"],
  ["ttl", "recipes#three-kinds-of-time"],
  ["what do the states mean", "concepts#states"],
  ["approver group", "concepts#groups"],
  ["two people must approve", "votes"],
  ["four eyes principle", "votes#quorum-and-stages"],
  ["quorum", "votes#quorum-and-stages"],
  ["escalation", "votes#escalation-and-reminders"],
  ["delegate vacation", "dashboard#when-you-are-away"],
  ["hand over my vote to a colleague", "votes#handing-over-and-delegates"],
  ["quorum_unreachable", "errors#quorum_unreachable"],
  ["agentState", "concepts#agentstate"],
  ["nginx reverse proxy", "operating#behind-a-reverse-proxy"],
  ["backup", "operating#backup-and-restore"],
  ["upgrade version", "operating#upgrading"],
  ["smtp mail server", "operating#mail"],
  ["spf dkim", "operating#that-mails-arrive"],
  ["multiple nodes scaling", "operating#scaling"],
  ["prometheus metrics", "operating#prometheus"],
  ["lost secret key", "operating#when-a-secret-key-is-lost"],
  ["private address webhook ssrf", "operating#webhooks"],
  ["langgraph", "python#langgraph-and-langchain"],
  ["vercel ai sdk", "adapters#vercel-ai-sdk"],
  ["openai agents", "adapters#openai-agents-sdk"],
  ["mcp claude", "mcp"],
  ["mcp tools", "mcp"],
  ["claude code hook", "hook-claude-code"],
  ["codex hooks.json", "hook-codex"],
  ["gemini cli timeout", "hook-gemini-cli"],
  ["is this mail phishing", "approvers#is-the-mail-genuine"],
  ["who sees my decision", "approvers#who-sees-what-i-do"],
  ["roles permissions viewer", "dashboard#roles-who-may-do-what"],
  ["list requests curl", "api#list-requests"],
  ["connect slack", "slack#connect-slack"],
  ["slack socket mode", "slack#socket-mode-or-http"],
  ["being in a slack channel gives no right", "slack#who-is-who"],
  ["microsoft teams webhook", "teams"],
  ["push notifications phone", "inbox#on-your-phone"],
  ["quiet hours", "inbox#how-you-are-asked"],
  ["select several requests", "inbox#several-at-once"],
  ["outgoing hosts firewall", "operating#outgoing-connections"],
];

for (const [typed, page] of questions) {
  test(`"${typed}" leads to ${page}`, () => {
    const found = search(entries, typed).map(({ entry }) => entry.href);
    const [first = "nothing"] = found;
    const isThere = page.includes("#") ? first === page : first.split("#")[0] === page;
    assert.ok(
      isThere,
      `first is ${first}, then ${found.slice(1, 5).join(", ")}. If that answers it better, name it here.`,
    );
  });
}

test("at least forty questions are asked, and every page of the documentation is searched", () => {
  assert.ok(questions.length >= 40);
  const pages = new Set(entries.map(({ href }) => href.split("#")[0]));
  const { length } =
    readFileSync(join(root, "web/src/docs/contents.ts"), "utf8").match(/page\(|file: "/g) ?? [];
  assert.ok(pages.size >= length, `${pages.size} of ${length}`);
});
