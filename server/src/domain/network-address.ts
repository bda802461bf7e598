// Network addresses and their ranges, and which of them webhooks may reach: public ones, those an operator allows, and
// never a cloud's metadata service. Names are not resolved here.

import ipaddr from "ipaddr.js";

export type Cidr = readonly [base: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number];

export type AddressFlaw =
  /** Not public. The range is a word for people: private, loopback, link-local, … */
  | { kind: "special"; range: string }
  /** Hands out a machine's credentials to whoever asks, so no setting allows it. */
  | { kind: "metadata" };

export type AddressPolicy = { flawOf(address: string): AddressFlaw | null };

export const loopbackCidrs: readonly Cidr[] = cidrs("127.0.0.0/8", "::1/128");

const privateCidrs = cidrs("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7");
const sharedCidrs = cidrs("100.64.0.0/10");
const linkLocalCidrs = cidrs("169.254.0.0/16", "fe80::/10");

/** This machine and the networks around it: no call from the internet comes from there. */
export const nearbyCidrs: readonly Cidr[] = [
  ...loopbackCidrs,
  ...privateCidrs,
  ...sharedCidrs,
  ...linkLocalCidrs,
];

const metadataCidrs = cidrs(
  "169.254.0.0/16",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::/32",
  "fd20:ce::254",
);

const publicIpv6 = cidrs("2000::/3");

/** Everything of IPv4 that is not public, and what else is not public where IPv6 mostly is. */
const specialRanges: readonly (readonly [range: string, cidrs: readonly Cidr[]])[] = [
  ["loopback", loopbackCidrs],
  ["private", privateCidrs],
  ["shared", sharedCidrs],
  ["link-local", linkLocalCidrs],
  ["documentation", cidrs("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")],
  ["documentation", cidrs("2001:db8::/32", "3fff::/20")],
  ["benchmarking", cidrs("198.18.0.0/15")],
  ["multicast", cidrs("224.0.0.0/4", "ff00::/8")],
  ["6to4", cidrs("192.88.99.0/24", "2002::/16")],
  ["reserved", cidrs("0.0.0.0/8", "192.0.0.0/24", "240.0.0.0/4", "168.63.129.16", "2001::/23")],
];

/** Reads a comma-separated list of CIDRs and plain addresses; null when one of them is malformed. */
export function parseCidrs(text: string): Cidr[] | null {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length === 1 && parts[0] === "") return [];
  const parsed = parts.map(parseCidr);
  return parsed.every((cidr) => cidr !== null) ? parsed : null;
}

export function makeAddressPolicy(allowed: readonly Cidr[]): AddressPolicy {
  return {
    flawOf: (text) => {
      const address = parseAddress(text);
      if (address === null) return { kind: "special", range: "malformed" };
      if (isMetadata(address)) return { kind: "metadata" };
      const range = isWithin(address, allowed) ? null : specialRangeOf(address);
      return range === null ? null : { kind: "special", range };
    },
  };
}

/** False for what is no address. */
export function isWithinCidrs(text: string, ranges: readonly Cidr[]): boolean {
  const address = parseAddress(text);
  return address !== null && isWithin(address, ranges);
}

/** Each address in one spelling, and IPv4 out of the clothes of IPv6. Null for what is no address. */
export function plainAddress(text: string): string | null {
  return parseAddress(text)?.toString() ?? null;
}

/** What one household or machine has: an address of IPv4, or a /64 of IPv6. */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (address === null || address.kind() === "ipv4") return address?.toString() ?? text;
  return (address as ipaddr.IPv6).parts.slice(0, 4).join(":");
}

/** Tells an operator what is wrong with an address, and how to allow it where that is possible. */
export function describeAddressFlaw(
  address: string,
  flaw: AddressFlaw,
  hostname = address,
): string {
  const subject = hostname === address ? address : `${hostname} resolves to ${address}, which`;
  if (flaw.kind === "metadata") {
    return `${subject} is a cloud metadata address, which webhooks may never reach.`;
  }
  const complaint = `${subject} is a ${flaw.range} address, and webhooks reach public addresses only.`;
  const parsed = parseAddress(address);
  if (parsed === null) return complaint;
  const cidr = `${parsed}/${bitsOf(parsed)}`;
  return `${complaint} To allow it add ${cidr} to the list in WEBHOOK_ALLOW_CIDRS, for the server and this command.`;
}

/** Tells a member, who can neither allow an address nor is to learn which ones names have inside. */
export function describeAddressFlawToMember(flaw: AddressFlaw): string {
  return flaw.kind === "metadata"
    ? "must not lead to a cloud's metadata service"
    : "must lead to a public address, and this one does not; whoever runs this service can allow it";
}

function specialRangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string | null {
  const named = specialRanges.find(([, ranges]) => isWithin(address, ranges));
  if (named !== undefined) return named[0];
  const isPublic = address.kind() === "ipv4" || isWithin(address, publicIpv6);
  return isPublic ? null : "reserved";
}

/** An IPv6 address that a gateway turns into an IPv4 one is as good as that one. */
function isMetadata(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return [address, ...translationsOf(address)].some((each) => isWithin(each, metadataCidrs));
}

const translatedAtEnd = cidrs("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96");
const translatedAfterPrefix = cidrs("2002::/16");

function translationsOf(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  if (isWithin(address, translatedAtEnd)) return [new ipaddr.IPv4(bytes.slice(12))];
  if (isWithin(address, translatedAfterPrefix)) return [new ipaddr.IPv4(bytes.slice(2, 6))];
  return [];
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly Cidr[]): boolean {
  return ranges.some(
    ([base, prefixLength]) => base.kind() === address.kind() && address.match(base, prefixLength),
  );
}

/** Spelled out, because the library would take 010.1 and 0x7f.1 too, and a zone, and misreads ::1.2.3.4. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const plain = withoutDots(text);
  if (!/^[0-9a-f:]+$/i.test(plain) || !ipaddr.IPv6.isValid(plain)) return null;
  const address = ipaddr.IPv6.parse(plain);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function withoutDots(text: string): string {
  const [, start = "", dotted = ""] = /^(.*:)([0-9.]+)$/.exec(text) ?? [];
  if (!ipaddr.IPv4.isValidFourPartDecimal(dotted)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(dotted).toByteArray();
  return `${start}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function parseCidr(text: string): Cidr | null {
  const [, start = "", length] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const base = parseAddress(start);
  if (base === null) return null;
  const bits = bitsOf(base);
  // An IPv4 address in the clothes of IPv6 was unwrapped, and its prefix length loses the 96 bits of the clothes.
  const wrapping = start.includes(":") ? 128 - bits : 0;
  const prefixLength = length === undefined ? bits : Number(length) - wrapping;
  return prefixLength >= 0 && prefixLength <= bits ? [base, prefixLength] : null;
}

function bitsOf(address: ipaddr.IPv4 | ipaddr.IPv6): number {
  return address.kind() === "ipv4" ? 32 : 128;
}

function cidrs(...texts: string[]): Cidr[] {
  const parsed = parseCidrs(texts.join());
  if (parsed === null) throw new Error(`not a list of CIDRs: ${texts}`);
  return parsed;
}
