import assert from "node:assert/strict";
import { test } from "node:test";
import type { InboxSettings } from "../../../../server/src/wire/inbox-contract.ts";
import { changeOf, draftOf, isFlaw } from "./settings-draft.ts";

const saved: InboxSettings = {
  email: "ann@example.com",
  mailAfterMinutes: null,
  usesSlack: true,
  quiet: null,
  push: { publicKey: "", browsers: [] },
  slack: [],
  canLinkSlack: false,
};

test("settings come back from their form as they were", () => {
  const quiet = { from: "22:00", until: "07:30", timeZone: "Europe/Berlin" };
  for (const settings of [saved, { ...saved, mailAfterMinutes: 15, usesSlack: false, quiet }]) {
    const { mailAfterMinutes, usesSlack } = settings;
    const expected = { mailAfterMinutes, usesSlack, quiet: settings.quiet };
    assert.deepEqual(changeOf(draftOf(settings, "Asia/Kolkata")), expected);
  }
});

test("quiet hours that aren't set yet begin with the browser's own zone", () => {
  const change = changeOf({ ...draftOf(saved, "Asia/Kolkata"), isQuiet: true });
  assert.ok(!isFlaw(change));
  assert.equal(change.quiet?.timeZone, "Asia/Kolkata");
});

test("a field that can't be sent is named, and only if it is used", () => {
  const draft = draftOf(saved, "UTC");
  for (const minutes of ["", "0", "1441", "1.5", "-3", "ten"]) {
    const flaw = changeOf({ ...draft, isMailLater: true, minutes });
    assert.ok(isFlaw(flaw), minutes);
    assert.ok(!isFlaw(changeOf({ ...draft, minutes })));
  }
  assert.ok(isFlaw(changeOf({ ...draft, isQuiet: true, from: "08:00", until: "08:00" })));
  assert.ok(isFlaw(changeOf({ ...draft, isQuiet: true, from: "" })));
});
