import assert from "node:assert/strict";
import { test } from "node:test";
import { notificationTitle } from "./notification.ts";

test("a notification says how many requests wait", () => {
  assert.equal(notificationTitle({ waiting: 1 }), "1 request is waiting");
  assert.equal(notificationTitle({ waiting: 3 }), "3 requests are waiting");
  assert.equal(notificationTitle({ waiting: 100 }), "100 or more requests are waiting");
});

test("no other message puts words on the screen", () => {
  const others = [null, "Approve now", {}, { waiting: "Approve now" }, { waiting: 0 }, [1]];
  for (const other of [...others, { waiting: -1 }, { waiting: 1.5 }, { waiting: Number.NaN }]) {
    assert.equal(notificationTitle(other), "Requests are waiting");
  }
});
