import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, groupDraftOf } from "./group-draft.ts";

const before = {
  groupId: "grp_1",
  slackChannel: { id: "C1", name: "finance" },
  teamsHost: "prod.example",
  mailAfterMinutes: 10,
};
const draft = groupDraftOf(before);

test("an untouched form changes nothing, and keeps the webhook that nobody can see", () => {
  assert.deepEqual(changesOf(before, draft), {});
});

test("an emptied channel is taken away, and a webhook only by its own choice", () => {
  assert.deepEqual(changesOf(before, { ...draft, slackChannel: " " }), { slackChannel: null });
  assert.deepEqual(changesOf(before, { ...draft, isTeamsRemoved: true, teamsUrl: "https://a" }), {
    teamsUrl: null,
  });
});

test("what was typed is sent without spaces around it, and mail at once is null", () => {
  const typed = { ...draft, slackChannel: " C2 ", teamsUrl: " https://b ", mailAfterMinutes: null };
  assert.deepEqual(changesOf(before, typed), {
    slackChannel: "C2",
    teamsUrl: "https://b",
    mailAfterMinutes: null,
  });
});

test("minutes that are no number are sent for the service to refuse, and never kept as they were", () => {
  assert.deepEqual(changesOf(before, { ...draft, mailAfterMinutes: "soon" }), {
    mailAfterMinutes: 0,
  });
});
