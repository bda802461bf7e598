import assert from "node:assert/strict";
import { test } from "node:test";
import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import { absenceOf, changesOf, draftOf, isFlaw, newDraft } from "./absence-draft.ts";

const draft = { firstDay: "2026-12-21", lastDay: "2026-12-24", delegateEmail: "bob@example.com" };

function saved(hasBegun: boolean): Absence {
  const absence = absenceOf(draft);
  assert.ok(!isFlaw(absence));
  return { id: "abs_1", workspaceId: "ws_1", email: "ann@example.com", hasBegun, ...absence };
}

test("an absence lasts to the end of its last day, and comes back as the same days", () => {
  const absence = saved(false);
  assert.equal(Date.parse(absence.endsAt) - Date.parse(absence.startsAt), 4 * 86_400_000);
  assert.deepEqual(draftOf(absence), draft);
});

test("an absence of one day is one, and a field that is empty or before the first is named", () => {
  assert.ok(!isFlaw(absenceOf({ ...draft, lastDay: draft.firstDay })));
  for (const [wrong, field] of [
    [{ firstDay: "" }, "startsAt"],
    [{ lastDay: "" }, "endsAt"],
    [{ lastDay: "2026-12-20" }, "endsAt"],
    [{ delegateEmail: "" }, "delegateEmail"],
  ] as const) {
    const flaw = absenceOf({ ...draft, ...wrong });
    assert.ok(isFlaw(flaw));
    assert.equal(flaw.field, field);
  }
  const { firstDay, lastDay } = newDraft(new Date(2026, 10, 18, 12));
  assert.deepEqual([firstDay, lastDay], ["2026-11-18", ""]);
});

test("only what differs is sent, and of an absence that has begun the end alone", () => {
  const wanted = absenceOf({
    firstDay: "2026-12-22",
    lastDay: "2026-12-31",
    delegateEmail: "cy@x",
  });
  assert.ok(!isFlaw(wanted));
  assert.deepEqual(changesOf(saved(false), wanted), wanted);
  assert.deepEqual(changesOf(saved(true), wanted), { endsAt: wanted.endsAt });
  assert.deepEqual(changesOf(saved(false), saved(false)), {});
});
