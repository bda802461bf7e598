import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameKey, keyBytes, pushSupport } from "./push-support.ts";

test("what a browser can't do is told by its reason", () => {
  const facts = { hasPush: true, permission: "default", isInstalled: null } as const;
  assert.equal(pushSupport(facts), "ready");
  assert.equal(pushSupport({ ...facts, permission: "granted" }), "ready");
  assert.equal(pushSupport({ ...facts, permission: "denied" }), "denied");
  assert.equal(pushSupport({ ...facts, hasPush: false, permission: null }), "unsupported");
});

test("a phone whose browser has push only in installed apps is asked to install it", () => {
  const phone = { hasPush: false, permission: null };
  assert.equal(pushSupport({ ...phone, isInstalled: false }), "install_first");
  assert.equal(pushSupport({ ...phone, isInstalled: true }), "unsupported");
  const installed = { hasPush: true, permission: "default", isInstalled: true } as const;
  assert.equal(pushSupport(installed), "ready");
});

test("a browser that subscribed to another key is noticed", () => {
  const key = "BP-_AAE";
  assert.deepEqual([...keyBytes(key)], [4, 255, 191, 0, 1]);
  assert.ok(isSameKey(keyBytes(key).buffer, key));
  assert.ok(!isSameKey(keyBytes("BP-_AAI").buffer, key));
  assert.ok(!isSameKey(null, key));
});
