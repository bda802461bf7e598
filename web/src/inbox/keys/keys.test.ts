import assert from "node:assert/strict";
import { test } from "node:test";
import { actionOf, moveTo, type Press } from "./keys.ts";

const plain: Press = {
  key: "a",
  repeat: false,
  hasModifier: false,
  isShifted: false,
  isTyping: false,
  isEditing: false,
  hasDialog: false,
};

test("each key of the list has its meaning, with the capitals locked as well", () => {
  const meant = ["j", "k", "a", "R", "E", "?", "Escape"].map((key) => actionOf({ ...plain, key }));
  assert.deepEqual(meant, ["next", "previous", "approve", "reject", "edit", "help", "back"]);
  assert.equal(actionOf({ ...plain, key: "?", isShifted: true }), "help");
});

test("keys do nothing in fields, with a modifier, or while a dialog is open", () => {
  for (const key of ["j", "k", "a", "r", "e", "?", "Escape"]) {
    for (const other of ["hasModifier", "isTyping", "hasDialog"] as const) {
      assert.equal(actionOf({ ...plain, key, [other]: true }), null, `${key} ${other}`);
    }
  }
  assert.equal(actionOf({ ...plain, key: "A", isShifted: true }), null);
});

test("while the payload is edited, letters are letters, and Escape leads back", () => {
  for (const key of ["j", "k", "a", "r", "e", "?"]) {
    assert.equal(actionOf({ ...plain, key, isEditing: true }), null, key);
  }
  assert.equal(actionOf({ ...plain, key: "Escape", isEditing: true }), "back");
});

test("a key that is held down only moves", () => {
  const held = ["j", "k", "a", "r", "e", "?", "Escape"].map((key) =>
    actionOf({ ...plain, key, repeat: true }),
  );
  assert.deepEqual(held, ["next", "previous", null, null, null, null, null]);
});

test("no key of the inbox decides, and others mean nothing", () => {
  for (const key of ["Enter", " ", "y", "x", "constructor", "Tab", "1"]) {
    assert.equal(actionOf({ ...plain, key }), null, key);
  }
});

test("moving stops at both ends of the list", () => {
  assert.equal(moveTo(-1, 3, "next"), 0);
  assert.equal(moveTo(-1, 3, "previous"), null);
  assert.equal(moveTo(1, 3, "next"), 2);
  assert.equal(moveTo(2, 3, "next"), null);
  assert.equal(moveTo(0, 3, "previous"), null);
  assert.equal(moveTo(-1, 0, "next"), null);
});
