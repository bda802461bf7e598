import assert from "node:assert/strict";
import { test } from "node:test";
import { readChannels } from "./new-channels.ts";

test("channels are kept in the order in which they were named", () => {
  for (const channels of [["mail"], ["slack", "mail"], ["mail", "push", "slack_link", "teams"]]) {
    assert.deepEqual(readChannels(channels, "channels"), channels);
  }
  assert.equal(readChannels(null, "channels"), null);
});

const flaws: [unknown, string, RegExp][] = [
  ["mail", "channels", /^must be an array of mail, push, slack, slack_link, teams, not a string$/],
  [{}, "channels", /^must be an array of .*, not an object$/],
  [[], "channels", /^must have mail in it/],
  [["slack", "push"], "channels", /^must have mail in it/],
  [["mail", "sms"], "channels[1]", /^is an unknown channel; known are mail, push, slack/],
  [["mail", "Slack"], "channels[1]", /^is an unknown channel/],
  [["mail", "mail"], "channels[1]", /^names mail a second time$/],
  [["mail", null], "channels[1]", /^is null; known are/],
  [["mail", ["slack"]], "channels[1]", /^is an array; known are/],
  [["slack", "mail", "slack_link"], "channels", /^must not have both slack and slack_link/],
];

for (const [value, place, flaw] of flaws) {
  test(`the channels ${JSON.stringify(value)} are refused with what is wrong`, () => {
    const read = readChannels(value, "channels");
    assert.ok(read !== null && "flaw" in read);
    assert.equal(read.place, place);
    assert.match(read.flaw, flaw);
  });
}
