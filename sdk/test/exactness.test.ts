import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseInexact, roundedNumberIn, roundedNumberInMember } from "../src/exactness.ts";

const platform = { parse: JSON.parse, stringify: JSON.stringify };

test("a number that JSON.parse changes is found, and no other", () => {
  for (const literal of [
    "9007199254740993",
    "-9007199254740993",
    "0.1000000000000000055511151231257827",
    "12345678901234567.89",
    "1E400",
    "1e-400",
    "0.30000000000000000001",
    "90071992547409930000e-4",
  ]) {
    assert.equal(roundedNumberIn(`{"a":["x",${literal}]}`), literal);
  }
  for (const literal of [
    "9007199254740992",
    "1.0",
    "0.10",
    "-0",
    "0.30000000000000004",
    "1e2",
    "1.7976931348623157e308",
    "5e-324",
    "100000000000000000000",
    "0.00000000000000000000",
    "0e99999999999",
  ]) {
    assert.equal(roundedNumberIn(`[${literal}]`), null, literal);
  }
  assert.equal(roundedNumberIn(`{"9007199254740993":"9007199254740993 \\" 1E400"}`), null);
});

test("only the named member of the outermost object is looked at", () => {
  const text = `{"payload":1,"metadata":{"effectivePayload":9007199254740993},"agentState":1E400,
    "x":"effectivePayload","effectivePayload" : {"a":[0.1,{"effectivePayload":2}]},"y":9007199254740993}`;
  assert.equal(roundedNumberInMember(text, "effectivePayload"), null);
  const wrong = text.replace("0.1,", "9007199254740995,");
  assert.equal(roundedNumberInMember(wrong, "effectivePayload"), "9007199254740995");
});

test("a payload whose numbers are lost, or may be rounded already, is refused", () => {
  const lost: unknown[] = [2 ** 53, -(2 ** 53), 1e21, Number.NaN, Number.POSITIVE_INFINITY, 5n];
  lost.push(new Date(Number.NaN));
  for (const number of lost) {
    assert.throws(() => refuseInexact({ a: [{ amount: number }] }, platform), {
      code: "inexact_payload",
      message: /amount: /,
    });
  }
  refuseInexact({ a: [0.1 + 0.2, -0, 2 ** 53 - 1, 1e-7, null, new Date(0), undefined] }, platform);
  refuseInexact(undefined, platform);
});

test("a stringify that writes more digits than JSON.parse reads is refused; a parse of one's own is trusted", () => {
  const stringify = () => "9007199254740993";
  assert.throws(() => refuseInexact(5n, { parse: JSON.parse, stringify }), /9007199254740992/);
  refuseInexact(5n, { parse: (text) => BigInt(text), stringify });
});
