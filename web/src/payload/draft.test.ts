import assert from "node:assert/strict";
import { test } from "node:test";
import { type DraftStorage, draftFor, emptyDraft, loadDraft, saveDraft } from "./draft.ts";

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
  const draft = {
    text: '{"a":',
    note: "so far",
    fields: [{ path: ["x", 0], token: "1", typed: "12" }],
    revision: 2,
    earlier: { text: "[", fields: [] },
  };
  saveDraft(storage, "req_1", draft);
  assert.deepEqual(loadDraft(storage, "req_1"), draft);
});

test("an edit of an earlier text is kept apart, and the note stays", () => {
  const field = { path: ["x", 0], token: "1", typed: "12" };
  const typed = { ...emptyDraft, text: "[12]", note: "Less", fields: [field] };
  assert.equal(draftFor(typed, 1), typed);
  const next = draftFor(typed, 2);
  const earlier = { text: "[12]", fields: [field] };
  assert.deepEqual(next, { ...emptyDraft, note: "Less", revision: 2, earlier });
  // A further text, before anything was typed for the one between.
  assert.deepEqual(draftFor(next, 3).earlier, earlier);
  assert.deepEqual(draftFor({ ...next, text: "[13]" }, 3).earlier, { text: "[13]", fields: [] });
});

test("a draft that an older page kept is one of the agent's text", () => {
  const storage = makeStorage();
  storage.setItem("countersign draft req_1", '{"text":"1","note":"x","fields":[]}');
  assert.deepEqual(loadDraft(storage, "req_1"), { ...emptyDraft, text: "1", note: "x" });
});

test("one request's draft is not another's", () => {
  const storage = makeStorage();
  saveDraft(storage, "req_1", { ...emptyDraft, text: "1" });
  assert.deepEqual(loadDraft(storage, "req_2"), emptyDraft);
});

test("nothing is kept when nothing was typed", () => {
  const storage = makeStorage();
  saveDraft(storage, "req_1", { ...emptyDraft, text: "1", note: "x" });
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
  assert.equal(saveDraft(forbidden, "req_1", { ...emptyDraft, text: "1" }), false);
  const filled = makeStorage();
  for (const odd of [
    "null",
    "7",
    "[]",
    '{"text":7,"note":{},"fields":[7,{"path":[{}],"token":"","typed":""}],"revision":"2","earlier":7}',
    "{",
  ]) {
    filled.kept.set("countersign draft req_1", odd);
    assert.deepEqual(loadDraft(filled, "req_1"), emptyDraft);
  }
});
