import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
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

class Money {
  amount = 5;
  #currency = "EUR";
  get currency() {
    return this.#currency;
  }
}
const decimal = { digits: [1, 2, 5], toJSON: () => "1.25" };
const gap: unknown[] = [1];
gap[2] = 3;

test("what a person would not see as it is, or what may be rounded already, is refused before anybody is asked", () => {
  const cases: [string, unknown][] = [
    ["a number beyond 2^53", 2 ** 53],
    ["a negative one", -(2 ** 53)],
    ["a large power of ten", 1e21],
    ["a boxed one", new Number(1e30)],
    ["NaN", Number.NaN],
    ["a boxed NaN", new Number(Number.NaN)],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["a bigint", 5n],
    ["a boxed bigint", Object(5n)],
    ["an invalid date", new Date(Number.NaN)],
    ["a toJSON that makes a number beyond 2^53", { toJSON: () => 1e30 }],
    ["a toJSON that makes a Map", { toJSON: () => new Map([["amount", 5]]) }],
    ["a list with a gap", gap],
    ["undefined in a list", [1, undefined]],
    ["a function in a list", [() => 5]],
    ["a list with a field", Object.assign([1], { to: "mallory" })],
    ["a function", () => 5],
    ["a symbol", Symbol("amount")],
    ["a field under a symbol", { [Symbol("to")]: "mallory" }],
    ["a Map", new Map([["amount", 5]])],
    ["a Set", new Set([5])],
    ["an object of a class", new Money()],
    ["an object that inherits fields", Object.create({ amount: 5 })],
    ["a prototype written as a field", { __proto__: { amount: 5 } }],
    ["bytes", new Uint8Array([5])],
    ["a regular expression", /5/],
    ["an error", new Error("5")],
  ];
  for (const [name, amount] of cases) {
    for (const payload of [{ a: [{ amount }] }, { amount }]) {
      assert.throws(() => refuseInexact(payload, platform), { code: "inexact_payload" }, name);
    }
    assert.throws(() => refuseInexact(amount, platform), { code: "inexact_payload" }, name);
  }
});

test("what a person sees as it is, is taken, and this is what runs", () => {
  const cases: [string, unknown, string][] = [
    ["fractions", [0.1 + 0.2, 1e-7], "[0.30000000000000004,1e-7]"],
    ["the largest whole number", 2 ** 53 - 1, "9007199254740991"],
    ["minus zero", -0, "0"],
    ["boxed values", [new Number(5), new String("a"), Object(true)], '[5,"a",true]'],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a toJSON that makes a text", decimal, '"1.25"'],
    ["an address", new URL("https://example.com/"), '"https://example.com/"'],
    ["null", null, "null"],
    ["a field that is undefined", { a: 1, b: undefined }, '{"a":1}'],
    ["no prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["a key __proto__", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    ["another realm", runInNewContext("({ a: [1] })"), '{"a":[1]}'],
    ["a symbol that is not enumerable", withHiddenSymbol(), '{"a":1}'],
  ];
  for (const [name, payload, shown] of cases) {
    refuseInexact(payload, platform);
    refuseInexact({ a: [payload] }, platform);
    assert.equal(JSON.stringify(payload), shown, name);
  }
  refuseInexact(undefined, platform);
});

function withHiddenSymbol(): object {
  return Object.defineProperty({ a: 1 }, Symbol("mark"), { value: 1, enumerable: false });
}

test("a stringify that writes more digits than JSON.parse reads is refused; a parse of one's own is trusted", () => {
  const stringify = () => "9007199254740993";
  assert.throws(() => refuseInexact(5n, { parse: JSON.parse, stringify }), /9007199254740992/);
  refuseInexact(5n, { parse: (text) => BigInt(text), stringify });
  const exact = { parse: (text: string) => text, stringify: JSON.stringify };
  refuseInexact({ amount: 2 ** 53 }, exact);
  for (const amount of [new Map(), [undefined], Number.NaN, 5n]) {
    assert.throws(() => refuseInexact({ amount }, exact), { code: "inexact_payload" });
  }
});
