// Holds the numbers that the pages name to the numbers that the service and the SDK use.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { awaitSecondsMax, listRowsMax } from "../mcp/src/tool-schemas.ts";
import * as keys from "../server/src/domain/access/key-limits.ts";
import {
  backlogLanesMax,
  backlogPendingMax,
} from "../server/src/domain/delivery/backlog-limits.ts";
import * as limits from "../server/src/domain/limits.ts";
import * as fields from "../server/src/domain/shown/field-limits.ts";
import { openValuesAtFirst, textCharactersAtFirst } from "../web/src/payload/folding.ts";

const count = (number: number) => number.toLocaleString("en-US");
const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
const kibibytes = (bytes: number) => `${bytes / 1024} KiB`;
const shareNames: Record<number, string> = { 0.1: "a tenth" };
const words = [
  "none",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
];
const reminderMinutes = (limits.reminderMinutesMin * 100) / limits.defaultReminderPercent;

/** By page: sentences, or parts of them, that must stand there word for word. */
const claims: Record<string, string[]> = {
  "docs/api.md": [
    `at most ${fields.summaryCharactersMax} characters`,
    `at most ${fields.emailCharactersMax} characters`,
    `at most ${fields.agentNameCharactersMax} characters`,
    `at most ${count(fields.agentStateBytesMax)} bytes`,
    `at most ${count(fields.reasoningCharactersMax)} characters`,
    `at most ${fields.recentActionsMax} strings of at most ${fields.recentActionCharactersMax} characters`,
    `whole number, ${fields.ttlMinutesMin} to ${fields.ttlMinutesMax}`,
    `At first that is ${fields.defaultExpiryMinutes}`,
    `A body has at most ${mebibytes(limits.bodyBytesMax)}`,
    `nesting beyond ${fields.jsonDepthMax} levels`,
    `1 to ${fields.idempotencyKeyCharactersMax} printable ASCII characters`,
    `?wait=<0..${limits.waitSecondsMax}>`,
    `limit=<1..${limits.listLimitMax}, default ${limits.listLimitDefault}>`,
  ],
  "docs/approvers.md": [
    `more than ${words[limits.reviewMailBurstMax]} times within a few minutes`,
    `shows the outcome for ${limits.reviewOutcomeDays} days`,
  ],
  "docs/concepts.md": [
    `(${fields.ttlMinutesMin} to ${fields.ttlMinutesMax})`,
    `when ${shareNames[limits.defaultReminderPercent / 100]} of the time is left`,
    `a request that lasts ${reminderMinutes} minutes or less gets none`,
    `Up to ${fields.agentStateBytesMax / 1024} KB of JSON`,
    `more than ${words[limits.reviewMailBurstMax]} times within a few minutes`,
  ],
  "docs/dashboard.md": [
    `good for ${words[limits.signInCodeMinutes]} minutes and ${words[limits.signInCodeTriesMax]} tries`,
    `${limits.signInCodesPerHourMax} codes an hour and ${limits.signInCodesPerDayMax} a day`,
    `Up to ${limits.passkeysPerPersonMax} a person`,
    `after ${limits.sessionDaysMax} days, or after ${limits.sessionIdleDaysMax} without use`,
    `${limits.sessionCallsPerMinuteMax} calls a minute, ${limits.sessionCallsBurstMax} of them at once`,
    `${keys.keysPerWorkspaceMax} keys in use, ${limits.groupsPerWorkspaceMax} groups, ${limits.endpointsPerWorkspaceMax} enabled endpoints and ${limits.membersPerWorkspaceMax} members`,
    `the newest ${keys.revokedKeysListed} revoked keys`,
    `addresses of up to ${fields.approverDomainsMax} domains`,
    `${words[fields.delegateStepsMax]} steps at most`,
    `Counts above ${count(limits.pendingCountMax)}`,
  ],
  "docs/errors.md": [
    `more than ${count(fields.agentStateBytesMax)} bytes`,
    `nested deeper than ${fields.jsonDepthMax} levels`,
    `more than ${mebibytes(limits.bodyBytesMax)}`,
  ],
  "docs/mcp.md": [
    `(1 to ${awaitSecondsMax}, ${awaitSecondsMax} unless told)`,
    `(1 to ${listRowsMax}, 20 unless told)`,
    `has at most ${mebibytes(limits.mcpMessageBytesMax)}`,
    `answers at most ${mebibytes(limits.mcpAnswerBytesMax)}`,
  ],
  "docs/operating.md": [
    `requests that wait for a decision, counted up to ${count(backlogPendingMax)}`,
    `among the first ${count(backlogLanesMax)} endpoints, and the first ${count(backlogLanesMax)} workspaces`,
    `holds ${count(limits.waitersMax)} of them, and ${count(limits.waitersPerWorkspaceMax)} of one workspace`,
    `its lease of ${limits.leaseSeconds} seconds`,
    `After ${limits.crashesInRowMax} crashes in a row`,
    `and ${limits.mailNoticesPerDayMax} times a day in all`,
    `${words[limits.reviewMailBurstMax]} mails that ask for a decision leave at once; after that one every ${words[limits.reviewMailIntervalSeconds / 60]} minutes`,
    `${shareNames[limits.heldTimeShareMax]} of the time its request has left`,
    `lists up to ${limits.digestRequestsMax} requests`,
    `if that is more than ${limits.reminderMinutesMin} minutes`,
    `requests that last longer than ${reminderMinutes} minutes`,
    "Ten wrong codes lock the link",
    `Time out after more than ${limits.waitSecondsMax} seconds`,
    `Let bodies of ${mebibytes(limits.bodyBytesMax)} pass`,
    `One workspace uses half of a node's connections at most`,
  ],
  "docs/reviewing.md": [
    `a note of up to ${count(fields.resolutionNoteCharactersMax)} characters`,
    `for ${limits.reviewOutcomeDays} days`,
    `some ${openValuesAtFirst} values, and long texts after ${count(textCharactersAtFirst)} characters`,
  ],
  "docs/webhooks.md": [
    `have ${limits.webhookTimeoutMs / 1_000} seconds`,
    `${words[limits.webhookAttemptsMax]} attempts in all, at once, after about 30 seconds and after about 5 minutes (±${limits.retryJitter * 100} %)`,
    "honoured up to an hour",
    `disabled after ${limits.endpointFailingDaysMax} days`,
    `At most ${limits.webhooksPerEndpointMax} calls are under way to one endpoint, ${limits.webhooksPerFailingEndpointMax} while it fails, and up to ${limits.webhooksPerQuickEndpointMax} while it answers within ${limits.quickAnswerMs} milliseconds`,
    `At most ${kibibytes(limits.webhookResponseBytesMax)} of the answer`,
    `A workspace may have ${limits.endpointsPerWorkspaceMax} enabled endpoints`,
    `signs beside it for ${limits.webhookSecretOverlapHours} hours`,
    `${limits.crashesInRowMax} crashes in a row`,
  ],
  "SECURITY.md": [
    `A body above ${kibibytes(limits.smallBodyBytesMax)} is read only`,
    `at most ${limits.callsPerConnectionMax} calls under way`,
    `A review link takes ${limits.reviewLinkCallsPerMinuteMax} calls a minute, and a network ${count(limits.reviewNetworkCallsPerMinuteMax)}`,
    `of an answer ${kibibytes(limits.webhookResponseBytesMax)}`,
    `nesting beyond ${fields.jsonDepthMax} levels`,
  ],
};

