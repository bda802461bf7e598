import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { test } from "node:test";
import { encryptPush, isPushPublicKey, pushCurve } from "./push-encryption.ts";

const bytes = (base64url: string) => Buffer.from(base64url, "base64url");

/** RFC 8291, Appendix A. */
const example = {
  plaintext: Buffer.from("When I grow up, I want to be a watermelon"),
  keys: {
    publicKey: bytes(
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    ),
    auth: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
  },
  senderPrivateKey: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
  salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"),
};

test("the example of RFC 8291 is encrypted byte for byte", () => {
  assert.equal(
    encryptPush(example)?.toString("base64url"),
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});

test("another implementation decrypts it, and padding hides how long it was", () => {
  const sizes = ["{}", '{"waiting":1}', '{"waiting":1000}'].map((plaintext) => {
    const { browser, keys } = newBrowser();
    const body = encryptPush({ ...fresh(), plaintext: Buffer.from(plaintext), keys });
    assert.ok(body);
    const options = { version: "aes128gcm", privateKey: browser, authSecret: keys.auth };
    assert.equal(ece.decrypt(body, options).toString(), plaintext);
    return body.length;
  });
  assert.equal(new Set(sizes).size, 1);
});

test("a key that is no point of the curve gets no message", () => {
  const { keys } = newBrowser();
  const bent = Buffer.from(keys.publicKey);
  bent[64] = (bent[64] ?? 0) ^ 1;
  const plaintext = Buffer.from("{}");
  for (const publicKey of [bent, Buffer.alloc(65), Buffer.alloc(65, 4), Buffer.alloc(0)]) {
    assert.equal(isPushPublicKey(publicKey), false);
    assert.equal(encryptPush({ ...fresh(), plaintext, keys: { ...keys, publicKey } }), null);
  }
  assert.equal(isPushPublicKey(keys.publicKey), true);
});

test("a message that push services need not take isn't made", () => {
  const { keys } = newBrowser();
  const largest = 4_096 - 86 - 16 - 1;
  const encrypt = (size: number) =>
    encryptPush({ ...fresh(), plaintext: Buffer.alloc(size), keys });
  assert.equal(encrypt(largest)?.length, 4_096);
  assert.throws(() => encrypt(largest + 1), /too large/);
});

type Ece = {
  decrypt: (
    body: Buffer,
    options: { version: string; privateKey: unknown; authSecret: Buffer },
  ) => Buffer;
};
// Has no types of its own.
const ece: Ece = createRequire(import.meta.url)("http_ece");

function newBrowser() {
  const browser = createECDH(pushCurve);
  return { browser, keys: { publicKey: browser.generateKeys(), auth: randomBytes(16) } };
}

function fresh() {
  const sender = createECDH(pushCurve);
  sender.generateKeys();
  return { senderPrivateKey: sender.getPrivateKey(), salt: randomBytes(16), paddedBytes: 64 };
}
