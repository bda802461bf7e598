import assert from "node:assert/strict";
import { createECDH, createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { publicJwkOf, toPushSender, vapidAuthorization, vapidSubject } from "./vapid.ts";

const now = new Date("2026-11-18T10:00:00.500Z");
const subject = "https://countersign.example";
const endpoint = "https://push.example:8443/send/abc?d=1";

test("the token is signed for the origin of the endpoint and ends within half a day", () => {
  const { sender } = newSender();
  const authorization = vapidAuthorization({ sender, endpoint, subject, now });
  const match = /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]{87})$/.exec(authorization);
  const [, head = "", claims = "", signature = "", key = ""] = match ?? [];
  assert.deepEqual(decode(head), { typ: "JWT", alg: "ES256" });
  assert.deepEqual(decode(claims), {
    aud: "https://push.example:8443",
    exp: Math.floor(now.getTime() / 1000) + 12 * 3_600,
    sub: subject,
  });
  assert.equal(key, sender.publicKey.toString("base64url"));
  const isSigned = (text: string) =>
    verify(
      "sha256",
      Buffer.from(text),
      { key: publicKeyOf(sender.publicKey), dsaEncoding: "ieee-p1363" },
      Buffer.from(signature, "base64url"),
    );
  assert.ok(isSigned(`${head}.${claims}`));
  assert.ok(!isSigned(`${head}.${claims}x`));
});

test("the subject is an address that push services take", () => {
  const mail = "approvals@example.com";
  assert.equal(vapidSubject("https://a.example/sub", mail), "https://a.example/sub");
  assert.equal(vapidSubject("http://localhost:3000", mail), "mailto:approvals@example.com");
});

function newSender() {
  const pair = createECDH("prime256v1");
  const publicKey = pair.generateKeys();
  // A short number has leading zeros left off.
  const privateKey = Buffer.alloc(32);
  pair.getPrivateKey().copy(privateKey, 32 - pair.getPrivateKey().length);
  return { sender: toPushSender(publicKey, privateKey) };
}

function publicKeyOf(point: Buffer) {
  return createPublicKey({ key: publicJwkOf(point), format: "jwk" });
}

function decode(part: string): unknown {
  return JSON.parse(Buffer.from(part, "base64url").toString());
}
