import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallerTrace, callerAddressOf } from "./caller-address.ts";
import { type Cidr, nearbyCidrs, parseCidrs } from "./network-address.ts";

const one = parseCidrs("10.0.0.1") ?? [];
const chain = parseCidrs("10.0.0.1, 192.0.2.0/24, 2001:db8:1::/48") ?? [];

// biome-ignore format: a table is read by its columns
const cases: [string, readonly Cidr[], CallerTrace, string | null][] = [
  ["nobody in between", one, { peer: "203.0.113.9", forwarded: undefined }, "203.0.113.9"],
  ["a stranger claims to be a proxy", one, { peer: "203.0.113.9", forwarded: "198.51.100.7" }, "203.0.113.9"],
  ["a private peer that is not named", one, { peer: "10.0.0.2", forwarded: "198.51.100.7" }, "10.0.0.2"],
  ["one proxy", one, { peer: "10.0.0.1", forwarded: "198.51.100.7" }, "198.51.100.7"],
  ["what the caller wrote itself", one, { peer: "10.0.0.1", forwarded: "1.1.1.1, 198.51.100.7" }, "198.51.100.7"],
  ["even when it is a proxy's address", one, { peer: "10.0.0.1", forwarded: "10.0.0.1, 198.51.100.7" }, "198.51.100.7"],
  ["a chain of proxies", chain, { peer: "10.0.0.1", forwarded: "1.1.1.1, 198.51.100.7, 192.0.2.8" }, "198.51.100.7"],
  ["a chain over IPv6", chain, { peer: "2001:db8:1::5", forwarded: "2606:4700::7,192.0.2.8" }, "2606:4700::7"],
  ["only proxies", chain, { peer: "10.0.0.1", forwarded: "192.0.2.9, 192.0.2.8" }, "192.0.2.9"],
  ["a proxy that names nobody", one, { peer: "10.0.0.1", forwarded: undefined }, "10.0.0.1"],
  ["an empty list", one, { peer: "10.0.0.1", forwarded: " , " }, "10.0.0.1"],
  ["a word", one, { peer: "10.0.0.1", forwarded: "198.51.100.7, unknown" }, "10.0.0.1"],
  ["a word behind a proxy", chain, { peer: "10.0.0.1", forwarded: "_hidden, 192.0.2.8" }, "192.0.2.8"],
  ["addresses that only some readers know", one, { peer: "10.0.0.1", forwarded: "0x7f.1" }, "10.0.0.1"],
  ["a port", one, { peer: "10.0.0.1", forwarded: "198.51.100.7:50112" }, "198.51.100.7"],
  ["a port after IPv6", one, { peer: "10.0.0.1", forwarded: "[2606:4700::7]:50112" }, "2606:4700::7"],
  ["brackets alone", one, { peer: "10.0.0.1", forwarded: "[2606:4700::7]" }, "2606:4700::7"],
  ["IPv4 in the clothes of IPv6", one, { peer: "::ffff:10.0.0.1", forwarded: "::ffff:198.51.100.7" }, "198.51.100.7"],
  ["trust in nobody", [], { peer: "127.0.0.1", forwarded: "198.51.100.7" }, "127.0.0.1"],
  ["a connection that is gone", one, { peer: undefined, forwarded: "198.51.100.7" }, null],
  ["by default a proxy here", nearbyCidrs, { peer: "127.0.0.1", forwarded: "198.51.100.7" }, "198.51.100.7"],
  ["by default proxies nearby", nearbyCidrs, { peer: "::1", forwarded: "198.51.100.7, 172.17.0.2, fd00::4" }, "198.51.100.7"],
  ["by default no public peer", nearbyCidrs, { peer: "8.8.8.8", forwarded: "198.51.100.7" }, "8.8.8.8"],
];

for (const [name, trusted, trace, expected] of cases) {
  test(`the caller's address: ${name}`, () => {
    assert.equal(callerAddressOf(trace, trusted), expected);
  });
}

test("of a list without end only the right end is read", () => {
  const forwarded = ["198.51.100.7", ...Array.from({ length: 1_000 }, () => "10.0.0.1")].join(",");
  assert.equal(callerAddressOf({ peer: "10.0.0.1", forwarded }, one), "10.0.0.1");
});
