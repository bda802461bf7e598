// Network addresses and ranges, and which of them webhooks may reach: public ones, those an operator allows, and never
// a cloud's metadata service. This file resolves no names.

import ipaddr from "ipaddr.js";

export type Cidr = readonly [base: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number];

/** The operator's exceptions. A NAT64 prefix is allowed as far as the IPv4 address inside is. */
export type AllowedCidr = readonly [...Cidr, kind?: "nat64"];

export type AddressFlaw =
  /** Not public. The range is a word for people: private, loopback, … `inside` is the IPv4 address that it leads to. */
  | { kind: "special"; range: string; inside?: string }
  /** Hands out a machine's credentials to any caller, so no setting allows it. */
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

/** All of IPv4 that isn't public, and the exceptions within IPv6, which mostly is. */
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

/** The same list, in which `nat64:` before a prefix says that a gateway translates its addresses to IPv4 (RFC 6052). */
export function parseAllowedCidrs(text: string): AllowedCidr[] | null {
  const parts = text.split(",").map((part) => part.trim());
  const [marked, plain] = [true, false].map((isMarked) =>
    parts.filter((part) => part.startsWith(nat64Mark) === isMarked),
  ) as [string[], string[]];
  const cidrs = parseCidrs(plain.join());
  const prefixes = marked.map((part) => parseCidr(part.slice(nat64Mark.length)));
  if (cidrs === null || (plain.length === 0 && marked.length === 0)) return null;
  return prefixes.every((prefix) => prefix !== null && isNat64Prefix(prefix))
    ? [...cidrs, ...(prefixes as Cidr[]).map(([base, length]) => [base, length, "nat64"] as const)]
    : null;
}

export function makeAddressPolicy(allowed: readonly AllowedCidr[]): AddressPolicy {
  const translations = [...knownTranslations, ...allowed.flatMap(translationOf)];
  const flawOfPlain = (address: ipaddr.IPv4 | ipaddr.IPv6): AddressFlaw | null => {
    if (isWithin(address, metadataCidrs)) return { kind: "metadata" };
    const range = isWithin(address, allowed) ? null : specialRangeOf(address);
    return range === null ? null : { kind: "special", range };
  };
  return {
    flawOf: (text) => {
      const address = parseAddress(text);
      if (address === null) return { kind: "special", range: "malformed" };
      const flawsInside = translate(address, translations).map((inside) => {
        const flaw = flawOfPlain(inside);
        return flaw?.kind === "special" ? { ...flaw, inside: inside.toString() } : flaw;
      });
      const isMetadata = flawsInside.some((flaw) => flaw?.kind === "metadata");
      if (isMetadata) return { kind: "metadata" };
      return flawOfPlain(address) ?? flawsInside.find((flaw) => flaw !== null) ?? null;
    },
  };
}

/** Only addresses that the operator allows by name, not public ones: for plain http that carries a secret. */
function makeAllowedOnlyPolicy(allowed: readonly AllowedCidr[]): AddressPolicy {
  const { flawOf } = makeAddressPolicy(allowed);
  return {
    flawOf: (text) => {
      const address = parseAddress(text);
      const isNamed = address !== null && isWithin(address, allowed);
      return flawOf(text) ?? (isNamed ? null : { kind: "special", range: "public" });
    },
  };
}

/** Where callbacks may go, whose addresses are secrets: over TLS, and over plain http, which is nowhere if null. */
export type CallbackPolicies = { policy: AddressPolicy; plainPolicy: AddressPolicy | null };

export function makeCallbackPolicies(allowed: readonly AllowedCidr[]): CallbackPolicies {
  return {
    policy: makeAddressPolicy(allowed),
    plainPolicy: allowed.length === 0 ? null : makeAllowedOnlyPolicy(allowed),
  };
}

/** False for text that is no address. */
export function isWithinCidrs(text: string, ranges: readonly Cidr[]): boolean {
  const address = parseAddress(text);
  return address !== null && isWithin(address, ranges);
}

/** Each address in one spelling, with IPv4 unwrapped from IPv6. Null for text that is no address. */
export function plainAddress(text: string): string | null {
  return parseAddress(text)?.toString() ?? null;
}

/** The part that one household or machine has: an IPv4 address, or a /64 of IPv6. */
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
  const { range, inside = address } = flaw;
  const leads = inside === address ? "is" : `leads to ${inside},`;
  const complaint = `${subject} ${leads} a ${range} address, and webhooks reach public addresses only.`;
  const parsed = parseAddress(inside);
  if (parsed === null) return complaint;
  const cidr = `${parsed}/${bitsOf(parsed)}`;
  return `${complaint} To allow it add ${cidr} to the list in WEBHOOK_ALLOW_CIDRS, for the server and this command.`;
}