test("numbers in words are those of the code", () => {
  assert.equal(limits.reviewCodeTriesMax, 10);
  assert.equal(limits.retryAfterSecondsMax, 3_600);
  assert.equal(limits.connectionsPerHolderShare, 0.5);
});

test("the SDK's page names the runtimes under which the SDK is tested, and no other", () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8");
  const { devDependencies, optionalDependencies } = JSON.parse(read("sdk/runtimes/package.json"));
  const nodes = Object.keys(optionalDependencies).map((name) => /^node(\d+)-/.exec(name)?.[1]);
  const older = [...new Set(nodes)].join(", ");
  assert.deepEqual(Object.keys(devDependencies), ["bun", "deno"]);
  assert.ok(read("sdk/README.md").includes(`Tested on Node ${older} and 24, Bun and Deno.`));
  for (const page of ["sdk/README.md", "docs/webhooks.md", "web/src/docs/contents.ts"]) {
    assert.ok(!/\bWorkers\b/.test(read(page)), page);
  }
});

for (const [page, told] of Object.entries(claims)) {
  test(`${page} names the limits that the service has`, () => {
    const text = readFileSync(join(import.meta.dirname, "..", page), "utf8");
    const missing = told.filter((claim) => !text.includes(claim));
    assert.deepEqual(missing, [], `${page} must say so, or the limit has changed`);
  });
}
