import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { findSecretKey, type Keyring, parseKeyring } from "./keyring.ts";
import { seal, sealRandomBytes, unseal } from "./sealed-secret.ts";

const newKeyText = () => randomBytes(32).toString("base64");
const keyring = parseKeyring(newKeyText()) as Keyring;
const input = { key: keyring.current, record: "endpoint_secrets/we_1", plaintext: "whsec_ü" };

test("a sealed secret opens with the same key and record, and is not readable before", () => {
  const sealed = seal({ ...input, random: randomBytes(sealRandomBytes) });
  assert.equal(sealed.includes("whsec_"), false);
  assert.equal(unseal(keyring.current, input.record, sealed), input.plaintext);
});

test("another record, another key or one flipped bit does not open it", () => {
  const sealed = seal({ ...input, random: randomBytes(sealRandomBytes) });
  assert.throws(() => unseal(keyring.current, "endpoint_secrets/we_2", sealed));
  const stranger = parseKeyring(newKeyText()) as Keyring;
  assert.throws(() => unseal(stranger.current, input.record, sealed));
  for (let at = 0; at < sealed.length; at += 1) {
    const flipped = Buffer.from(sealed);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    assert.throws(() => unseal(keyring.current, input.record, flipped), `byte ${at}`);
  }
  assert.throws(() => unseal(keyring.current, input.record, sealed.subarray(0, 20)));
});

test("a rotated SECRET_KEY seals with the first key and still finds the old one by its id", () => {
  const [fresh, old] = [newKeyText(), newKeyText()];
  const before = parseKeyring(old) as Keyring;
  const sealed = seal({ ...input, key: before.current, random: randomBytes(sealRandomBytes) });
  const rotated = parseKeyring(`${fresh}, ${old}`) as Keyring;
  assert.notEqual(rotated.current.id, before.current.id);
  const key = findSecretKey(rotated, before.current.id);
  assert.ok(key !== null);
  assert.equal(unseal(key, input.record, sealed), input.plaintext);
  assert.equal(findSecretKey(parseKeyring(fresh) as Keyring, before.current.id), null);
});

test("only keys of 32 bytes are taken", () => {
  for (const text of ["", "abc", randomBytes(31).toString("base64"), `${newKeyText()},`]) {
    assert.equal(parseKeyring(text), null, text);
  }
});
