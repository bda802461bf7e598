import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { apiKeyRandomBytes, digestOfApiKey, formatApiKey, isWellFormedApiKey } from "./api-key.ts";

const newKey = () => formatApiKey(randomBytes(apiKeyRandomBytes));

test("a key is cs_, 43 random base62 characters and a checksum of 6", () => {
  for (let n = 0; n < 200; n += 1) {
    const key = newKey();
    assert.match(key, /^cs_[0-9A-Za-z]{49}$/);
    assert.ok(isWellFormedApiKey(key));
  }
});

test("the same random bytes make the same key, and biased bytes are skipped", () => {
  assert.equal(
    formatApiKey(new Uint8Array(96)),
    `cs_${"0".repeat(43)}${formatApiKey(new Uint8Array(96)).slice(-6)}`,
  );
  assert.throws(() => formatApiKey(new Uint8Array(96).fill(255)), /too few/);
});

test("any single mistyped, missing or added character is noticed", () => {
  const key = newKey();
  for (let at = 0; at < key.length; at += 1) {
    const other = key[at] === "a" ? "b" : "a";
    assert.equal(
      isWellFormedApiKey(key.slice(0, at) + other + key.slice(at + 1)),
      false,
      `at ${at}`,
    );
  }
  for (const wrong of [
    key.slice(1),
    `${key}x`,
    key.toUpperCase(),
    ` ${key}`,
    "",
    "cs_",
    "sk_live_1",
  ]) {
    assert.equal(isWellFormedApiKey(wrong), false, wrong);
  }
});

test("the digest is the SHA-256 of the whole key", () => {
  assert.equal(
    digestOfApiKey("abc").toString("hex"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
