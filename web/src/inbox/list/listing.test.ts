import assert from "node:assert/strict";
import { test } from "node:test";
import type { InboxRow } from "../../../../server/src/wire/inbox-contract.ts";
import {
  countWaiting,
  emptyListing,
  isUntold,
  type Listing,
  letIn,
  mergeList,
  visitAnew,
  withOutcomes,
} from "./listing.ts";

function row(id: string, minute: number): InboxRow {
  return {
    id,
    requestId: `req_${id}`,
    workspaceName: "Acme",
    summary: id,
    agentName: null,
    agent: "a",
    createdAt: "2026-11-18T10:00:00.000Z",
    expiresAt: `2026-11-18T11:${String(minute).padStart(2, "0")}:00.000Z`,
    groupName: null,
    for: null,
    progress: null,
  };
}

const list = (...waiting: InboxRow[]) => ({ waiting, isMore: false });
const ids = ({ rows }: Listing) => rows.map(({ row: { id } }) => id);
const first = mergeList(emptyListing, list(row("a", 10), row("c", 30)), false);

test("a row that arrives finds its place by its deadline", () => {
  const later = mergeList(first, list(row("a", 10), row("b", 20), row("c", 30)), false);
  assert.deepEqual(ids(later), ["a", "b", "c"]);
  assert.deepEqual(
    later.rows.map(({ isNew }) => isNew),
    [false, true, false],
  );
});

test("while somebody points at the list, new rows wait, and no row moves", () => {
  const later = mergeList(first, list(row("b", 5), row("a", 10), row("c", 30)), true);
  assert.deepEqual(ids(later), ["a", "c"]);
  assert.deepEqual(
    later.held.map(({ id }) => id),
    ["b"],
  );
  assert.equal(countWaiting(later), 3);
  assert.deepEqual(ids(letIn(later)), ["b", "a", "c"]);
});

test("one that waits to be let in and is decided meanwhile never comes in", () => {
  const held = mergeList(first, list(row("b", 5), row("a", 10), row("c", 30)), true);
  assert.deepEqual(mergeList(held, list(row("a", 10), row("c", 30)), true).held, []);
});

test("an empty list has nothing that could move", () => {
  assert.deepEqual(ids(mergeList(emptyListing, list(row("a", 10)), true)), ["a"]);
});

test("a row that was decided elsewhere stays in its place, marked, until the next visit", () => {
  const later = mergeList(first, list(row("c", 30)), true);
  assert.deepEqual(ids(later), ["a", "c"]);
  assert.equal(countWaiting(later), 1);
  assert.ok(isUntold(later));
  const told = withOutcomes(later, [
    {
      ...row("a", 10),
      outcome: { status: "APPROVED", at: "", byEmail: "bob@example.com", isYours: false },
    },
  ]);
  assert.equal(told.rows[0]?.end?.outcome?.byEmail, "bob@example.com");
  assert.ok(!isUntold(told));
  // Further news changes nothing of it.
  const again = mergeList(told, list(row("c", 30)), true);
  assert.equal(again.rows[0]?.end?.outcome?.status, "APPROVED");
  assert.deepEqual(ids(visitAnew(again)), ["c"]);
});

test("a deadline that was moved changes the row in its place", () => {
  const later = mergeList(first, list(row("c", 30), row("a", 50)), false);
  assert.deepEqual(ids(later), ["a", "c"]);
  assert.equal(later.rows[0]?.row.expiresAt, row("a", 50).expiresAt);
});

test("rows beyond the longest list count as waiting", () => {
  const later = mergeList(first, { waiting: [row("a", 10)], isMore: true }, false);
  assert.equal(later.rows[1]?.end, null);
});

test("one that waits for the reader again is a row like any other", () => {
  const ended = mergeList(first, list(row("c", 30)), false);
  assert.equal(mergeList(ended, list(row("a", 10), row("c", 30)), false).rows[0]?.end, null);
});
