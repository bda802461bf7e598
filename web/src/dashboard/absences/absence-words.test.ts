import assert from "node:assert/strict";
import { test } from "node:test";
import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import { whyNobody } from "./absence-words.ts";

const absence: Absence = {
  id: "abs_1",
  workspaceId: "ws_1",
  email: "ann@example.com",
  delegateEmail: "bob@example.com",
  startsAt: "2026-12-01T00:00:00.000Z",
  endsAt: "2026-12-02T00:00:00.000Z",
  hasBegun: false,
};

test("a delegate who left, or who may not be asked, is named with the reason", () => {
  assert.equal(whyNobody(absence), null);
  assert.equal(whyNobody({ ...absence, isDelegateGone: true }), " has left");
  assert.match(whyNobody({ ...absence, isDelegateNotAllowed: true }) ?? "", /outside the domains/);
});
