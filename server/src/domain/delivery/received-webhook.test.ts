import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { flawOfSignature } from "./received-webhook.ts";

const now = new Date("2026-01-02T03:04:05Z");
const timestamp = now.getTime() / 1_000;
const body = Buffer.from("{}");
const right = createHmac("sha256", "whsec_abc").update(`${timestamp}.{}`).digest("hex");

function flawOf(v1: string): string | null {
  const signature = `t=${timestamp},v1=${v1}`;
  return flawOfSignature({ signature, body }, ["whsec_abc"], now);
}

test("any text may stand where the signature should: only the right one is believed, and none throws", () => {
  assert.equal(flawOf(right), null);
  const wrong = [
    "é".repeat(right.length),
    `${right.slice(0, -1)}é`,
    "\ud800".repeat(right.length),
    "\0".repeat(right.length),
    right.toUpperCase(),
    "",
  ];
  for (const v1 of wrong) assert.match(flawOf(v1) ?? "", /signed with another secret/);
  for (const signature of ["", "t", "t=,v1=", "=,=", "t=1e3,v1=00", "é=é"]) {
    assert.notEqual(flawOfSignature({ signature, body }, ["whsec_abc"], now), null);
  }
});
