import assert from "node:assert/strict";
import { test } from "node:test";
import { type DraftStorage, emptyDraft, loadDraft, saveDraft } from "./draft.ts";

function makeStorage(): DraftStorage & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

test("typed text comes back after a reload, broken or not", () => {
  const storage = makeStorage();
  saveDraft(storage, "req_1", {
    text: '{"a":',
    note: "so far",
    fields: [{ path: ["x", 0], token: "1", typed: "12" }],
  });
  assert.deepEqual(loadDraft(storage, "req_1"), {
    text: '{"a":',
    note: "so far",
    fields: [{ path: ["x", 0], token: "1", typed: "12" }],
  });
});

test("one request's draft is not another's", () => {
  const storage = makeStorage();
  saveDraft(storage, "req_1", { text: "1", note: "", fields: [] });
  assert.deepEqual(loadDraft(storage, "req_2"), emptyDraft);
});

test("nothing is kept when nothing was typed", () => {
  const storage = makeStorage();
  saveDraft(storage, "req_1", { text: "1", note: "x", fields: [] });
  saveDraft(storage, "req_1", emptyDraft);
  assert.equal(storage.kept.size, 0);
});

test("a storage that is full, forbidden or filled by others does no harm", () => {
  const forbidden: DraftStorage = {
    getItem: () => {
      throw new Error("forbidden");
    },
    setItem: () => {
      throw new Error("full");
    },
    removeItem: () => {},
  };
  assert.deepEqual(loadDraft(forbidden, "req_1"), emptyDraft);
  assert.equal(saveDraft(forbidden, "req_1", { text: "1", note: "", fields: [] }), false);
  const filled = makeStorage();
  for (const odd of [
    "null",
    "7",
    "[]",
    '{"text":7,"note":{},"fields":[7,{"path":[{}],"token":"","typed":""}]}',
    "{",
  ]) {
    filled.kept.set("countersign draft req_1", odd);
    assert.deepEqual(loadDraft(filled, "req_1"), emptyDraft);
  }
});
