import assert from "node:assert/strict";
import { test } from "node:test";
import type { InboxRow } from "../../../../server/src/wire/inbox-contract.ts";
import type { OpenReview } from "../../review/service/open-review.ts";
import type { ListedRow } from "../list/listing.ts";
import { obstacleTo, severalMax, stillSelected } from "./selection.ts";

function listed(id: string, agent = "payer"): ListedRow {
  const row = { id, agent } as InboxRow;
  return { row, end: null, isNew: false };
}

function readOf(...ids: string[]) {
  return new Map(ids.map((id) => [id, { review: { id } as OpenReview, warnings: 0 }]));
}

test("only what was read to its end can be selected", () => {
  const read = readOf("a");
  assert.equal(obstacleTo(listed("a"), { read, selected: [] }), null);
  assert.equal(obstacleTo(listed("b"), { read, selected: [] }), "unread");
});

test("what needs a signature is decided on its own", () => {
  const signing = { needed: true } as OpenReview["signing"];
  const read = new Map([["a", { review: { id: "a", signing } as OpenReview, warnings: 0 }]]);
  assert.equal(obstacleTo(listed("a"), { read, selected: [] }), "needs_signature");
});

test("the first one selected decides whose requests can join it", () => {
  const read = readOf("a", "b", "c");
  const selected = [listed("a").row];
  assert.equal(obstacleTo(listed("b"), { read, selected }), null);
  assert.equal(obstacleTo(listed("c", "other"), { read, selected }), "other_agent");
  // It can be taken back.
  assert.equal(obstacleTo(listed("a"), { read, selected }), null);
});

test("no more than twenty are selected", () => {
  const all = Array.from({ length: severalMax + 1 }, (_, at) => listed(`r${at}`));
  const read = readOf(...all.map(({ row }) => row.id));
  const selected = all.slice(0, severalMax).map(({ row }) => row);
  assert.equal(obstacleTo(all[severalMax] as ListedRow, { read, selected }), "too_many");
  assert.equal(obstacleTo(all[0] as ListedRow, { read, selected }), null);
});

test("what ended, or was typed into, leaves the selection, and what arrives never joins it", () => {
  const ended = { ...listed("b"), end: { outcome: undefined } };
  const rows = [listed("a"), ended, listed("c"), listed("new")];
  assert.equal(obstacleTo(ended, { read: readOf("b"), selected: [] }), "ended");
  const left = stillSelected(new Set(["a", "b", "c"]), rows, readOf("a", "b", "new"));
  assert.deepEqual(
    left.map(({ id }) => id),
    ["a"],
  );
});
