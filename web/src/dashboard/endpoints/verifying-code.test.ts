import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { verifyingCode } from "./verifying-code.ts";

test("the code that receivers copy takes what is signed and nothing else", async () => {
  const source = `data:text/javascript,${encodeURIComponent(verifyingCode)}`;
  const { isFromCountersign } = await import(source);
  const [secret, body] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Buffer.from('{"a": 1}')];
  const signed = (t: number) =>
    `t=${t},v1=00,v1=${createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex")}`;
  const now = Math.floor(Date.now() / 1_000);
  assert.equal(isFromCountersign(secret, signed(now), body), true);
  assert.equal(isFromCountersign(secret, signed(now), Buffer.from('{"a":1}')), false);
  assert.equal(isFromCountersign("whsec_other", signed(now), body), false);
  assert.equal(isFromCountersign(secret, signed(now - 3_600), body), false);
  assert.equal(isFromCountersign(secret, "", body), false);
});
