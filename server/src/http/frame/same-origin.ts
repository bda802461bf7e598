// Checks that a call comes from our own page, by two headers that browsers set and scripts can't. Each alone has been
// bypassed before.

import type { Call } from "./call.ts";

/** For calls that only our own pages make. */
export function isFromOurPage(header: Call["header"], publicUrl: string): boolean {
  return header("origin") === originOf(publicUrl) && header("sec-fetch-site") === "same-origin";
}

/** For calls that programs make, too: these say nothing of where they come from. */
export function isFromAnotherPage(header: Call["header"], publicUrl: string): boolean {
  const origin = header("origin");
  return origin !== null && origin !== originOf(publicUrl);
}

export function originOf(publicUrl: string): string {
  return new URL(publicUrl).origin;
}
