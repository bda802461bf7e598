// Turns the host of a webhook URL into the addresses that may be connected to, or says why there are none. The caller
// must connect to exactly these: asked again, a hostile name server answers something else.

import { lookup, Resolver } from "node:dns/promises";
import { once } from "node:events";
import { isIP } from "node:net";
import {
  type AddressFlaw,
  type AddressPolicy,
  type CallbackPolicies,
  describeAddressFlaw,
  describeAddressFlawToMember,
} from "../domain/access/network-address.ts";
import {
  examinationTimeoutMs,
  nameQueryTimeoutMs,
  nameQueryTriesMax,
  nameTimeoutMs,
  otherFamilyWaitMs,
  systemLookupsMax,
} from "../domain/limits.ts";

export type HostAddress = { address: string; family: number };

export type ResolvedHost =
  | { kind: "addresses"; addresses: HostAddress[] }
  | { kind: "name_not_resolved" }
  | { kind: "address_not_allowed"; address: string; flaw: AddressFlaw };

/** Where names are looked up: the system's name servers and its own lookup, except in tests. */
export type NameSources = {
  /** Such as 127.0.0.1:5353. */
  dnsServers?: readonly string[];
  lookUpInSystem?: (hostname: string) => Promise<string[]>;
};

export type Resolving = { signal?: AbortSignal; timeoutMs?: number; sources?: NameSources };

