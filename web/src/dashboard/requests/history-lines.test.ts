import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryEntry } from "../../../../server/src/wire/dashboard-history.ts";
import { linesOf, markOf } from "./history-lines.ts";

const at = "2026-01-01T00:00:00.000Z";
const mailed = (email: string): HistoryEntry => ({
  kind: "mailed",
  at,
  email,
  deliveryId: "dlv_1",
});

test("three or more of a kind in a row are one line, and fewer stay apart", () => {
  const history: HistoryEntry[] = [
    { kind: "created", at },
    mailed("a@x.example"),
    mailed("b@x.example"),
    mailed("c@x.example"),
    { kind: "opened", at, email: "a@x.example" },
    { kind: "opened", at, email: "b@x.example" },
    mailed("d@x.example"),
  ];
  assert.deepEqual(
    linesOf(history).map((line) => (line.kind === "entry" ? line.entry.kind : line.entries.length)),
    ["created", 3, "opened", "opened", "mailed"],
  );
});

test("votes are never folded, however many follow each other", () => {
  const voted = (email: string): HistoryEntry => ({
    ...{ kind: "voted", at, email, for: null, verdict: "approve", stage: 1 },
    ...{ revision: 1, via: "link", note: null, outdatedBy: null },
  });
  const history = [voted("a@x.example"), voted("b@x.example"), voted("c@x.example")];
  assert.deepEqual(
    linesOf(history).map(({ kind }) => kind),
    ["entry", "entry", "entry"],
  );
});

test("only an approval has the mark of one", () => {
  const marks = (["approved", "stuck", "unreachable"] as const).map((kind) =>
    markOf({ kind, at } as HistoryEntry),
  );
  assert.deepEqual(marks, ["approved", "failed", "failed"]);
});
