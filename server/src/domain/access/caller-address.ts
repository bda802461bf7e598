// Finds a caller's address behind proxies. Each proxy appends to X-Forwarded-For the address it heard the call from. So
// the list is true from its right end for as long as a trusted proxy wrote it; anybody may have made up the rest.

import { forwardedHopsMax } from "../limits.ts";
import { type Cidr, isWithinCidrs, plainAddress } from "./network-address.ts";

export type CallerTrace = {
  /** The other end of the connection; undefined when it is gone. */
  peer: string | undefined;
  /** X-Forwarded-For as it came; several of them joined by commas, in their order. */
  forwarded: string | undefined;
};

/** The first from the right that is no trusted proxy; if all of them are, the one furthest away. */
export function callerAddressOf(
  { peer, forwarded }: CallerTrace,
  trusted: readonly Cidr[],
): string | null {
  if (peer === undefined) return null;
  let nearest = plainAddress(peer) ?? peer;
  const hops = (forwarded ?? "").split(",").slice(-forwardedHopsMax).reverse();
  for (const hop of hops) {
    if (!isWithinCidrs(nearest, trusted)) break;
    const next = plainAddress(withoutPort(hop.trim()));
    // A word such as "unknown" names nobody: then the last trustworthy address counts.
    if (next === null) break;
    nearest = next;
  }
  return nearest;
}

/** Some proxies add the port: 203.0.113.7:50112, [2001:db8::7]:50112. */
function withoutPort(hop: string): string {
  const [, v4, v6] = /^(?:([0-9.]+):[0-9]+|\[([^\]]*)\](?::[0-9]+)?)$/.exec(hop) ?? [];
  return v4 ?? v6 ?? hop;
}