/** Takes the hostname as a URL spells it, with brackets around IPv6. */
export async function resolveHost(
  hostname: string,
  policy: AddressPolicy,
  { signal, timeoutMs = nameTimeoutMs, sources = {} }: Resolving = {},
): Promise<ResolvedHost> {
  if (signal?.aborted) return { kind: "name_not_resolved" };
  const patience = new AbortController();
  const giveUp = () => patience.abort();
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener("abort", giveUp);
  try {
    return vet(await findAddresses(hostname, sources, patience.signal), policy);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

/** The IP address in a URL's hostname, without brackets; null when it is a name. */
export function literalOf(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 ? null : bare;
}

/** Says why a webhook URL may not be registered; null when it may. For operators. */
export async function examineWebhookUrl(
  url: string,
  policy: AddressPolicy,
  sources: NameSources = {},
): Promise<string | null> {
  const { hostname } = new URL(url);
  const forbidden = await findForbidden(hostname, policy, sources);
  if (forbidden === null) return null;
  return describeAddressFlaw(forbidden.address, forbidden.flaw, literalOf(hostname) ?? hostname);
}

/**
 * The same for members, but only about an address in the URL itself. Names aren't looked up for them: the answer, and
 * its time, would tell which names exist inside our network. Every attempt looks them up.
 */
export async function examineMembersWebhookUrl(
  url: string,
  policy: AddressPolicy,
): Promise<string | null> {
  const resolved = vet(ownAddressesOf(new URL(url).hostname) ?? [], policy);
  return resolved.kind === "address_not_allowed"
    ? describeAddressFlawToMember(resolved.flaw)
    : null;
}

/**
 * The same for the callback of a request. Plain http would show the address, which may be a secret, to everybody on the
 * way: it is only for addresses that the operator allows by name, and each attempt looks again.
 */
export function examineCallbackUrl(
  url: string,
  { policy, plainPolicy }: CallbackPolicies,
): string | null {
  const { hostname, protocol } = new URL(url);
  if (protocol === "http:" && plainPolicy === null) return "must begin with https://";
  const found = ownAddressesOf(hostname) ?? [];
  const resolved = vet(found, (protocol === "http:" && plainPolicy) || policy);
  if (resolved.kind !== "address_not_allowed") return null;
  return policy.flawOf(resolved.address) === null
    ? "must begin with https://"
    : describeAddressFlawToMember(resolved.flaw);
}

/** A name that doesn't resolve now may do so later, and every attempt looks again. */
async function findForbidden(
  hostname: string,
  policy: AddressPolicy,
  sources: NameSources,
): Promise<{ address: string; flaw: AddressFlaw } | null> {
  const resolving = { timeoutMs: examinationTimeoutMs, sources };
  const resolved = await resolveHost(hostname, policy, resolving);
  return resolved.kind === "address_not_allowed" ? resolved : null;
}

/** One forbidden address condemns the name: attackers mix them to lead a public name inside. */
function vet(found: string[], policy: AddressPolicy): ResolvedHost {
  if (found.length === 0) return { kind: "name_not_resolved" };
  for (const address of found) {
    const flaw = policy.flawOf(address);
    if (flaw !== null) return { kind: "address_not_allowed", address, flaw };
  }
  const addresses = found.map((address) => ({ address, family: isIP(address) }));
  return { kind: "addresses", addresses };
}

async function findAddresses(
  hostname: string,
  sources: NameSources,
  signal: AbortSignal,
): Promise<string[]> {
  const own = ownAddressesOf(hostname);
  if (own !== null) return own;
  const answer = await askNameServers(hostname, sources, signal);
  if (answer !== "unknown" || signal.aborted) return answer === "unknown" ? [] : answer;
  return lookUpInTurn(() => (sources.lookUpInSystem ?? lookUpInSystem)(hostname), signal);
}

/** The answer that a hostname gives by itself; null when a server must be asked. */
function ownAddressesOf(hostname: string): string[] | null {
  const literal = literalOf(hostname);
  if (literal !== null) return [literal];
  // By definition these are this machine (RFC 6761), even if a name server disagrees.
  return /(?:^|\.)localhost\.?$/.test(hostname) ? ["127.0.0.1", "::1"] : null;
}

/**
 * Asks from this thread. The system's lookup would hold one of the process's four worker threads for as long as a
 * hostile name server likes, and four such names would stall all lookups.
 */
async function askNameServers(
  hostname: string,
  { dnsServers }: NameSources,
  signal: AbortSignal,
): Promise<string[] | "unknown"> {
  const resolver = new Resolver({ timeout: nameQueryTimeoutMs, tries: nameQueryTriesMax });
  if (dnsServers !== undefined) resolver.setServers(dnsServers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel);
  let timer: NodeJS.Timeout | undefined;
  const thenHurry = (addresses: string[]) => {
    timer ??= setTimeout(cancel, otherFamilyWaitMs);
    return addresses;
  };
  try {
    return combine(
      await Promise.allSettled([
        resolver.resolve4(hostname).then(thenHurry),
        resolver.resolve6(hostname).then(thenHurry),
      ]),
    );
  } finally {
    signal.removeEventListener("abort", cancel);
    clearTimeout(timer);
  }
}

/** The name is not there, has no address, or there is no name server at all on this machine. */
const unknownCodes = ["ENOTFOUND", "ENODATA", "ECONNREFUSED"];

/** If one family's question failed, the other's addresses are enough: we connect only to known addresses. */
function combine(answers: PromiseSettledResult<string[]>[]): string[] | "unknown" {
  const addresses = answers.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  const isUnknown = answers.every(
    (each) => each.status === "rejected" && unknownCodes.includes(each.reason?.code),
  );
  return isUnknown ? "unknown" : addresses;
}

/** Knows names that name servers don't: /etc/hosts, search domains, the local network. */
async function lookUpInSystem(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true });
  return found.sort((a, b) => a.family - b.family).map(({ address }) => address);
}

/** A lookup can't be cancelled. A caller who gives up leaves it behind, and its turn lasts as long as it runs. */
async function lookUpInTurn(look: () => Promise<string[]>, signal: AbortSignal): Promise<string[]> {
  if (!(await takeTurn(signal))) return [];
  const found = look()
    .catch(() => [])
    .finally(endTurn);
  return Promise.race([found, once(signal, "abort").then(() => [])]);
}

// Worker threads belong to the process, so the turns are counted per process.
let turnsTaken = 0;
const waiting = new Set<() => void>();

function takeTurn(signal: AbortSignal): Promise<boolean> {
  if (turnsTaken < systemLookupsMax) {
    turnsTaken += 1;
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const take = () => resolve(true);
    waiting.add(take);
    signal.addEventListener("abort", () => {
      waiting.delete(take);
      resolve(false);
    });
  });
}

/** Hands the turn to the longest waiting. */
function endTurn(): void {
  const [next] = waiting;
  if (next === undefined) {
    turnsTaken -= 1;
    return;
  }
  waiting.delete(next);
  next();
}
