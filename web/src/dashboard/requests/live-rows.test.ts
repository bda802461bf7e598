import assert from "node:assert/strict";
import { test } from "node:test";
import { countNew, mergeRows } from "./live-rows.ts";

const rows = (ids: string) => [...ids].map((id) => ({ id }));
const idsOf = (list: { id: string }[]) => list.map(({ id }) => id).join("");

test("rows that newer ones pushed out of the loaded pages stay", () => {
  assert.equal(idsOf(mergeRows(rows("fedc"), rows("hgfe"), false)), "hgfedc");
});

test("a row that left the list within the loaded pages goes", () => {
  assert.equal(idsOf(mergeRows(rows("fedc"), rows("fdcb"), false)), "fdcb");
});

test("at the end of the list the loaded pages are the whole truth", () => {
  assert.equal(idsOf(mergeRows(rows("fedc"), rows("hg"), true)), "hg");
  assert.equal(idsOf(mergeRows(rows("fedc"), [], true)), "");
});

test("no gap is shown when more came in than the loaded pages hold", () => {
  assert.equal(idsOf(mergeRows(rows("dcba"), rows("zyxw"), false)), "zyxw");
});

test("a row is shown once, in its newest form", () => {
  const merged = mergeRows(
    [
      { id: "b", status: "PENDING" },
      { id: "a", status: "PENDING" },
    ],
    [{ id: "b", status: "APPROVED" }],
    false,
  );
  assert.deepEqual(merged, [
    { id: "b", status: "APPROVED" },
    { id: "a", status: "PENDING" },
  ]);
});

test("new rows are counted from the newest that was seen", () => {
  assert.equal(countNew(rows("edcb"), "c"), 2);
  assert.equal(countNew(rows("edcb"), "e"), 0);
  assert.equal(countNew(rows("edcb"), null), 0);
  assert.equal(countNew(rows("edcb"), "gone"), 0);
});
