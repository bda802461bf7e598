import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Cidr,
  describeAddressFlaw,
  loopbackCidrs,
  makeAddressPolicy,
  parseAllowedCidrs,
  parseCidrs,
  plainAddress,
} from "./network-address.ts";

const strict = makeAddressPolicy([]);
const everything = makeAddressPolicy(cidrs("0.0.0.0/0, ::/0"));

test("public addresses may be reached", () => {
  for (const address of [
    "8.8.8.8",
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.169.0.0",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2001:200::1",
    "2003::1",
    "3fff:1000::1",
    "::ffff:8.8.8.8",
    "::ffff:808:808",
  ]) {
    assert.equal(strict.flawOf(address), null, address);
  }
});

test("private and special addresses may not be reached, up to the edges of their ranges", () => {
  for (const [range, addresses] of [
    ["loopback", ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"]],
    ["private", ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.1"]],
    ["private", ["fc00::1", "fdff::1", "::FFFF:192.168.0.1"]],
    ["shared", ["100.64.0.0", "100.127.255.255"]],
    ["link-local", ["fe80::1", "febf::1"]],
    ["documentation", ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff:fff::1"]],
    ["benchmarking", ["198.18.0.0", "198.19.255.255"]],
    ["multicast", ["224.0.0.1", "239.255.255.255", "ff02::1"]],
    ["6to4", ["192.88.99.1", "2002:808:808::1"]],
    ["reserved", ["0.0.0.0", "0.255.255.255", "192.0.0.1", "240.0.0.0", "255.255.255.255"]],
    ["reserved", ["::", "::8.8.8.8", "64:ff9b::808:808", "2001::1", "2001:1ff::1", "4000::1"]],
  ] as const) {
    for (const address of addresses) {
      assert.deepEqual(strict.flawOf(address), { kind: "special", range }, address);
    }
  }
});

test("text that is not one plain address is refused, however much is allowed", () => {
  for (const text of [
    "",
    "example.com",
    "localhost",
    "8.8.8",
    "134744072",
    "0x8.8.8.8",
    "08.8.8.8",
    "010.0.0.1",
    "8.8.8.8 ",
    "8.8.8.8/32",
    "8.8.8.256",
    "[2606:4700::1111]",
    "2606:4700::1111%eth0",
    "fe80::1%eth0",
    "::ffff:08.8.8.8",
    "::ffff:8.8.8",
    "1::2::3",
    "2606:4700:::1",
    "1:2:3:4:5:6:7:8:9",
    "2606:4700::11111",
    "８.8.8.8",
  ]) {
    assert.deepEqual(everything.flawOf(text), { kind: "special", range: "malformed" }, text);
  }
});

test("an operator can allow ranges and single addresses, in either spelling of IPv4", () => {
  for (const [list, allowed, refused] of [
    ["10.0.0.0/8, ::1/128", ["10.1.2.3", "::ffff:10.1.2.3", "::1"], ["192.168.0.1", "127.0.0.1"]],
    ["10.0.0.5", ["10.0.0.5"], ["10.0.0.4", "10.0.0.6"]],
    ["10.1.2.3/8", ["10.200.0.1"], ["172.16.0.1"]],
    ["::ffff:10.0.0.0/104", ["10.1.2.3", "::ffff:a01:203"], ["192.168.0.1"]],
    ["fd12:3456::/32", ["fd12:3456::1"], ["fd12:3457::1", "10.0.0.1"]],
    ["::/0", ["fd12:3456::1", "::1"], ["10.0.0.1", "::ffff:10.0.0.1"]],
    ["", [], ["10.0.0.1"]],
  ] as const) {
    const policy = makeAddressPolicy(cidrs(list));
    for (const address of allowed) assert.equal(policy.flawOf(address), null, address);
    for (const address of refused) assert.notEqual(policy.flawOf(address), null, address);
  }
  const embedded = makeAddressPolicy(loopbackCidrs);
  for (const address of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "8.8.8.8"]) {
    assert.equal(embedded.flawOf(address), null, address);
  }
  assert.notEqual(embedded.flawOf("10.0.0.1"), null);
});

test("metadata addresses may never be reached, whatever is allowed and however they are spelled", () => {
  for (const address of [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.0.0",
    "169.254.255.255",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "0:0:0:0:0:FFFF:A9FE:A9FE",
    "64:ff9b::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "::169.254.169.254",
    "2002:a9fe:a9fe::1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "::ffff:168.63.129.16",
    "fd00:ec2::254",
    "fd20:ce::254",
  ]) {
    assert.deepEqual(strict.flawOf(address), { kind: "metadata" }, address);
    assert.deepEqual(everything.flawOf(address), { kind: "metadata" }, address);
    assert.deepEqual(makeAddressPolicy(cidrs(address)).flawOf(address), { kind: "metadata" });
  }
});

test("an allowed address that is translated to IPv4 is as good as the IPv4 address inside", () => {
  // 10.0.0.1 and 8.8.8.8 in every form of RFC 6052, behind prefixes that the operator names as such.
  for (const [prefix, toPrivate, toPublic] of [
    ["2a00:64::/32", "2a00:64:a00:1::", "2a00:64:808:808::"],
    ["2a00:64:aa00::/40", "2a00:64:aa0a:0:1::", "2a00:64:aa08:808:8::"],
    ["2a00:64:aaaa::/48", "2a00:64:aaaa:a00:0:100::", "2a00:64:aaaa:808:8:800::"],
    ["2a00:64:aaaa:bb00::/56", "2a00:64:aaaa:bb0a:0:1::", "2a00:64:aaaa:bb08:8:808::"],
    ["fd64:0:0:1::/64", "fd64:0:0:1:a:0:100:0", "fd64:0:0:1:8:808:800:0"],
    ["fd64::/96", "fd64::a00:1", "fd64::808:808"],
    ["64:ff9b:1:a00::/64", "64:ff9b:1:a00:a:0:100:0", "64:ff9b:1:a00:8:808:800:0"],
    ["64:ff9b::/96", "64:ff9b::10.0.0.1", "64:ff9b::8.8.8.8"],
  ] as const) {
    const named = allowing(`nat64:${prefix}`);
    assert.deepEqual(named.flawOf(toPrivate), {
      kind: "special",
      range: "private",
      inside: "10.0.0.1",
    });
    assert.equal(named.flawOf(toPublic), null, toPublic);
    assert.equal(allowing(`nat64:${prefix}, 10.0.0.0/8`).flawOf(toPrivate), null, toPrivate);
  }
  // These are known without being named.
  for (const [prefix, toPrivate, toPublic] of [
    ["64:ff9b::/96", "64:ff9b::a00:1", "64:ff9b::808:808"],
    ["64:ff9b:1::/48", "64:ff9b:1::10.0.0.1", "64:ff9b:1::8.8.8.8"],
    ["64:ff9b:1::/48", "64:ff9b:1:a00:0:100::", "64:ff9b:1:808:8:800::"],
    ["64:ff9b:1::/48", "64:ff9b:1:a:0:1::", "64:ff9b:1:8:8:808::"],
    ["64:ff9b:1::/48", "64:ff9b:1:0:a:0:100:0", "64:ff9b:1:0:8:808:800:0"],
    ["::/0", "::10.0.0.1", "::8.8.8.8"],
    ["::/0", "::ffff:0:10.0.0.1", "::ffff:0:8.8.8.8"],
    ["::/0", "2002:a00:1::1", "2002:808:808::1"],
    ["::/0", "2001:0:a00:1::f7f7:f7f7", "2001:0:808:808::f7f7:f7f7"],
    ["::/0", "2001:0:808:808::f5ff:fffe", "2001:0:808:808::f7f7:f7f7"],
  ] as const) {
    assert.notEqual(allowing(prefix).flawOf(toPrivate), null, toPrivate);
    assert.equal(allowing(prefix).flawOf(toPublic), null, toPublic);
    assert.equal(allowing(`${prefix}, 10.0.0.0/8`).flawOf(toPrivate), null, toPrivate);
  }
});

test("no prefix leads to a metadata address, whatever else is allowed", () => {
  for (const [prefix, address] of [
    ["nat64:2a00:64::/32", "2a00:64:a9fe:a9fe::"],
    ["nat64:2a00:64:aaaa::/48", "2a00:64:aaaa:a9fe:a9:fe00::"],
    ["nat64:fd64::/96", "fd64::169.254.169.254"],
    ["64:ff9b:1::/48", "64:ff9b:1:a9fe:a9:fe00::"],
    ["2001::/32", "2001:0:808:808::5601:5601"],
  ] as const) {
    const policy = allowing(`${prefix}, 0.0.0.0/0, ::/0`);
    assert.deepEqual(policy.flawOf(address), { kind: "metadata" }, address);
  }
});

test("a NAT64 prefix has one of the six lengths of RFC 6052", () => {
  for (const text of [
    "nat64:2a00:64::/33",
    "nat64:2a00:64::",
    "nat64:10.0.0.0/32",
    "nat64:",
    "x,nat64:fd64::/96",
  ]) {
    assert.equal(parseAllowedCidrs(text), null, text);
  }
});

function allowing(text: string) {
  const parsed = parseAllowedCidrs(text);
  assert.ok(parsed !== null, text);
  return makeAddressPolicy(parsed);
}

test("a list with one malformed part is no list", () => {
  for (const text of [
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/8,",
    "10.0.0.0/8 172.16.0.0/12",
    "10/8",
    "::1/129",
    "::ffff:0:0/95",
    "fe80::1%eth0/128",
    "example.com",
    "10.0.0.0/8, everything",
  ]) {
    assert.equal(parseCidrs(text), null, text);
  }
  assert.deepEqual(parseCidrs(" "), []);
  assert.deepEqual(
    cidrs("10.0.0.0/8,::1, 192.168.1.7").map(([base, length]) => `${base}/${length}`),
    ["10.0.0.0/8", "::1/128", "192.168.1.7/32"],
  );
});

test("an operator learns what is wrong with an address and how to allow it", () => {
  assert.equal(
    describe("10.0.0.5"),
    "10.0.0.5 is a private address, and webhooks reach public addresses only. To allow it add 10.0.0.5/32 to the list in WEBHOOK_ALLOW_CIDRS, for the server and this command.",
  );
  assert.match(describe("::ffff:a00:5"), /add 10\.0\.0\.5\/32 to the list/);
  assert.match(describe("::1", "localhost"), /^localhost resolves to ::1, which is a loopback /);
  const policy = allowing("64:ff9b::/96");
  const translated = policy.flawOf("64:ff9b::a00:5");
  assert.ok(translated !== null);
  assert.match(
    describeAddressFlaw("64:ff9b::a00:5", translated),
    /leads to 10\.0\.0\.5, a private address, .*add 10\.0\.0\.5\/32 to the list/,
  );
  assert.match(describe("::1"), /add ::1\/128 to the list/);
  assert.equal(
    describe("169.254.169.254"),
    "169.254.169.254 is a cloud metadata address, which webhooks may never reach.",
  );
  assert.equal(
    describe("fe80::1%eth0"),
    "fe80::1%eth0 is a malformed address, and webhooks reach public addresses only.",
  );
});

function describe(address: string, hostname?: string): string {
  const flaw = strict.flawOf(address);
  assert.ok(flaw !== null);
  return describeAddressFlaw(address, flaw, hostname);
}

function cidrs(text: string): Cidr[] {
  const parsed = parseCidrs(text);
  assert.ok(parsed !== null, text);
  return parsed;
}

test("a text that is no address is told about as fast as an address", () => {
  const timeOf = (text: string) => {
    const started = performance.now();
    for (let round = 0; round < 2_000; round += 1) plainAddress(text);
    return performance.now() - started;
  };
  const fastest = (text: string) => Math.min(...[1, 2, 3, 4, 5].map(() => timeOf(text)));
  const ofAddress = fastest("203.0.113.7");
  for (const text of ["", "unknown", "_hidden", "1.2.3", "::ffff:203.0.113.7"]) {
    // A thrown and caught error takes fifty times as long.
    assert.ok(fastest(text) < 15 * ofAddress, `"${text}" takes far longer than an address`);
  }
});