/** For members, who can't allow an address and must not learn which addresses names have inside. */
export function describeAddressFlawToMember(flaw: AddressFlaw): string {
  return flaw.kind === "metadata"
    ? "must not lead to a cloud's metadata service"
    : "must lead to a public address, and this one does not; the operator of this service can allow it";
}

function specialRangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string | null {
  const named = specialRanges.find(([, ranges]) => isWithin(address, ranges));
  if (named !== undefined) return named[0];
  const isPublic = address.kind() === "ipv4" || isWithin(address, publicIpv6);
  return isPublic ? null : "reserved";
}

/** IPv6 addresses that a gateway or the system turns into IPv4, and where the bytes of the IPv4 address stand. */
type Translation = { cidr: Cidr; bytes: readonly number[]; isInverted?: true; isZeroOther?: true };

const nat64Mark = "nat64:";
/** The forms of RFC 6052 by the length of the prefix. Byte 8 is never part of the address. */
const nat64Bytes: Readonly<Record<number, readonly number[]>> = {
  32: [4, 5, 6, 7],
  40: [5, 6, 7, 9],
  48: [6, 7, 9, 10],
  56: [7, 9, 10, 11],
  64: [9, 10, 11, 12],
  96: [12, 13, 14, 15],
};

/**
 * Zeros are another matter where an address may be meant in several ways: `::1` is no translation, and within
 * 64:ff9b:1::/48 (RFC 8215) the site chooses the length, so every form must do in which an address stands at all.
 */
const knownTranslations: readonly Translation[] = [
  ...translated("64:ff9b::/96", nat64Bytes[96]),
  ...translated("::ffff:0:0:0/96", nat64Bytes[96]),
  ...translated("::/96", nat64Bytes[96], { isZeroOther: true }),
  ...[48, 56, 64, 96].flatMap((length) =>
    translated("64:ff9b:1::/48", nat64Bytes[length], { isZeroOther: true }),
  ),
  // 6to4; Teredo's server and, inverted, its client.
  ...translated("2002::/16", [2, 3, 4, 5]),
  ...translated("2001::/32", [4, 5, 6, 7]),
  ...translated("2001::/32", [12, 13, 14, 15], { isInverted: true }),
];

function translated(
  prefix: string,
  bytes: readonly number[] = [],
  options: Partial<Translation> = {},
): Translation[] {
  return cidrs(prefix).map((cidr) => ({ cidr, bytes, ...options }));
}

function isNat64Prefix([base, length]: Cidr): boolean {
  return base.kind() === "ipv6" && nat64Bytes[length] !== undefined;
}

function translationOf([base, length, kind]: AllowedCidr): Translation[] {
  const bytes = nat64Bytes[length];
  return kind === "nat64" && bytes !== undefined ? [{ cidr: [base, length], bytes }] : [];
}

/** An operator's prefix settles its form; our own knowledge about it may then be wrong. */
function translate(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  translations: readonly Translation[],
): ipaddr.IPv4[] {
  const fitting = translations.filter(({ cidr }) => isWithin(address, [cidr]));
  const named = fitting.filter((each) => !knownTranslations.includes(each));
  const octets = address.toByteArray();
  return (named.length > 0 ? named : fitting).flatMap(({ bytes, isInverted, isZeroOther }) => {
    const inside = bytes.map((at) => (octets[at] ?? 0) ^ (isInverted ? 255 : 0));
    return isZeroOther && inside[0] === 0 ? [] : [new ipaddr.IPv4(inside)];
  });
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly AllowedCidr[]): boolean {
  return ranges.some(
    ([base, prefixLength]) => base.kind() === address.kind() && address.match(base, prefixLength),
  );
}

/**
 * Spelled out, because the library would take 010.1 and 0x7f.1 too, and a zone, and misreads ::1.2.3.4. It also throws
 * and catches an error for each text of another form, which takes longer than all the rest of a read.
 */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (!text.includes(":")) return parseDotted(text);
  const plain = withoutDots(text);
  if (!/^[0-9a-f:]+$/i.test(plain) || !ipaddr.IPv6.isValid(plain)) return null;
  const address = ipaddr.IPv6.parse(plain);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function parseDotted(text: string): ipaddr.IPv4 | null {
  const isFourNumbers = /^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(text);
  return isFourNumbers && ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
}

function withoutDots(text: string): string {
  const [, start = "", dotted = ""] = /^(.*:)([0-9.]+)$/.exec(text) ?? [];
  const inside = parseDotted(dotted);
  if (inside === null) return text;
  const [a = 0, b = 0, c = 0, d = 0] = inside.toByteArray();
  return `${start}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function parseCidr(text: string): Cidr | null {
  const [, start = "", length] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const base = parseAddress(start);
  if (base === null) return null;
  const bits = bitsOf(base);
  // An IPv4 address was unwrapped from IPv6, so its prefix length loses those 96 bits.
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
